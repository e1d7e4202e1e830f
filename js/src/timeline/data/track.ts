import { RowKind, type TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { lowerBound, upperBound } from "../../shared/sorted.ts";
import type { Row } from "./row.ts";

/** Slices laid end to end are apart by less than this only because sums of doubles are rounded; as in Python. */
const NOTHING_NS = 0.01;

/** What a track asks of the slices of its timeline. */
interface TrackSlices {
  readonly columns: Pick<TimelineColumns, "info" | "trackRun">;
  readonly times: { start: Float64Array; duration: ArrayLike<number> };
  startOf(slice: number): number;
  endOf(slice: number): number;
}

/** The rows of one thread of a device. */
export class Track {
  readonly number: number;
  readonly name: string;
  /** Levels of nesting, then extra lanes; not the row of instants. */
  readonly rows: readonly Row[];
  /** Slices of no duration; null where there are none. */
  readonly instants: Row | null;
  /** Slices lie inside others. */
  readonly nested: boolean;
  /** Slices that share time with others without lying inside them: each is on an extra lane. */
  readonly overlapping: number;
  readonly #slices: TrackSlices;
  /** When some slice of an extra lane or of the lowest level runs, where there are extra lanes. */
  #union: [start: Float64Array, end: Float64Array, before: Float64Array] | null = null;

  constructor(number: number, name: string, rows: readonly Row[], slices: TrackSlices) {
    this.number = number;
    this.name = name;
    this.#slices = slices;
    this.rows = rows.filter(({ kind }) => kind !== RowKind.INSTANT);
    this.instants = rows.find(({ kind }) => kind === RowKind.INSTANT) ?? null;
    this.nested = this.rows.some(({ kind, depth }) => kind === RowKind.NESTED && depth > 0);
    this.overlapping = this.rows
      .filter(({ kind }) => kind === RowKind.OVERLAP)
      .reduce((sum, row) => sum + row.length, 0);
  }

  /** Slices that take time. */
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

  /** When it is known what ran: as long as the track's run goes on; never where slices are laid end to end. */
  get #known(): readonly [from: number, to: number] {
    const { info, trackRun } = this.#slices.columns;
    return info.synthetic ? [0, 0] : info.extents[trackRun[this.number]!]!;
  }

  /** The part of [from, to) of which it is known what ran; empty where there is none. */
  known(from: number, to: number): [from: number, to: number] {
    const [first, last] = this.#known;
    const begin = Math.max(from, first);
    return [begin, Math.max(begin, Math.min(to, last))];
  }

  /** The idle stretch around a time, null where a slice runs or nothing is known; it ends with the run. */
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
  eachIdle(begin: number, end: number, found: (from: number, to: number) => void): void {
    const [from, to] = this.known(begin, end);
    let since = from;
    if (!this.overlapping) {
      const { start, duration } = this.#slices.times;
      const [first, last] = this.rows[0]?.range(from, to) ?? [0, 0];
      for (let at = first; at < last; at++) {
        const begins = start[at]!;
        if (begins - since > NOTHING_NS) found(since, begins);
        since = Math.max(since, begins + duration[at]!);
      }
    } else {
      const [starts, ends] = this.#intervals();
      for (let at = upperBound(ends, from); at < starts.length && starts[at]! < to; at++) {
        if (starts[at]! - since > NOTHING_NS) found(since, starts[at]!);
        since = Math.max(since, ends[at]!);
      }
    }
    if (to - since > NOTHING_NS) found(since, to);
  }

  #intervals(): [start: Float64Array, end: Float64Array, before: Float64Array] {
    this.#union ??= this.#unite();
    return this.#union;
  }

  /** How many run changes only at starts and ends, so that both are sorted apart. */
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
    for (let at = 0; at < intervals; at++) {
      before[at + 1] = before[at]! + ends[at]! - starts[at]!;
    }
    return [starts.slice(0, intervals), ends.slice(0, intervals), before];
  }
}
