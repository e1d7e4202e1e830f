import { RowKind, type TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { lowerBound, upperBound } from "../../shared/many.ts";
import { BLOCK, type MaxPyramid } from "./pyramid.ts";

/** Number of slices in a column from which sums and maxima come from an index. */
const MANY = 64;

/** Columns shared by the rows of a timeline; empty until the slices are loaded. */
export interface SharedColumns {
  start: Float64Array;
  duration: Uint32Array | Float64Array;
  before: Float64Array;
  longest: MaxPyramid;
}

/** Columns of equal time, from left to right. */
export interface RowColumns {
  /** The slice that takes most of the column, -1 if it is idle. */
  slice: Int32Array;
  /** Busy time over the column's time; 1 if one slice covers all of it. */
  share: Float32Array;
}

/** Slices `first` to `last - 1`, drawn in one row: by start, without overlaps. */
export class Row {
  readonly track: number;
  /** Depth of nesting; the number of an extra lane. */
  readonly depth: number;
  readonly kind: number;
  readonly first: number;
  readonly last: number;
  readonly #shared: SharedColumns;
  /** Position of the loaded slices in the columns, and the offset to their numbers. */
  #low = 0;
  #high = 0;
  #shift: number;

  constructor(
    readonly number: number,
    place: { track: number; depth: number; kind: number; first: number; last: number },
    shared: SharedColumns,
  ) {
    this.track = place.track;
    this.depth = place.depth;
    this.kind = place.kind;
    this.first = place.first;
    this.last = place.last;
    this.#shared = shared;
    this.#shift = place.first;
  }

  get length(): number {
    return this.last - this.first;
  }

  /** Sets where the loaded slices are: those from number `first` on at `low` to `high - 1`. */
  load(low: number, high: number, first: number): void {
    [this.#low, this.#high, this.#shift] = [low, high, first - low];
  }

  /** Position of a slice in the columns, -1 if it is not loaded. */
  at(slice: number): number {
    const at = slice - this.#shift;
    return at >= this.#low && at < this.#high ? at : -1;
  }

  /** The slices that share time with [from, to); instants in [from, to]. */
  range(from: number, to: number): [first: number, last: number] {
    const { start } = this.#shared;
    const shift = this.#shift;
    if (this.kind === RowKind.INSTANT) {
      const first = lowerBound(start, from, this.#low, this.#high);
      return [first + shift, upperBound(start, to, first, this.#high) + shift];
    }
    const first = this.#endingAfter(from, this.#low);
    return [first + shift, lowerBound(start, to, first, this.#high) + shift];
  }

  /** The first slice of the row that ends after `ns`; `last` if none does. */
  endingAfter(ns: number, from = this.first): number {
    return this.#endingAfter(ns, Math.max(this.#low, from - this.#shift)) + this.#shift;
  }

  /** The first slice of the row that starts at `ns` or later; `last` if none does. */
  startingAt(ns: number, from = this.first): number {
    const low = Math.max(this.#low, from - this.#shift);
    return lowerBound(this.#shared.start, ns, low, Math.max(low, this.#high)) + this.#shift;
  }

  /** The first slice after another that reaches beyond `ns`, or starts there. */
  beyond(ns: number, slice: number): number {
    return Math.min(this.endingAfter(ns, slice + 1), this.startingAt(ns, slice + 1));
  }

  /** Time of [from, to) that the row's slices take. */
  busy(from: number, to: number): number {
    const [first, last] = this.range(from, to);
    return this.#busy(first - this.#shift, last - this.#shift, from, to);
  }

  /** The slice that takes most of [from, to), the first of equals; -1 if the row is idle. */
  dominant(from: number, to: number): number {
    const [first, last] = this.range(from, to);
    return this.dominantOf(first, last, from, to);
  }

  /** The dominant one of the slices [first, last) that `range` returned. */
  dominantOf(first: number, last: number, from: number, to: number): number {
    const at = this.#dominant(first - this.#shift, last - this.#shift, from, to);
    return at < 0 ? -1 : at + this.#shift;
  }

  /** Fills columns `first` to `last - 1`, exactly; column c is [from + c·step, from + (c+1)·step). */
  fill(columns: RowColumns, from: number, step: number, first: number, last: number): void {
    if (this.kind === RowKind.INSTANT) {
      this.#tellInstants(columns, from, step, first, last);
      return;
    }
    const { start, duration } = this.#shared;
    const { slice, share } = columns;
    const shift = this.#shift;
    const high = this.#high;
    let at = this.#endingAfter(from + first * step, this.#low);
    for (let column = first; column < last; ) {
      const begin = at < high ? start[at]! : Infinity;
      const since = from + column * step;
      const until = from + (column + 1) * step;
      if (begin >= until) {
        const idle = Math.min(last, Math.max(column + 1, Math.floor((begin - from) / step)));
        slice.fill(-1, column, idle);
        share.fill(0, column, idle);
        column = idle;
        continue;
      }
      const end = begin + duration[at]!;
      if (begin <= since && end >= until) {
        const whole = Math.min(last, Math.max(column + 1, Math.floor((end - from) / step)));
        slice.fill(at + shift, column, whole);
        share.fill(1, column, whole);
        column = whole;
        if (end <= from + column * step) at++;
        continue;
      }
      let best = at;
      let most = Math.min(end, until) - Math.max(begin, since);
      let busy = most;
      let next = at + 1;
      const few = Math.min(high, at + MANY);
      while (next < few && start[next]! < until) {
        const inside = Math.min(start[next]! + duration[next]!, until) - start[next]!;
        busy += inside;
        if (inside > most) {
          most = inside;
          best = next;
        }
        next++;
      }
      if (next === few && next < high && start[next]! < until) {
        next = this.#startingNear(until, next);
        busy = this.#busy(at, next, since, until);
        best = this.#dominant(at, next, since, until);
      }
      const part = busy / step;
      slice[column] = part > 0 ? best + shift : -1;
      share[column] = part < 1 ? part : 1;
      column++;
      at = start[next - 1]! + duration[next - 1]! > until ? next - 1 : next;
    }
  }

  /** Slices without duration: the first in a column counts, share 1. */
  #tellInstants(
    { slice, share }: RowColumns,
    from: number,
    step: number,
    first: number,
    last: number,
  ): void {
    const { start } = this.#shared;
    slice.fill(-1, first, last);
    share.fill(0, first, last);
    let at = lowerBound(start, from + first * step, this.#low, this.#high);
    while (at < this.#high) {
      const column = Math.max(first, Math.floor((start[at]! - from) / step));
      if (column >= last) return;
      slice[column] = at + this.#shift;
      share[column] = 1;
      at = Math.max(at + 1, this.#startingNear(from + (column + 1) * step, at));
    }
  }

  #endingAfter(ns: number, from: number): number {
    const { start, duration } = this.#shared;
    let low = from;
    let high = this.#high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (start[middle]! + duration[middle]! <= ns) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first position from `low` on that starts at `ns` or later; quick if it is near. */
  #startingNear(ns: number, low: number): number {
    const { start } = this.#shared;
    let from = low;
    let step = MANY;
    while (from + step < this.#high && start[from + step]! < ns) {
      from += step;
      step *= 2;
    }
    return lowerBound(start, ns, from, Math.min(from + step, this.#high));
  }

  #busy(first: number, last: number, from: number, to: number): number {
    if (first >= last) return 0;
    const { start, duration } = this.#shared;
    const end = start[last - 1]! + duration[last - 1]!;
    const cut = Math.max(0, from - start[first]!) + Math.max(0, end - to);
    return Math.max(0, this.#before(last) - this.#before(first) - cut);
  }

  #dominant(first: number, last: number, from: number, to: number): number {
    if (first >= last) return -1;
    let best = first;
    let most = this.#inside(first, from, to);
    if (last - first > 2) {
      const at = this.#shared.longest.argmax(first + 1, last - 1);
      const share = this.#inside(at, from, to);
      if (share > most) {
        best = at;
        most = share;
      }
    }
    return last - first > 1 && this.#inside(last - 1, from, to) > most ? last - 1 : best;
  }

  #inside(at: number, from: number, to: number): number {
    const { start, duration } = this.#shared;
    return Math.min(start[at]! + duration[at]!, to) - Math.max(start[at]!, from);
  }

  #before(place: number): number {
    const { before, duration } = this.#shared;
    const block = Math.floor(place / BLOCK);
    let sum = before[block]!;
    for (let at = block * BLOCK; at < place; at++) sum += duration[at]!;
    return sum;
  }
}

/** Gaps below this between adjacent slices come from rounded sums of doubles; as in Python. */
const NOTHING_NS = 0.01;

interface TrackSlices {
  readonly columns: Pick<TimelineColumns, "info" | "trackRun">;
  readonly times: { start: Float64Array; duration: ArrayLike<number> };
  startOf(slice: number): number;
  endOf(slice: number): number;
}

/** The rows of one thread of a device. */
export class Track {
  /** Levels of nesting, then extra lanes; without the row of instants. */
  readonly rows: readonly Row[];
  /** Slices of no duration, or null. */
  readonly instants: Row | null;
  readonly nested: boolean;
  /** Number of slices that overlap others without nesting; they are on extra lanes. */
  readonly overlapping: number;
  readonly #slices: TrackSlices;
  /** Busy time of extra lanes and the lowest level together, if there are extra lanes. */
  #union!: [start: Float64Array, end: Float64Array, before: Float64Array];
  /** The starts it was made of: those of another time range come with a column of their own. */
  #unionOf: Float64Array | null = null;

  constructor(
    readonly number: number,
    readonly name: string,
    rows: readonly Row[],
    slices: TrackSlices,
  ) {
    this.#slices = slices;
    this.rows = rows.filter(({ kind }) => kind !== RowKind.INSTANT);
    this.instants = rows.find(({ kind }) => kind === RowKind.INSTANT) ?? null;
    this.nested = this.rows.some(({ kind, depth }) => kind === RowKind.NESTED && depth > 0);
    this.overlapping = this.rows
      .filter(({ kind }) => kind === RowKind.OVERLAP)
      .reduce((sum, row) => sum + row.length, 0);
  }

  /** Number of slices that take time. */
  get count(): number {
    return this.rows.reduce((sum, row) => sum + row.length, 0);
  }

  /** Time of [from, to) in which at least one slice runs. */
  busy(from: number, to: number): number {
    if (!this.overlapping) return this.rows[0]?.busy(from, to) ?? 0;
    const [start, end, before] = this.#intervals();
    const first = upperBound(end, from);
    const last = lowerBound(start, to, first);
    if (first >= last) return 0;
    const cut = Math.max(0, from - start[first]!) + Math.max(0, end[last - 1]! - to);
    return Math.max(0, before[last]! - before[first]! - cut);
  }

  /** Time in which activity is known: the track's run; empty if slices are laid end to end. */
  get #known(): readonly [from: number, to: number] {
    const { info, trackRun } = this.#slices.columns;
    return info.synthetic ? [0, 0] : info.extents[trackRun[this.number]!]!;
  }

  /** Part of [from, to) in which activity is known. */
  known(from: number, to: number): [from: number, to: number] {
    const [first, last] = this.#known;
    const begin = Math.max(from, first);
    return [begin, Math.max(begin, Math.min(to, last))];
  }

  /** The idle stretch around a time, up to the end of the run; null if a slice runs or nothing is known. */
  idleAt(ns: number): [from: number, to: number] | null {
    let [from, to] = this.#known;
    if (ns < from || ns >= to) return null;
    if (!this.overlapping) {
      const row = this.rows[0];
      if (!row) return [from, to];
      const next = row.endingAfter(ns);
      if (next > row.first) from = this.#slices.endOf(next - 1);
      if (next < row.last) to = this.#slices.startOf(next);
    } else {
      const [start, end] = this.#intervals();
      const next = upperBound(end, ns);
      if (next > 0) from = end[next - 1]!;
      if (next < start.length) to = start[next]!;
    }
    return from <= ns && ns < to ? [from, to] : null;
  }

  /** Calls back for every idle stretch within [begin, end], by time. */
  eachIdle(begin: number, end: number, report: (from: number, to: number) => void): void {
    const [from, to] = this.known(begin, end);
    let since = from;
    if (!this.overlapping) {
      const { start, duration } = this.#slices.times;
      const [first, last] = this.rows[0]?.range(from, to) ?? [0, 0];
      for (let at = first; at < last; at++) {
        const begins = start[at]!;
        if (begins - since > NOTHING_NS) report(since, begins);
        since = Math.max(since, begins + duration[at]!);
      }
    } else {
      const [starts, ends] = this.#intervals();
      for (let at = upperBound(ends, from); at < starts.length && starts[at]! < to; at++) {
        if (starts[at]! - since > NOTHING_NS) report(since, starts[at]!);
        since = Math.max(since, ends[at]!);
      }
    }
    if (to - since > NOTHING_NS) report(since, to);
  }

  #intervals(): [start: Float64Array, end: Float64Array, before: Float64Array] {
    const { start } = this.#slices.times;
    if (this.#unionOf !== start) [this.#unionOf, this.#union] = [start, this.#unite()];
    return this.#union;
  }

  /** The number of running slices changes only at starts and ends, which are sorted separately. */
  #unite(): [start: Float64Array, end: Float64Array, before: Float64Array] {
    const lowest = this.rows.filter(({ kind, depth }) => kind === RowKind.OVERLAP || depth === 0);
    const count = lowest.reduce((sum, row) => sum + row.length, 0);
    const [starts, ends] = [new Float64Array(count), new Float64Array(count)];
    let next = 0;
    for (const row of lowest) {
      for (let slice = row.first; slice < row.last; slice++) {
        starts[next] = this.#slices.startOf(slice);
        ends[next++] = this.#slices.endOf(slice);
      }
    }
    starts.sort();
    ends.sort();
    let intervals = 0;
    for (let at = 0; at < count; ) {
      const start = starts[at]!;
      let done = at + 1;
      while (done < count && starts[done]! <= ends[done - 1]!) done++;
      starts[intervals] = start;
      ends[intervals++] = ends[done - 1]!;
      at = done;
    }
    const before = new Float64Array(intervals + 1);
    for (let at = 0; at < intervals; at++) before[at + 1] = before[at]! + ends[at]! - starts[at]!;
    return [starts.slice(0, intervals), ends.slice(0, intervals), before];
  }
}
