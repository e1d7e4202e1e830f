import type { StringColumn } from "../shared/columns.ts";
import { type SliceColumns, type TimelineColumns, Trust } from "../shared/run_client.ts";
import { lowerBound, upperBound } from "../shared/sorted.ts";
import { RowKind } from "../shared/timeline_columns.ts";
import { BLOCK, MaxPyramid, prefixSums } from "./pyramid.ts";
import { Track } from "./track.ts";

export { RowKind, Track };

/** Slices that overlap by no more follow each other: printed times are rounded. */
export const TOLERANCE_NS = 1;

/** What the rows of a timeline share; empty until the slices are here. */
interface Shared {
  here: boolean;
  start: Float64Array;
  duration: Uint32Array | Float64Array;
  before: Float64Array;
  longest: MaxPyramid;
}

/** Slices `first` to `last - 1`: one below the other on the stage, by start, none over another. */
export class Row {
  readonly number: number;
  readonly track: number;
  /** How many slices lie around those of this row; of an extra lane its number. */
  readonly depth: number;
  /** One of `RowKind`. */
  readonly kind: number;
  readonly first: number;
  readonly last: number;
  readonly #shared: Shared;

  constructor(
    number: number,
    place: { track: number; depth: number; kind: number; first: number; last: number },
    shared: Shared,
  ) {
    this.number = number;
    this.track = place.track;
    this.depth = place.depth;
    this.kind = place.kind;
    this.first = place.first;
    this.last = place.last;
    this.#shared = shared;
  }

  get length(): number {
    return this.last - this.first;
  }

  /** The slices that share time with [from, to); of instants those in [from, to]. */
  range(from: number, to: number): [first: number, last: number] {
    const { start, here } = this.#shared;
    if (!here) return [this.first, this.first];
    if (this.kind === RowKind.INSTANT) {
      const first = lowerBound(start, from, this.first, this.last);
      return [first, upperBound(start, to, first, this.last)];
    }
    const first = this.endingAfter(from);
    return [first, lowerBound(start, to, first, this.last)];
  }

