import { describe, expect, it } from "vitest";
import { apart, cellOf, quantile, RepeatMatrix } from "../../src/timeline/charts/repeat_matrix.ts";
import { ByRows } from "../../src/timeline/data/by_rows.ts";
import { KeyNames } from "../../src/timeline/data/key_names.ts";
import { Names } from "../../src/timeline/data/names.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { random, type SliceSpec, timeline } from "./fixture.ts";

function opened(specs: readonly SliceSpec[], more: Parameters<typeof timeline>[1] = {}) {
  const slices = new Slices(timeline(specs, more));
  const called = new KeyNames(slices, new Names(slices, null), null);
  return { slices, called };
}

/** a calls b and c, b calls c, over and over; every name ten times. */
const NESTED: SliceSpec[] = Array.from({ length: 10 }, (_, i) => [
  { name: "a", start: 100 * i, duration: 90 },
  { name: "b", start: 100 * i + 10, duration: 40 + i },
  { name: "c", start: 100 * i + 20, duration: 10 },
  { name: "c", start: 100 * i + 60, duration: 20 },
]).flat();
const SELF = NESTED.map(({ name, duration }) => {
  if (name === "a") return 90;
  return name === "b" ? duration - 10 : duration;
});
for (let i = 0; i < 10; i++) SELF[4 * i] = 90 - (40 + i) - 20;

describe("ByRows", () => {
  it("sums self time per name", () => {
    const { slices, called } = opened(NESTED, { self: SELF });
    const rows = new ByRows("name", slices, called, null);
    const expected = new Map<string, number>();
    NESTED.forEach(({ name }, i) => {
      expected.set(name!, (expected.get(name!) ?? 0) + SELF[i]!);
    });
    expect(new Map(rows.rows.map(({ label, ns }) => [label, ns]))).toEqual(expected);
    expect(rows.total).toBe(900);
    expect(rows.overlap).toBe(false);
  });

  it("counts only the part of a slice inside the range", () => {
    const { slices, called } = opened(NESTED, { self: SELF });
    const rows = new ByRows("name", slices, called, [15, 65]);
    const told = Object.fromEntries(rows.rows.map(({ label, ns, count }) => [label, [ns, count]]));
    // b runs from 10 to 50 with c from 20 to 30 inside; the second c from 60 on.
    expect(told).toEqual({ a: [10, 1], b: [25, 1], c: [15, 2] });
    expect(rows.total).toBe(50);
  });

  it("splits the self time of a callee among its callers", () => {
    const { slices, called } = opened(NESTED, { self: SELF });
    const rows = new ByRows("callers", slices, called, null);
    const c = rows.rows.find(({ label }) => label === "c")!;
    const around = c.inside!();
    expect(around.map(({ label, ns }) => [label, ns])).toEqual([
      ["a", 200],
      ["b", 100],
    ]);
    expect(around[1]!.inside!().map(({ label, ns }) => [label, ns])).toEqual([["a", 100]]);
    expect(around[0]!.inside).toBeNull();
  });

  it("takes percentiles of whole durations in the range", () => {
    const { slices, called } = opened(NESTED, { self: SELF });
    const rows = new ByRows("node", slices, called, [100, 500]);
    const b = rows.rows.find(({ label }) => label === "b")!;
    const inside = Float64Array.of(41, 42, 43, 44);
    const { p50, p90, mean } = rows.spread(b);
    expect([p50, mean]).toEqual([42.5, 42.5]);
    expect(p90).toBeCloseTo(quantile(inside, 0.9), 9);
  });
});

describe("RepeatMatrix", () => {
  const next = random(3);
  const repeats = Array.from({ length: 4 }, (_, node) =>
    Array.from({ length: 50 }, () => 1000 * (node + 1) + next(100)),
  );
  const specs = repeats.map((_, node) => ({
    node,
    start: node * 5000,
    duration: 1000 * (node + 1),
  }));
  const { slices, called } = opened(specs, { repeats });
  const matrix = new RepeatMatrix(slices, called.operators);

  it("sums up every repeat over the rows", () => {
    expect(matrix.aligned).toBe(true);
    expect([...matrix.totals]).toEqual(
      repeats[0]!.map((_, i) => repeats.reduce((sum, row) => sum + row[i]!, 0)),
    );
    expect([...matrix.order("time")]).toEqual([3, 2, 1, 0]);
    expect([...matrix.order("order")]).toEqual([0, 1, 2, 3]);
  });

  it("gives minimum, maximum and mean of cells with several repeats", () => {
    const row = matrix.rows[1]!;
    for (const [first, last] of [
      [0, 7],
      [43, 99],
      [5, 6],
    ] as const) {
      const part = repeats[1]!.slice(first, last);
      const cell = cellOf(row, first, last);
      expect([cell.min, cell.max, cell.count]).toEqual([
        Math.min(...part),
        Math.max(...part),
        part.length,
      ]);
      expect(cell.mean).toBeCloseTo(part.reduce((a, b) => a + b) / part.length, 6);
      const far = part.map((ns) => ns / row.median - 1);
      const most = far.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
      expect(apart(cell, row.median)).toBeCloseTo(most, 12);
    }
  });

  it("leaves out NaN", () => {
    const row = { ...matrix.rows[0]!, values: Float64Array.of(Number.NaN, 5, Infinity) };
    expect(cellOf(row, 0, 3)).toEqual({ first: 0, last: 3, min: 5, max: 5, mean: 5, count: 1 });
    expect(cellOf(row, 0, 1).count).toBe(0);
  });

  it("takes the slices of a trace by name, in the order of their starts", () => {
    const trace = opened(NESTED.toReversed(), {
      self: SELF.toReversed(),
      words: { repeats: false },
    });
    const found = new RepeatMatrix(trace.slices, trace.called.operators);
    expect(found.ofSlices).toBe(true);
    expect(found.totals.length).toBe(0);
    const b = found.rows.find(({ key }) => trace.called.label(key) === "b")!;
    expect([...b.values]).toEqual([40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
  });
});
