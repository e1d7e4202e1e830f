import { RowKind } from "../../shared/client/timeline_columns.ts";
import type { Slices } from "./slices.ts";

export type TimeRange = readonly [from: number, to: number];

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

/** Time of a slice in a range during which no nested slice runs. */
function selfInside(slices: Slices, slice: number, [from, to]: TimeRange): number {
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
}

/** Sums slices in a range (null: all time) by a key below `size`. */
export function sumsBy(
  slices: Slices,
  range: TimeRange | null,
  size: number,
  key: (slice: number) => number,
): SliceSums {
  const sums = { count: new Int32Array(size), self: new Float64Array(size) };
  const { self } = slices.times;
  for (const row of slices.rows) {
    const [first, last] = range ? row.range(...range) : [row.first, row.last];
    const [begin, end] = range ? wholly(slices, first, last, range) : [first, last];
    for (let at = first; at < last; at++) {
      const into = key(at);
      sums.count[into]!++;
      const isWhole = at >= begin && at < end;
      sums.self[into]! += isWhole ? self[at]! : selfInside(slices, at, range!);
    }
  }
  return sums;
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
