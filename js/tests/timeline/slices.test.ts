import { describe, expect, it } from "vitest";
import { RowKind } from "../../src/shared/client/timeline_columns.ts";
import { lowerBound, upperBound } from "../../src/shared/many.ts";
import { MarkedSlices } from "../../src/timeline/data/marked.ts";
import { MaxPyramid } from "../../src/timeline/data/pyramid.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { random, randomSlices, type SliceSpec, timeline } from "./fixture.ts";

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed + 1);

function overlapOf({ start, duration }: SliceSpec, from: number, to: number): number {
  return Math.max(0, Math.min(start + duration, to) - Math.max(start, from));
}

/** Time of [from, to) that at least one slice covers, counted in unit steps (all numbers are whole). */
function covered(slices: readonly SliceSpec[], from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at++) {
    if (slices.some(({ start, duration }) => start <= at && at + 1 <= start + duration)) sum++;
  }
  return sum;
}

describe("sorted search", () => {
  it("finds the first value not below, and the first above", () => {
    const values = Float64Array.of(1, 3, 3, 7);
    expect([0, 1, 2, 3, 7, 8].map((value) => lowerBound(values, value))).toEqual([
      0, 0, 1, 1, 3, 4,
    ]);
    expect([0, 1, 2, 3, 7, 8].map((value) => upperBound(values, value))).toEqual([
      0, 1, 1, 3, 4, 4,
    ]);
  });
});

describe("MaxPyramid", () => {
  it.each(SEEDS)("finds the first maximum of any range (seed %i)", (seed) => {
    const next = random(seed);
    const values = Float64Array.from({ length: 1 + next(700) }, () => next(30));
    const pyramid = new MaxPyramid(values);
    for (let round = 0; round < 60; round++) {
      const from = next(values.length);
      const to = from + next(values.length - from + 1);
      const part = values.subarray(from, to);
      expect(pyramid.argmax(from, to)).toBe(
        part.length ? from + part.indexOf(Math.max(...part)) : -1,
      );
    }
  });
});

/** Properly nested: each slice inside a random one of those around it. */
function nestedSlices(seed: number, count: number): SliceSpec[] {
  const next = random(seed);
  const found: SliceSpec[] = [];
  const inside = (from: number, to: number, depth: number) => {
    for (let at = from + next(20); at < to && found.length < count; at += next(40)) {
      const duration = Math.min(to - at, 1 + next(depth ? 60 : 400));
      found.push({ node: found.length % 5, start: at, duration });
      if (depth < 4 && next(2)) inside(at, at + duration, depth + 1);
      at += duration;
    }
  };
  inside(0, 4000, 0);
  return found;
}

/** The specification of a slice. */
const specOf = (slices: Slices, specs: readonly SliceSpec[]) => (slice: number) =>
  specs[slices.sourceOf(slice)]!;

