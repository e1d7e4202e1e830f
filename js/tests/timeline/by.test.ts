import { describe, expect, it } from "vitest";
import { StringColumn } from "../../src/shared/client/columns.ts";
import { apart, cellOf, RepeatMatrix } from "../../src/timeline/charts/repeat_matrix.ts";
import { KeyNames } from "../../src/timeline/data/key_names.ts";
import { Names } from "../../src/timeline/data/names.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { type SumRow, SumTable } from "../../src/timeline/data/sum_table.ts";
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

/** Rows as Python answers them: label, row around, key and self time. */
function answer(rows: readonly [label: string, around: number, key: number, ns: number][]) {
  const column = (of: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, of);
  const zeros = () => new Float64Array(rows.length);
  const strings = new StringColumn(
    Int32Array.from(rows.keys()),
    rows.map(([label]) => label),
  );
  return {
    around: Int32Array.from(rows, ([, around]) => around),
    key: Int32Array.from(rows, ([, , key]) => key),
    label: strings,
    kind: new StringColumn(new Int32Array(rows.length), [""]),
    work: new Uint8Array(rows.length).fill(1),
    ns: column(([, , , ns]) => ns),
    count: new Int32Array(rows.length).fill(1),
    slice: new Int32Array(rows.length).fill(-1),
    ...{ mean: zeros(), p50: zeros(), p90: zeros(), low: zeros(), high: zeros() },
    ...{ noisy: new Uint8Array(rows.length), repeats: new Int32Array(rows.length) },
    ...{ nodeStart: new Int32Array(rows.length + 1), nodes: new Int32Array(0) },
    info: { total: 900, idle: 0, alone: 0, overlap: false, rows: rows.length },
  };
}

const told = (rows: readonly SumRow[]) => rows.map(({ label, ns }) => [label, ns]);

describe("SumTable", () => {
  it("has rows in the rows around them, in the order of the answer", () => {
    const { called } = opened(NESTED, { self: SELF });
    const reply = answer([
      ["outer", -1, -1, 5],
      ["other", -1, -1, 4],
      ["inner", 0, -1, 3],
      ["innermost", 2, 0, 2],
    ]);
    const [outer, other] = new SumTable(reply, called, null).rows;
    expect([outer!.ns, other!.inside]).toEqual([5, null]);
    const inner = outer!.inside!();
    expect(told(inner)).toEqual([["inner", 3]]);
    expect(told(inner[0]!.inside!())).toEqual([["innermost", 2]]);
  });

  it("splits the self time of a callee among its callers", () => {
    const { slices, called } = opened(NESTED, { self: SELF });
    const every = Array.from({ length: slices.count }, (_, slice) => slice);
    const key = (name: string) =>
      called.operators.of(every.find((slice) => slices.nameOf(slice) === name)!);
    const [a, b, c] = ["a", "b", "c"].map(key) as [number, number, number];
    const merged = {
      parent: Int32Array.of(-1, 0, 0, 1),
      key: Int32Array.of(a, b, c, c),
      self: Float64Array.of(255, 345, 200, 100),
      count: Int32Array.of(10, 10, 10, 10),
    };
    const table = new SumTable(answer([["c", -1, c, 300]]), called, merged);
    const around = table.rows[0]!.inside!();
    expect(told(around)).toEqual([
      ["a", 200],
      ["b", 100],
    ]);
    expect(told(around[1]!.inside!())).toEqual([["a", 100]]);
    expect(around[0]!.inside).toBeNull();
  });
});

describe("RepeatMatrix", () => {
  const next = random(3);
  const repeats = Array.from({ length: 4 }, (_, node) =>
    Array.from({ length: 50 }, () => 1000 * (node + 1) + next(100)),
  );
  const column = (values: readonly number[]) => Float64Array.from(values);
  const texts = new StringColumn(new Int32Array(4), ["conv2d"]);
  const matrix = new RepeatMatrix({
    node: Int32Array.of(0, 1, 2, 3),
    ...{ names: texts, labels: texts, kinds: texts, noisy: Uint8Array.of(0, 1, 0, 0) },
    offsets: Int32Array.of(0, 50, 100, 150, 200),
    ns: column(repeats.flat()),
    ...{ start: column([0, 1, 2, 3]), p10: column([1, 2, 3, 4]), p90: column([1, 2, 3, 4]) },
    p50: column([1000, 2000, 3000, 4000]),
    totals: column(repeats[0]!),
    info: {
      ...{ rows: 4, repeats: 50, ofSlices: false, warm: 2, why: "", folded: 10_000 },
      ...{ said: "", foldedSaid: [] },
    },
  });

  it("has the rows of the answer, and orders them", () => {
    expect(matrix.rows.map(({ values }) => [...values])).toEqual(repeats);
    expect(matrix.rows.map(({ noisy }) => noisy)).toEqual([false, true, false, false]);
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
});
