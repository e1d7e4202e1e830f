import { RowKind, type Slices, type Track } from "./slices.ts";

/** A stretch of time in which nothing runs on a track. */
export interface Gap {
  track: number;
  from: number;
  to: number;
}

export function lengthOf({ from, to }: Gap): number {
  return to - from;
}

/** The slices on both sides of a gap, -1 where the timeline begins or ends there. */
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

/** The first gap of a track, at least so long, that begins after a time, or the last before it (`by` < 0). */
export function nextGap(
  slices: Slices,
  track: number,
  ns: number,
  by: number,
  least: number,
): Gap | null {
  let found: Gap | null = null;
  const [from, to] = by > 0 ? [Math.max(ns, slices.start), slices.end] : [slices.start, ns];
  slices.tracks[track]?.eachIdle(from, to, (start, end) => {
    if (end - start < least || (by > 0 && (found || start <= ns)) || (by < 0 && start >= ns))
      return;
    found = { track, from: start, to: end };
  });
  return found;
}

export interface GapStanding {
  /** How many gaps there are on all tracks, and how long they are together. */
  count: number;
  sum: number;
  /** 1 + how many are longer than the gap asked for; 0 where none was asked for. */
  rank: number;
  /** The longest, longest first; equal ones by time. */
  longest: Gap[];
}

/** How a gap stands among those of all tracks, or of some. */
export function gapStanding(
  slices: Slices,
  most: number,
  asked: Gap | null = null,
  tracks: readonly Track[] = slices.tracks,
): GapStanding {
  const longest = new Longest(most);
  const length = asked ? lengthOf(asked) : Number.NaN;
  let [count, sum, longer] = [0, 0, 0];
  for (const { number } of tracks) {
    slices.tracks[number]!.eachIdle(slices.start, slices.end, (from, to) => {
      count++;
      sum += to - from;
      if (to - from > length) longer++;
      longest.take(number, from, to);
    });
  }
  return { count, sum, rank: asked ? longer + 1 : 0, longest: longest.sorted() };
}

/** Keeps the longest gaps of many. */
class Longest {
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
