import { describe, expect, it } from "vitest";
import { lowerBound, upperBound } from "../src/shared/sorted.ts";
import { FirstFit } from "../src/timeline/first_fit.ts";
import { MaxPyramid } from "../src/timeline/pyramid.ts";
import { Slices } from "../src/timeline/slices.ts";
import { strip } from "../src/timeline/strip.ts";
import { random, randomSlices, type SliceSpec, timeline } from "./timeline_fixture.ts";

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

describe("FirstFit", () => {
  it.each(SEEDS)("takes the first free lane (seed %i)", (seed) => {
    const next = random(seed);
    const fit = new FirstFit();
    const ends: number[] = [];
    let start = 0;
    for (let i = 0; i < 200; i++) {
      start += next(4);
      const end = start + 1 + next(40);
      const free = ends.findIndex((each) => each <= start);
      const expected = free < 0 ? ends.length : free;
      ends[expected] = end;
      expect(fit.take(start, end)).toBe(expected);
    }
  });
});

describe("Slices", () => {
  it.each(SEEDS)("draws every usable slice once, in lanes without overlap (seed %i)", (seed) => {
    const specs = randomSlices(seed, 120, true);
    const slices = new Slices(timeline(specs));
    const [track] = slices.tracks;
    const drawn = [...track!.lanes.flatMap((lane) => [...lane.slice]), ...track!.instants.slice];
    expect(drawn.sort((a, b) => a - b)).toEqual(specs.map((_, i) => i));
    for (const lane of track!.lanes) {
      for (let i = 1; i < lane.length; i++) {
        expect(lane.start[i]!).toBeGreaterThanOrEqual(lane.end[i - 1]!);
        expect(lane.start[i]! - specs[lane.slice[i]!]!.start).toBeLessThanOrEqual(1);
      }
    }
    expect([...track!.instants.slice].every((slice) => specs[slice]!.duration === 0)).toBe(true);
  });

  it.each(SEEDS)("knows when a track is busy, however slices overlap (seed %i)", (seed) => {
    const next = random(seed);
    const specs = randomSlices(seed, 40, true).map((each) => ({
      ...each,
      duration: each.duration * 2,
    }));
    const spread = specs.map((each) => ({ ...each, start: each.start * 2 }));
    const [track] = new Slices(timeline(spread)).tracks;
    const end = Math.max(...spread.map(({ start, duration }) => start + duration));
    for (let round = 0; round < 20; round++) {
      const from = next(end);
      const to = from + next(end - from + 1);
      expect(track!.busy.busy(from, to)).toBe(covered(spread, from, to));
    }
  });

  it("sorts slices that come in any order, the caller before its callees", () => {
    const specs = [
      { node: 0, start: 60, duration: 10 },
      { node: 1, start: 10, duration: 20 },
      { node: 2, start: 10, duration: 90 },
    ];
    const [track] = new Slices(timeline(specs)).tracks;
    expect(track!.lanes.map((lane) => [...lane.slice])).toEqual([[2], [1, 0]]);
  });

  it("takes slices that overlap by rounding for neighbours", () => {
    const specs = [
      { node: 0, start: 0, duration: 100.4 },
      { node: 1, start: 100, duration: 50 },
    ];
    const [track] = new Slices(timeline(specs)).tracks;
    expect(track!.lanes.length).toBe(1);
    expect(track!.busy.length).toBe(1);
    expect(track!.lanes[0]!.busy(0, 1000)).toBeCloseTo(150, 9);
  });

  it("counts what cannot be drawn", () => {
    const specs = [
      { node: 0, start: Number.NaN, duration: 1 },
      { node: 0, start: 0, duration: -1 },
      { node: 0, start: 0, duration: Infinity },
      { node: 0, start: 5, duration: 1 },
    ];
    const slices = new Slices(timeline(specs));
    expect(slices.unusable).toBe(3);
    expect([slices.start, slices.end]).toEqual([5, 6]);
    expect(slices.place(0)).toBeNull();
  });

  it("lists a node's slices by occurrence", () => {
    const specs = [3, 1, 3, 0, 3].map((node, i) => ({ node, start: i * 10, duration: 5 }));
    const slices = new Slices(timeline(specs));
    expect([...slices.of(3)]).toEqual([0, 2, 4]);
    expect([...slices.of(2)]).toEqual([]);
    expect([...slices.of(9)]).toEqual([]);
  });
});

describe("strip", () => {
  it.each(SEEDS)("shows in every pixel column what is there (seed %i)", (seed) => {
    const next = random(seed);
    const specs = randomSlices(seed, 30 + next(300)).filter(({ duration }) => duration > 0);
    const lane = new Slices(timeline(specs)).tracks[0]!.lanes[0]!;
    const end = Math.max(...specs.map(({ start, duration }) => start + duration));
    for (let round = 0; round < 8; round++) {
      const width = 1 + next(90);
      const from = next(end) - 20;
      const step = [0.25, 1, 3, 17, (end - from) / width][next(5)]!;
      const found = strip(lane, from, step, width);
      const shares = new Float64Array(width);
      let right = 0;
      for (let run = 0; run < found.count; run++) {
        expect(found.left[run]!).toBeGreaterThanOrEqual(right);
        right = found.right[run]!;
        for (let column = found.left[run]!; column < right; column++) {
          const [t0, t1] = [from + column * step, from + (column + 1) * step];
          shares[column] = found.share[run]!;
          const most = Math.max(...specs.map((each) => overlapOf(each, t0, t1)));
          const shown = specs[lane.slice[found.position[run]!]!]!;
          expect(overlapOf(shown, t0, t1)).toBeCloseTo(most, 6);
        }
      }
      const truth = Array.from(shares, (_, column) => {
        const [t0, t1] = [from + column * step, from + (column + 1) * step];
        return specs.reduce((sum, each) => sum + overlapOf(each, t0, t1), 0) / step;
      });
      truth.forEach((share, column) => {
        expect(shares[column]!).toBeCloseTo(share, 5);
      });
    }
  });

  it("needs work for the pixels, not for the slices", () => {
    const count = 300_000;
    const specs = timeline([]);
    specs.nodeNs = new Float64Array(1);
    specs.sliceNode = new Int32Array(count);
    specs.sliceTrack = new Int32Array(count);
    specs.sliceOccurrence = Int32Array.from({ length: count }, (_, i) => i);
    specs.sliceStart = Float64Array.from({ length: count }, (_, i) => i * 10);
    specs.sliceDuration = new Float64Array(count).fill(6);
    let reads = 0;
    const lane = new Slices(specs).tracks[0]!.lanes[0]!;
    const counting = new Proxy(lane.end, {
      get: (target, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, target);
      },
    });
    Object.assign(lane, { end: counting });
    const found = strip(lane, 0, (count * 10) / 500, 500);
    expect(found.count).toBe(500);
    expect(reads).toBeLessThan(500 * 60);
    expect(
      found.share.every((share, run) => run >= found.count || Math.abs(share - 0.6) < 0.01),
    ).toBe(true);
  });
});
