import { RowKind } from "../../shared/client/timeline_columns.ts";
import { percentiles, percentiling, type Stretches } from "./quantiles.ts";
import type { Row } from "./row.ts";
import type { Slices } from "./slices.ts";

export type TimeRange = readonly [from: number, to: number];

/** Slices between two pauses. */
const CHUNK = 1 << 16;

/** Sums of a range of time over some rows. */
export interface Area {
  range: TimeRange;
  /** Number of slices that touch the range, and of those without duration. */
  count: number;
  instants: number;
  /** Time in the range; nested slices count once. */
  sum: number;
  /** Durations of the slices inside the range; with very many, all but count and mean are NaN until counted. */
  whole: { count: number; min: number; mean: number; p50: number; p90: number; max: number };
  /** Empty for a synthetic timeline. */
  tracks: TrackArea[];
}

/** Busy and idle time of a track within its run. */
export interface TrackArea {
  track: number;
  busy: number;
  gaps: number;
  idle: number;
  longestGap: number;
}

export function area(slices: Slices, range: TimeRange, rows: readonly Row[] = slices.rows): Area {
  const work = ranking(slices, areaSums(slices, range, rows));
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Sums of an area, and the positions of its slices. */
export interface AreaSums {
  area: Area;
  inside: Stretches;
}

/** Adds minimum, maximum and percentiles of durations to the sums of an area, with pauses. */
export function* ranking(slices: Slices, { area, inside }: AreaSums): Generator<void, Area> {
  const { duration } = slices.times;
  const shares = yield* percentiling(duration, inside, [0, 0.5, 0.9, 1]);
  const [min, p50, p90, max] = shares as [number, number, number, number];
  return { ...area, whole: { ...area.whole, min, p50, p90, max } };
}

/** The quick sums of an area. */
export function areaSums(
  slices: Slices,
  range: TimeRange,
  rows: readonly Row[] = slices.rows,
): AreaSums {
  const [from, to] = range;
  const { duration, self } = slices.times;
  const inside: [first: number, last: number][] = [];
  let [count, instants, sum, number, total] = [0, 0, 0, 0, 0];
  for (const row of rows) {
    const [first, last] = row.range(from, to);
    count += last - first;
    if (row.kind === RowKind.INSTANT) {
      instants += last - first;
      continue;
    }
    const [begin, end] = wholly(slices, first, last, range);
    for (let at = first; at < begin; at++) sum += selfInside(slices, at, range);
    for (let at = end; at < last; at++) sum += selfInside(slices, at, range);
    const own = summed(self, begin, end);
    sum += own;
    total += self === duration ? own : summed(duration, begin, end);
    number += end - begin;
    if (end > begin) inside.push([begin, end]);
  }
  const later = { min: Number.NaN, p50: Number.NaN, p90: Number.NaN, max: Number.NaN };
  const tracks = [...new Set(rows.map(({ track }) => track))];
  const sums = {
    range,
    count,
    instants,
    sum,
    whole: { ...later, count: number, mean: total / number },
    tracks: slices.columns.info.synthetic
      ? []
      : tracks.map((track) => trackArea(slices, track, range)),
  };
  return { area: sums, inside };
}

/** Of the slices [first, last) of a row that touch a range, those inside it. */
function wholly(
  slices: Slices,
  first: number,
  last: number,
  [from, to]: TimeRange,
): [begin: number, end: number] {
  let [begin, end] = [first, last];
  while (begin < end && slices.startOf(begin) < from) begin++;
  while (begin < end && slices.endOf(end - 1) > to) end--;
  return [begin, end];
}

function summed(values: Uint32Array | Float64Array, begin: number, end: number): number {
  let sum = 0;
  for (let at = begin; at < end; at++) sum += values[at]!;
  return sum;
}

function trackArea(slices: Slices, track: number, [from, to]: TimeRange): TrackArea {
  const inside = {
    track,
    busy: slices.tracks[track]!.busy(...slices.tracks[track]!.known(from, to)),
    gaps: 0,
    idle: 0,
    longestGap: 0,
  };
  slices.tracks[track]!.eachIdle(from, to, (start, end) => {
    inside.gaps++;
    inside.idle += end - start;
    if (end - start > inside.longestGap) inside.longestGap = end - start;
  });
  return inside;
}

/** Time of a slice in a range during which no nested slice runs. */
export function selfInside(slices: Slices, slice: number, [from, to]: TimeRange): number {
  const [start, end] = [slices.startOf(slice), slices.endOf(slice)];
  if (start >= from && end <= to) return slices.selfOf(slice);
  const [first, last] = [Math.max(from, start), Math.min(to, end)];
  return last > first ? Math.max(0, last - first - covered(slices, slice, first, last)) : 0;
}

/** Time of [from, to] in which children of this slice run. */
function covered(slices: Slices, slice: number, from: number, to: number): number {
  if (!slices.nested) return 0;
  const row = slices.rows[slices.rowOf(slice)]!;
  const { rows } = slices.tracks[row.track]!;
  const isNested = row.kind === RowKind.NESTED;
  const below = isNested ? row.depth + 1 : 0;
  const inner = rows.find(({ kind, depth }) => kind === RowKind.NESTED && depth === below);
  const lanes = rows.filter((row) => row.kind === RowKind.OVERLAP);
  if (!lanes.length) return inner?.busy(from, to) ?? 0;
  const inside: [start: number, end: number][] = [];
  for (const other of inner ? [inner, ...lanes] : lanes) {
    const [first, last] = other.range(from, to);
    for (let at = first; at < last; at++) {
      if (slices.parentOf(at) !== slice) continue;
      inside.push([Math.max(from, slices.startOf(at)), Math.min(to, slices.endOf(at))]);
    }
  }
  inside.sort((a, b) => a[0] - b[0]);
  let [sum, until] = [0, from];
  for (const [start, end] of inside) {
    sum += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return sum;
}

/** Time and number of slices by a key. */
export interface SliceSums {
  count: Int32Array;
  /** Self time in the range, nanoseconds. */
  self: Float64Array;
  /** The first slice in row order, or -1. */
  slice: Int32Array;
}

/** Sums slices in a range (null: all time) by a key below `size`; -1 is left out; pauses every 65,536 slices. */
export function* summing(
  slices: Slices,
  range: TimeRange | null,
  size: number,
  key: (slice: number, row: Row) => number,
  rows: readonly Row[] = slices.rows,
): Generator<void, SliceSums> {
  const sums = {
    count: new Int32Array(size),
    self: new Float64Array(size),
    slice: new Int32Array(size).fill(-1),
  };
  const { self } = slices.times;
  let budget = CHUNK;
  for (const row of rows) {
    const [first, last] = range ? row.range(...range) : [row.first, row.last];
    const [begin, end] = range ? wholly(slices, first, last, range) : [first, last];
    for (let at = first; at < last; at++) {
      if (--budget === 0) {
        budget = CHUNK;
        yield;
      }
      const into = key(at, row);
      if (into < 0) continue;
      sums.count[into]!++;
      const isWhole = at >= begin && at < end;
      sums.self[into]! += isWhole ? self[at]! : selfInside(slices, at, range!);
      if (sums.slice[into]! < 0) sums.slice[into] = at;
    }
  }
  return sums;
}

export function sumsBy(...args: Parameters<typeof summing>): SliceSums {
  const work = summing(...args);
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Self time of every slice in a range (null: all time), cut at its ends; at most two slices of a row are cut. */
export function selfWithin(
  slices: Slices,
  range: TimeRange | null,
): { slices: Int32Array; self: Float64Array } {
  const ranges = slices.rows.map((row): readonly [number, number] =>
    range ? row.range(...range) : [row.first, row.last],
  );
  const size = ranges.reduce((sum, [first, last]) => sum + Math.max(0, last - first), 0);
  const sums = { slices: new Int32Array(size), self: new Float64Array(size) };
  let at = 0;
  for (const [first, last] of ranges) {
    for (let slice = first; slice < last; slice++) {
      sums.slices[at] = slice;
      sums.self[at++] = slices.selfOf(slice);
    }
    if (!range || first >= last) continue;
    for (const slice of [first, last - 1]) {
      sums.self[at - (last - slice)] = selfInside(slices, slice, range);
    }
  }
  return sums;
}

/** Confidence of the total time of nodes in one repeat. */
export interface Confidence {
  /** 95 % confidence interval of the mean; NaN if unknown. */
  low: number;
  high: number;
  noisy: boolean;
  repeats: number;
}

const UNKNOWN: Confidence = { low: Number.NaN, high: Number.NaN, noisy: false, repeats: 0 };
const NOISY_RATIO = 1.2;
const NOISY_REPEATS = 5;

/** Interval from the sums of paired repeats; NaN unless all nodes that take time have the same number, two or more. */
export function confidence({ columns }: Slices, nodes: readonly number[]): Confidence {
  const { repeatsOffsets, repeats, nodeNs, info } = columns;
  const count = (node: number) => repeatsOffsets[node + 1]! - repeatsOffsets[node]!;
  const timed = nodes.filter((node) => count(node) > 0 || nodeNs[node] !== 0);
  const size = timed.length ? count(timed[0]!) : 0;
  if (size < 2 || timed.some((node) => count(node) !== size)) return UNKNOWN;
  const sums = new Float64Array(size);
  for (const node of timed) {
    const first = repeatsOffsets[node]!;
    for (let at = 0; at < size; at++) sums[at]! += repeats[first + at]!;
  }
  if (!sums.every(Number.isFinite)) return UNKNOWN;
  const mean = sums.reduce((sum, ns) => sum + ns, 0) / size;
  const square = sums.reduce((sum, ns) => sum + (ns - mean) ** 2, 0);
  const half = info.studentT[size]! * Math.sqrt(square / (size - 1) / size);
  const [p10, p90] = percentiles(sums, [[0, size]], [0.1, 0.9]) as [number, number];
  const noisy = size >= NOISY_REPEATS && p90 > NOISY_RATIO * p10;
  return { low: mean - half, high: mean + half, noisy, repeats: size };
}