describe("Slices", () => {
  it.each(SEEDS)("places every slice once and without overlap (seed %i)", (seed) => {
    const specs = randomSlices(seed, 120, true);
    const slices = new Slices(timeline(specs));
    const all = Array.from({ length: slices.count }, (_, slice) => slices.sourceOf(slice));
    expect(all.toSorted((a, b) => a - b)).toEqual(specs.map((_, i) => i));
    expect(all.map((source) => slices.bySource(source))).toEqual([...all.keys()]);
    for (const row of slices.rows) {
      for (let slice = row.first; slice < row.last; slice++) {
        expect(slices.rowOf(slice)).toBe(row.number);
        expect(slices.startOf(slice)).toBe(specs[slices.sourceOf(slice)]!.start);
        expect(slices.durationOf(slice) === 0).toBe(row.kind === RowKind.INSTANT);
        if (slice === row.first) continue;
        expect(slices.startOf(slice)).toBeGreaterThanOrEqual(slices.endOf(slice - 1) - 1);
      }
    }
  });

  it.each(SEEDS)("knows busy and idle times of overlapping slices (seed %i)", (seed) => {
    const next = random(seed);
    const specs = randomSlices(seed, 40, true).map((each) => ({
      ...each,
      duration: each.duration * 2,
      start: each.start * 2,
    }));
    const slices = new Slices(timeline(specs));
    const [track] = slices.tracks;
    for (let round = 0; round < 20; round++) {
      const from = next(slices.end);
      const to = from + 1 + next(slices.end - from);
      const busy = covered(specs, from, to);
      expect(track!.busy(from, to)).toBe(busy);
      let idle = 0;
      track!.eachIdle(from, to, (start, end) => {
        expect(covered(specs, start, end)).toBe(0);
        idle += end - start;
      });
      expect(idle).toBe(Math.max(0, to - Math.max(from, slices.start)) - busy);
      if (from < slices.start) continue;
      const gap = track!.idleAt(from);
      if (covered(specs, from, from + 1)) expect(gap).toBeNull();
      else expect(covered(specs, ...gap!)).toBe(0);
    }
  });

  it.each(SEEDS)("matches brute force for each row (seed %i)", (seed) => {
    const next = random(seed);
    const specs = seed % 2 ? nestedSlices(seed, 400) : randomSlices(seed, 200, true);
    const slices = new Slices(timeline(specs));
    const spec = specOf(slices, specs);
    for (const row of slices.rows.filter(({ kind }) => kind !== RowKind.INSTANT)) {
      const own = Array.from({ length: row.length }, (_, i) => row.first + i);
      for (let round = 0; round < 20; round++) {
        const from = next(slices.end) - 5;
        const to = from + 1 + next([3, 40, 4000][next(3)]!);
        const touching = own.filter((slice) => overlapOf(spec(slice), from, to) > 0);
        const [first, last] = row.range(from, to);
        expect(own.filter((slice) => slice >= first && slice < last)).toEqual(touching);
        const shares = touching.map((slice) => overlapOf(spec(slice), from, to));
        expect(row.busy(from, to)).toBe(shares.reduce((sum, share) => sum + share, 0));
        expect(row.dominant(from, to)).toBe(touching[shares.indexOf(Math.max(...shares))] ?? -1);
      }
    }
  });

  it.each(SEEDS)("knows the innermost slice around each (seed %i)", (seed) => {
    const specs = nestedSlices(seed, 300);
    const slices = new Slices(timeline(specs));
    const spec = specOf(slices, specs);
    const all = Array.from({ length: slices.count }, (_, slice) => slice);
    for (const slice of all) {
      const { start, duration } = spec(slice);
      const depth = slices.rows[slices.rowOf(slice)]!.depth;
      const around = all.filter((each) => {
        const level = slices.rows[slices.rowOf(each)]!.depth;
        return level < depth && overlapOf(spec(each), start, start + duration) === duration;
      });
      expect(around.length).toBe(depth);
      const parent = around.find((each) => slices.rows[slices.rowOf(each)]!.depth === depth - 1);
      expect(slices.parentOf(slice)).toBe(parent ?? -1);
    }
  });

  it("accepts slices in any order and puts callers before callees", () => {
    const specs = [
      { node: 0, start: 60, duration: 10 },
      { node: 1, start: 10, duration: 20 },
      { node: 2, start: 10, duration: 90 },
    ];
    const slices = new Slices(timeline(specs));
    expect([0, 1, 2].map((slice) => slices.sourceOf(slice))).toEqual([2, 1, 0]);
    expect(slices.rows.map(({ first, last }) => [first, last])).toEqual([
      [0, 1],
      [1, 3],
    ]);
  });

  it("lists a node's slices by occurrence", () => {
    const specs = [3, 1, 3, 0, 3].map((node, i) => ({ node, start: 100 - i * 10, duration: 5 }));
    const slices = new Slices(timeline(specs));
    expect(Array.from(slices.of(3), (slice) => slices.sourceOf(slice))).toEqual([0, 2, 4]);
    expect(Array.from(slices.of(3), (slice) => slices.occurrenceOf(slice))).toEqual([0, 1, 2]);
    expect([...slices.of(2)]).toEqual([]);
    expect([...slices.of(9)]).toEqual([]);
  });

  it("knows rows and tracks before the slices are here", () => {
    const { slices: data, ...columns } = timeline(nestedSlices(3, 200));
    const slices = new Slices({ ...columns, slices: null });
    expect([slices.complete, slices.count]).toEqual([false, data!.start.length]);
    expect(slices.rows[0]!.range(0, 4000)).toEqual([0, 0]);
    expect([slices.rows[0]!.busy(0, 4000), slices.startOf(3)]).toEqual([0, Number.NaN]);
    expect([...slices.of(0)]).toEqual([]);
    slices.fill(data!);
    expect(slices.complete).toBe(true);
    expect(slices.rows[0]!.busy(0, 4000)).toBeGreaterThan(0);
    expect(slices.of(0).length).toBeGreaterThan(1);
  });
});

describe("Marked", () => {
  it.each(SEEDS)("finds the next of the marked slices (seed %i)", (seed) => {
    const next = random(seed);
    const count = 1 + next([20, 3000, 70_000][seed % 3]!);
    const some = Array.from({ length: next(60) }, () => next(count));
    const marked = new MarkedSlices(count, some);
    expect(marked.count).toBe(new Set(some).size);
    for (let round = 0; round < 200; round++) {
      const from = next(count + 1);
      const to = from + next(count + 2 - from);
      const inside = some.filter((slice) => slice >= from && slice < to);
      expect(marked.next(from, to)).toBe(inside.length ? Math.min(...inside) : -1);
      expect(marked.previous(from, to)).toBe(inside.length ? Math.max(...inside) : -1);
      expect(marked.countIn(from, to)).toBe(new Set(inside).size);
      expect(marked.has(from)).toBe(some.includes(from));
    }
  });
});

describe("Row.fill", () => {
  it.each(SEEDS)("fills all pixel columns correctly (seed %i)", (seed) => {
    const next = random(seed);
    const specs = randomSlices(seed, 30 + next(600)).filter(({ duration }) => duration > 0);
    const slices = new Slices(timeline(specs));
    const spec = specOf(slices, specs);
    for (let round = 0; round < 8; round++) {
      const width = 1 + next(90);
      const from = next(slices.end) - 20;
      const step = [0.25, 1, 3, 17, (slices.end - from) / width][next(5)]!;
      const columns = { slice: new Int32Array(width).fill(7), share: new Float32Array(width) };
      const middle = next(width + 1);
      slices.rows[0]!.fill(columns, from, step, 0, middle);
      slices.rows[0]!.fill(columns, from, step, middle, width);
      let sum = 0;
      for (let column = 0; column < width; column++) {
        const [t0, t1] = [from + column * step, from + (column + 1) * step];
        const truth = specs.map((each) => overlapOf(each, t0, t1));
        const busy = truth.reduce((total, each) => total + each, 0);
        expect(columns.share[column]!).toBeCloseTo(busy / step, 5);
        sum += columns.share[column]! * step;
        if (busy < 1e-6) continue;
        const most = Math.max(...truth);
        expect(overlapOf(spec(columns.slice[column]!), t0, t1)).toBeCloseTo(most, 6);
      }
      const busy = slices.rows[0]!.busy(from, from + width * step);
      expect(Math.abs(sum - busy)).toBeLessThan(1e-5 * (busy + 1));
    }
  });
});
