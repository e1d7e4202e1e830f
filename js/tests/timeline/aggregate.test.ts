import { describe, expect, it } from "vitest";
import { RowKind } from "../../src/shared/client/timeline_columns.ts";
import { areaPreview } from "../../src/timeline/areas.ts";
import { besides, gapStanding, lengthOf, nextGap } from "../../src/timeline/data/neighbors.ts";
import { type Row, Track } from "../../src/timeline/data/row.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { random, randomSlices, type SliceSpec, timeline } from "./fixture.ts";

/** Calls within calls: each span is cut into some of its own, three levels deep; their own times go along. */
function nested(seed: number, count: number): { specs: SliceSpec[]; self: number[] } {
  const next = random(seed);
  const specs: SliceSpec[] = [];
  const self: number[] = [];
  const span = (start: number, length: number, depth: number) => {
    const at = specs.push({ name: `f${next(9)}`, start, duration: length }) - 1;
    self[at] = length;
    for (let from = start + next(3); depth < 3 && from + 4 < start + length; ) {
      const inner = Math.min(2 + next(length), start + length - from);
      if (next(4)) {
        span(from, inner, depth + 1);
        self[at] -= inner;
      }
      from += inner + next(5);
    }
  };
  for (let i = 0, time = 0; i < count; i++) {
    const length = 5 + next(60);
    span(time, length, 0);
    time += length + next(20);
  }
  return { specs, self };
}

function slicesOf(seed: number, kind: string): Slices {
  if (kind === "nested") {
    const { specs, self } = nested(seed, 40);
    return new Slices(timeline(specs, { self }));
  }
  const one = randomSlices(seed, 300);
  const other = randomSlices(seed + 1, 200).map((each) => ({ ...each, track: 1 }));
  const specs = [...one, ...other];
  return new Slices(timeline(specs, { tracks: ["cpu", "gpu"] }));
}

const CASES = [1, 2, 3].flatMap((seed) => [["flat", seed] as const, ["nested", seed] as const]);

describe("a range under the hand", () => {
  it.each(CASES)("matches a count per nanosecond for %s slices, seed %i", (kind, seed) => {
    const slices = slicesOf(seed, kind);
    const next = random(seed + 100);
    const { start, end } = slices;
    for (let i = 0; i < 6; i++) {
      const from = start + next(Math.floor((end - start) / 2));
      const range = [from, from + 1 + next(400)] as const;
      const every = Array.from({ length: slices.count }, (_, slice) => slice);
      const touched = every.filter((slice) => {
        const [a, b] = [slices.startOf(slice), slices.endOf(slice)];
        return a === b ? a >= range[0] && a <= range[1] : a < range[1] && b > range[0];
      });
      const found = areaPreview(slices, range, slices.rows);
      expect(found.count).toBe(touched.length);
      expect(found.instants).toBe(touched.filter((slice) => !slices.durationOf(slice)).length);
      for (const { track, busy, idle } of found.tracks) {
        const idles = idleRuns(slices, track, range);
        expect([busy, idle]).toEqual([range[1] - range[0] - sum(idles), sum(idles)]);
      }
    }
  });

  it("counts only the rows it is given", () => {
    const slices = slicesOf(5, "flat");
    const range = [slices.start, slices.end] as const;
    const [one, other] = [0, 1].map((track) => {
      const rows = slices.rows.filter((row) => row.track === track);
      return areaPreview(slices, range, rows);
    });
    expect(one!.count + other!.count).toBe(areaPreview(slices, range, slices.rows).count);
    expect(one!.tracks.map(({ track }) => track)).toEqual([0]);
  });
});