  /** The first slice of the row that ends after `ns`; `last` where there is none. */
  endingAfter(ns: number, from = this.first): number {
    const { start, duration } = this.#shared;
    let low = from;
    let high = this.last;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (start[middle]! + duration[middle]! <= ns) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The first slice of the row that starts at `ns` or later; `last` where there is none. */
  startingAt(ns: number, from = this.first): number {
    return lowerBound(this.#shared.start, ns, from, this.last);
  }

  /** Time of [from, to) that the row's slices take. */
  busy(from: number, to: number): number {
    const [first, last] = this.range(from, to);
    return this.busyOf(first, last, from, to);
  }

  /** The same of the slices [first, last) that `range` found there. */
  busyOf(first: number, last: number, from: number, to: number): number {
    if (first >= last) return 0;
    const { start, duration } = this.#shared;
    const end = start[last - 1]! + duration[last - 1]!;
    const cut = Math.max(0, from - start[first]!) + Math.max(0, end - to);
    return Math.max(0, this.#before(last) - this.#before(first) - cut);
  }

  /** The slice that takes most of [from, to), the first of equals; -1 where the row is idle. */
  dominant(from: number, to: number): number {
    const [first, last] = this.range(from, to);
    return this.dominantOf(first, last, from, to);
  }

  dominantOf(first: number, last: number, from: number, to: number): number {
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

  #inside(slice: number, from: number, to: number): number {
    const { start, duration } = this.#shared;
    return Math.min(start[slice]! + duration[slice]!, to) - Math.max(start[slice]!, from);
  }

  /** Sum of all durations before a slice. */
  #before(slice: number): number {
    const { before, duration } = this.#shared;
    const block = Math.floor(slice / BLOCK);
    let sum = before[block]!;
    for (let at = block * BLOCK; at < slice; at++) sum += duration[at]!;
    return sum;
  }
}

/** Nanoseconds by slice. */
export interface Times {
  start: Float64Array;
  duration: Uint32Array | Float64Array;
  /** Without the slices inside. */
  self: Uint32Array | Float64Array;
}

/**
 * The slices of a timeline; a slice's number is its place in row order.
 *
 * Rows and tracks are known from the first answer, the slices themselves once they are `complete`: until then a row
 * holds none of them, and times are NaN.
 */
export class Slices {
  readonly columns: TimelineColumns;
  readonly count: number;
  readonly rows: readonly Row[];
  readonly tracks: readonly Track[];
  /** First start and last end. */
  readonly start: number;
  readonly end: number;
  /** Slices whose start or duration is no usable number; they are not here. */
  readonly unusable: number;
  readonly #shared: Shared;
  readonly #rowFirst: Int32Array;
  #data: SliceColumns | null = null;
  #bySource: Int32Array | null = null;
  #byNode: [offsets: Int32Array, slices: Int32Array] | null = null;

  constructor(columns: TimelineColumns) {
    this.columns = columns;
    const { info, rowFirst, rowTrack, rowDepth, rowKind, tracks } = columns;
    this.#rowFirst = rowFirst;
    this.unusable = info.unusable;
    this.count = info.slices;
    [this.start, this.end] = [info.first, info.last];
    const nothing = new Float64Array(0);
    this.#shared = {
      here: false,
      start: nothing,
      duration: nothing,
      before: nothing,
      longest: new MaxPyramid(nothing),
    };
    this.rows = Array.from(rowTrack, (track, row) => {
      const [first, last] = [rowFirst[row]!, rowFirst[row + 1]!];
      const place = { track, depth: rowDepth[row]!, kind: rowKind[row]!, first, last };
      return new Row(row, place, this.#shared);
    });
    this.tracks = Array.from({ length: tracks.length }, (_, track) => {
      const own = this.rows.filter((row) => row.track === track);
      return new Track(track, tracks.at(track), own, this);
    });
    if (columns.slices) this.fill(columns.slices);
  }

  /** Whether the slices themselves are here. */
  get complete(): boolean {
    return this.#data !== null;
  }

  /** Starts, durations and own times by slice, for loops over many; empty until the slices are here. */
  get times(): Times {
    const { start, duration } = this.#shared;
    return { start, duration, self: this.#data?.self ?? duration };
  }

  /** Takes the slices that were announced. */
  fill(data: SliceColumns): void {
    this.#data = data;
    const { start, duration } = data;
    const [before, longest] = [prefixSums(duration), new MaxPyramid(duration)];
    Object.assign(this.#shared, { here: true, start, duration, before, longest });
  }

  startOf(slice: number): number {
    return this.#shared.start[slice] ?? Number.NaN;
  }

  endOf(slice: number): number {
    return this.startOf(slice) + this.durationOf(slice);
  }

  durationOf(slice: number): number {
    return this.#shared.duration[slice] ?? Number.NaN;
  }

  /** Time of a slice without the slices inside it. */
  selfOf(slice: number): number {
    return (this.#data?.self ?? this.#shared.duration)[slice] ?? Number.NaN;
  }

  /** -1: no node is known. */
  nodeOf(slice: number): number {
    return this.#data?.node?.[slice] ?? -1;
  }

  /** Position of the slice's name among the distinct ones. */
  nameCodeOf(slice: number): number {
    return this.#data?.name[slice] ?? -1;
  }

  /** The distinct names. */
  get names(): StringColumn {
    return (this.#data ?? this.columns).names;
  }

  /** The op kind of each distinct name. */
  get nameKinds(): StringColumn {
    return (this.#data ?? this.columns).nameKinds;
  }

  nameOf(slice: number): string {
    return this.names.at(this.nameCodeOf(slice));
  }

  /** How surely a slice is its node's: one of `Trust`. */
  trustOf(slice: number): number {
    return this.#data?.trust?.[slice] ?? this.columns.info.trust ?? Trust.ABSENT;
  }

  /** Index of a slice in `run.timeline`. */
  sourceOf(slice: number): number {
    if (!(slice >= 0 && slice < this.count)) return -1;
    return this.#data?.source?.[slice] ?? slice;
  }

  /** The slice of an index of `run.timeline`, -1 where it is not drawn. */
  bySource(source: number): number {
    if (!this.#data?.source) return source < this.count ? source : -1;
    this.#bySource ??= inverse(this.#data.source);
    return this.#bySource[source] ?? -1;
  }

  /** Number of a slice's row, -1 of no slice. */
  rowOf(slice: number): number {
    if (!(slice >= 0 && slice < this.count)) return -1;
    return upperBound(this.#rowFirst, slice) - 1;
  }

  trackOf(slice: number): number {
    return this.rows[this.rowOf(slice)]?.track ?? -1;
  }

  /** Slices of a node, by occurrence: in the order of `run.timeline`. */
  of(node: number): Int32Array {
    if (!this.complete) return new Int32Array(0);
    this.#byNode ??= this.#sortByNode();
    const [offsets, slices] = this.#byNode;
    if (node < 0 || node + 1 >= offsets.length) return new Int32Array(0);
    return slices.subarray(offsets[node]!, offsets[node + 1]!);
  }

  /** Which of its node's slices this is, -1 where no node is known. */
  occurrenceOf(slice: number): number {
    const all = this.of(this.nodeOf(slice));
    const source = this.sourceOf(slice);
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sourceOf(all[middle]!) < source) low = middle + 1;
      else high = middle;
    }
    return all[low] === slice ? low : -1;
  }

  /** The innermost slice that holds this one, -1 where none does. */
  parentOf(slice: number): number {
    const row = this.rows[this.rowOf(slice)];
    if (!row) return -1;
    const nested = this.tracks[row.track]!.rows.filter(({ kind }) => kind === RowKind.NESTED);
    const from = row.kind === RowKind.NESTED ? row.depth : nested.length;
    for (let depth = from - 1; depth >= 0; depth--) {
      const around = nested[depth]!;
      for (let at = around.startingAt(this.startOf(slice) + TOLERANCE_NS * 1.5) - 1; ; at--) {
        if (at < around.first || this.endOf(at) < this.startOf(slice)) break;
        if (this.#holds(at, slice)) return at;
      }
    }
    return -1;
  }

  /** Whether some slice lies inside another. */
  get nested(): boolean {
    return this.tracks.some(({ nested }) => nested);
  }

  #holds(outer: number, inner: number): boolean {
    return (
      this.startOf(outer) <= this.startOf(inner) + TOLERANCE_NS &&
      this.endOf(inner) <= this.endOf(outer) + TOLERANCE_NS
    );
  }

  #sortByNode(): [offsets: Int32Array, slices: Int32Array] {
    const node = this.#data?.node;
    const offsets = new Int32Array(this.columns.nodeNs.length + 1);
    if (!node) return [offsets, new Int32Array(0)];
    for (const each of node) if (each >= 0) offsets[each + 1]!++;
    for (let each = 1; each < offsets.length; each++) offsets[each]! += offsets[each - 1]!;
    const next = offsets.slice();
    const slices = new Int32Array(offsets.at(-1)!);
    const source = this.#data!.source;
    if (source) this.#bySource ??= inverse(source);
    const last = this.#bySource?.length ?? this.count;
    for (let i = 0; i < last; i++) {
      const slice = this.bySource(i);
      if (slice >= 0 && node[slice]! >= 0) slices[next[node[slice]!]!++] = slice;
    }
    return [offsets, slices];
  }
}

function inverse(source: Int32Array): Int32Array {
  let most = -1;
  for (const each of source) most = Math.max(most, each);
  const found = new Int32Array(most + 1).fill(-1);
  source.forEach((each, slice) => {
    found[each] = slice;
  });
  return found;
}
