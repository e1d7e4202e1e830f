import { RowKind } from "../../shared/client/timeline_columns.ts";
import type { Row, Track } from "./row.ts";
import type { Slices } from "./slices.ts";

/** The row that can hold children of a slice. */
function rowInside(slices: Slices, slice: number): Row | undefined {
  const row = slices.rows[slices.rowOf(slice)];
  if (row?.kind !== RowKind.NESTED) return undefined;
  const { rows } = slices.tracks[row.track]!;
  return rows.find((other) => other.kind === RowKind.NESTED && other.depth === row.depth + 1);
}

/** The children of a slice in an inner row. */
function inside(slices: Slices, inner: Row, slice: number): [first: number, last: number] {
  let [first, last] = inner.range(slices.startOf(slice), slices.endOf(slice));
  while (first < last && slices.parentOf(first) !== slice) first++;
  while (first < last && slices.parentOf(last - 1) !== slice) last--;
  return [first, last];
}

export function childrenOf(slices: Slices, slice: number): number {
  const inner = rowInside(slices, slice);
  const [first, last] = inner ? inside(slices, inner, slice) : [0, 0];
  return last - first;
}

/** The child that takes longest, the first of equals; or -1. */
export function longestChild(slices: Slices, slice: number): number {
  const inner = rowInside(slices, slice);
  if (!inner) return -1;
  const [first, last] = inside(slices, inner, slice);
  return inner.dominantOf(first, last, slices.startOf(slice), slices.endOf(slice));
}

export interface Gap {
  track: number;
  from: number;
  to: number;
}

export function lengthOf({ from, to }: Gap): number {
  return to - from;
}

/** The slices on both sides of a gap; -1 at the ends of the timeline. */
export function besides(slices: Slices, gap: Gap): [before: number, after: number] {
  let [before, after] = [-1, -1];
  for (const row of slices.tracks[gap.track]!.rows) {
    if (row.kind === RowKind.NESTED && row.depth > 0) continue;
    const next = row.endingAfter(gap.from);
    const last = next - 1;
    if (last >= row.first && (before < 0 || slices.endOf(last) > slices.endOf(before)))
      before = last;
    const follows = row.startingAt(gap.to, next);
    if (follows < row.last && (after < 0 || slices.startOf(follows) < slices.startOf(after))) {
      after = follows;
    }
  }
  return [before, after];
}

/** The first gap of a track of at least this length that begins after a time, or the last before it (`by` < 0). */
export function nextGap(
  slices: Slices,
  track: number,
  ns: number,
  by: number,
  least: number,
): Gap | null {
  let result: Gap | null = null;
  const from = by > 0 ? Math.max(ns, slices.start) : slices.start;
  slices.tracks[track]?.eachIdle(from, slices.end, (start, end) => {
    if (end - start < least || (by > 0 && (result || start <= ns)) || (by < 0 && start >= ns))
      return;
    result = { track, from: start, to: end };
  });
  return result;
}

export interface GapStanding {
  /** Number of gaps on all tracks, and their total length. */
  count: number;
  sum: number;
  /** 1 + number of gaps longer than the current one; 0 without a current one. */
  rank: number;
  /** The longest gaps, longest first; equal ones by time. */
  longest: Gap[];
}

/** Rank of a gap among the gaps of some tracks. */
export function gapStanding(
  slices: Slices,
  most: number,
  wanted: Gap | null = null,
  tracks: readonly Track[] = slices.tracks,
): GapStanding {
  const longest = new LongestGaps(most);
  const length = wanted ? lengthOf(wanted) : Number.NaN;
  let [count, sum, longer] = [0, 0, 0];
  for (const { number } of tracks) {
    slices.tracks[number]!.eachIdle(slices.start, slices.end, (from, to) => {
      count++;
      sum += to - from;
      if (to - from > length) longer++;
      longest.take(number, from, to);
    });
  }
  return { count, sum, rank: wanted ? longer + 1 : 0, longest: longest.sorted() };
}

/** Keeps the longest gaps of many. */
class LongestGaps {
  readonly #most: number;
  #kept: Gap[] = [];
  #least = -1;

  constructor(most: number) {
    this.#most = most;
  }

  take(track: number, from: number, to: number): void {
    if (to - from <= this.#least) return;
    this.#kept.push({ track, from, to });
    if (this.#kept.length < 4 * this.#most) return;
    this.#kept = this.sorted();
    this.#least = lengthOf(this.#kept.at(-1)!);
  }

  sorted(): Gap[] {
    const order = (a: Gap, b: Gap) =>
      lengthOf(b) - lengthOf(a) || a.from - b.from || a.track - b.track;
    return this.#kept.toSorted(order).slice(0, this.#most);
  }
}