describe("gaps", () => {
  it.each([1, 2, 3])("are listed, stepped through and ranked, seed %i", (seed) => {
    const slices = slicesOf(seed, "flat");
    const all = slices.tracks.flatMap(({ number }) => {
      const found: { track: number; from: number; to: number }[] = [];
      const busy = slices.rows.filter((row) => row.track === number);
      let since = slices.start;
      for (const row of busy.filter(({ kind }) => kind !== 2)) {
        for (let at = row.first; at < row.last; at++) {
          if (slices.startOf(at) > since)
            found.push({ track: number, from: since, to: slices.startOf(at) });
          since = slices.endOf(at);
        }
      }
      if (slices.end > since) found.push({ track: number, from: since, to: slices.end });
      return found;
    });
    const asked = all[Math.floor(all.length / 3)]!;
    const standing = gapStanding(slices, 5, asked);
    expect(standing.count).toBe(all.length);
    expect(standing.sum).toBe(sum(all.map(lengthOf)));
    expect(standing.rank).toBe(1 + all.filter((gap) => lengthOf(gap) > lengthOf(asked)).length);
    const lengths = all.map(lengthOf).sort((a, b) => b - a);
    expect(standing.longest.map(lengthOf)).toEqual(lengths.slice(0, 5));
    expect(slices.tracks[asked.track]!.idleAt((asked.from + asked.to) / 2)).toEqual([
      asked.from,
      asked.to,
    ]);
    const [before, after] = besides(slices, asked);
    expect(slices.endOf(before)).toBe(asked.from);
    expect(slices.startOf(after)).toBe(asked.to);
    const own = all.filter(({ track, from, to }) => track === 0 && to - from >= 10);
    let at: (typeof own)[number] | null = nextGap(slices, 0, -1, 1, 10);
    const seen = [];
    for (; at; at = nextGap(slices, 0, at.from, 1, 10)) seen.push(at);
    expect(seen).toEqual(own);
    for (
      at = nextGap(slices, 0, slices.end, -1, 10);
      at;
      at = nextGap(slices, 0, at.from, -1, 10)
    ) {
      expect(seen.pop()).toEqual(at);
    }
    expect(seen).toEqual([]);
  });
});

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Lengths of the runs of nanoseconds in which nothing runs. */
function idleRuns(slices: Slices, track: number, [from, to]: readonly [number, number]): number[] {
  const runs: number[] = [];
  let length = 0;
  for (let ns = from; ns <= to; ns++) {
    const runsNow = slices.tracks[track]!.rows.some((row) => {
      for (let at = row.first; at < row.last; at++) {
        if (slices.startOf(at) <= ns && ns < slices.endOf(at)) return true;
      }
      return false;
    });
    if (ns < to && !runsNow) length++;
    else if (length) {
      runs.push(length);
      length = 0;
    }
  }
  return runs;
}

describe("busy time with overlaps", () => {
  it("is that of the time range that is loaded last", () => {
    let start = Float64Array.of(0, 5);
    const row = (at: number) => ({ kind: RowKind.OVERLAP, first: at, last: at + 1, length: 1 });
    const track = new Track(0, "cpu", [row(0), row(1)] as unknown as Row[], {
      columns: timeline([]),
      get times() {
        return { start, duration: [10, 10] };
      },
      startOf: (slice) => start[slice]!,
      endOf: (slice) => start[slice]! + 10,
    });
    expect([track.busy(0, 100), track.busy(100, 200)]).toEqual([15, 0]);
    start = Float64Array.of(100, 105);
    expect([track.busy(0, 100), track.busy(100, 200)]).toEqual([0, 15]);
  });
});

describe("idle time", () => {
  const specs = [
    { node: 0, start: 0, duration: 10 },
    { node: 1, start: 90, duration: 10 },
    { node: 0, start: 0, duration: 10, track: 1 },
    { node: 1, start: 25, duration: 10, track: 1 },
  ];
  const made = (synthetic: boolean) =>
    new Slices(timeline(specs, { tracks: ["A", "B"], trackRun: [0, 1], synthetic }));

  it("ends with the run, even for the shorter of two", () => {
    const slices = made(false);
    const tracks = (range: readonly [number, number]) =>
      areaPreview(slices, range, slices.rows).tracks;
    expect(tracks([0, 100])).toEqual([
      { track: 0, busy: 20, idle: 80 },
      { track: 1, busy: 20, idle: 15 },
    ]);
    expect(tracks([40, 80])[1]).toEqual({ track: 1, busy: 0, idle: 0 });
    expect(slices.tracks[1]!.idleAt(20)).toEqual([10, 25]);
    expect([slices.tracks[1]!.idleAt(50), slices.tracks[0]!.idleAt(50)?.[1]]).toEqual([null, 90]);
    expect(gapStanding(slices, 5).sum).toBe(95);
    expect(nextGap(slices, 1, 30, 1, 0)).toBeNull();
    expect(nextGap(slices, 0, 50, -1, 0)).toEqual({ track: 0, from: 10, to: 90 });
  });

  it("is unknown in a synthetic timeline", () => {
    const slices = made(true);
    expect(areaPreview(slices, [0, 100], slices.rows).tracks).toEqual([]);
    expect([slices.tracks[0]!.idleAt(50), nextGap(slices, 0, 0, 1, 0)]).toEqual([null, null]);
    expect(gapStanding(slices, 5)).toEqual({ count: 0, sum: 0, rank: 0, longest: [] });
  });
});
