import { Trust } from "../../shared/client/answers.ts";
import type { StringColumn } from "../../shared/client/columns.ts";
import {
  RowKind,
  type SliceColumns,
  type TimelineColumns,
  type WindowColumns,
} from "../../shared/client/timeline_columns.ts";
import { duration, isShort, timeShare } from "../../shared/format.ts";
import { upperBound } from "../../shared/many.ts";
import { MaxPyramid, prefixSums } from "./pyramid.ts";
import { Row, type SharedColumns, Track } from "./row.ts";

/** Overlap up to which slices follow each other: printed times are rounded. */
export const TOLERANCE_NS = 1;
/** Share of a slice up to which it may lie outside of its parent; see `model/timeline/rows.py`. */
const MOST_OUTSIDE = 0.4;

export interface SliceTimes {
  start: Float64Array;
  duration: Uint32Array | Float64Array;
  /** Without nested slices. */
  self: Uint32Array | Float64Array;
}

/** Slices of a timeline, numbered in row order; until they are `complete`, rows are empty and times are NaN. */
export class Slices {
  readonly count: number;
  readonly rows: readonly Row[];
  readonly tracks: readonly Track[];
  /** First start and last end. */
  readonly start: number;
  readonly end: number;
  /** Number of slices without a usable start or duration, which are left out. */
  readonly unusable: number;
  readonly #shared: SharedColumns;
  readonly #rowFirst: Int32Array;
  #data: SliceColumns | null = null;
  /** Columns of a loaded time range. */
  #window: WindowColumns | null = null;
  #loaded: readonly [from: number, to: number] = [Infinity, -Infinity];
  #bySource: Int32Array | null = null;
  #byNode: [offsets: Int32Array, slices: Int32Array] | null = null;
  /** Slice by name, for names known before the slices are loaded. */
  #ranked: Map<number, number> | null = null;

  constructor(readonly columns: TimelineColumns) {
    const { info, rowFirst, rowTrack, rowDepth, rowKind, tracks } = columns;
    this.#rowFirst = rowFirst;
    this.unusable = info.unusable;
    this.count = info.slices;
    [this.start, this.end] = [info.first, info.last];
    const nothing = new Float64Array(0);
    this.#shared = {
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
    const ofTrack: Row[][] = Array.from({ length: tracks.length }, () => []);
    for (const row of this.rows) ofTrack[row.track]?.push(row);
    this.tracks = ofTrack.map((own, track) => new Track(track, tracks.at(track), own, this));
    if (columns.slices) this.fill(columns.slices);
  }

  /** True if all slices are loaded. */
  get complete(): boolean {
    return this.#data !== null && !this.#window;
  }

  /** True if the slices of a time range are loaded. */
  holds(from: number, to: number): boolean {
    return from >= this.#loaded[0] && to <= this.#loaded[1];
  }

  /** Starts, durations and self times by slice, for long loops; empty until the slices are loaded. */
  get times(): SliceTimes {
    const { start, duration } = this.#shared;
    return { start, duration, self: this.#data?.self ?? duration };
  }

  fill(data: SliceColumns): void {
    for (const _ of this.filling(data));
  }

  /** Takes all slices over, with pauses; they appear at once, at the end. */
  *filling(data: SliceColumns): Generator<void, void> {
    const before = prefixSums(data.duration);
    yield;
    this.#take(data, before, yield* MaxPyramid.making(data.duration));
    this.#loaded = [-Infinity, Infinity];
    for (const row of this.rows) row.load(row.first, row.last, row.first);
  }

  /** Takes the slices of a time range over, for pages that cannot hold all. */
  fillWindow(data: WindowColumns, from: number, to: number): void {
    this.#take(data, prefixSums(data.duration), new MaxPyramid(data.duration));
    this.#window = data;
    this.#loaded = [from, to];
    const { rowFirst, rowNumber } = data;
    this.rows.forEach((row, at) => {
      row.load(rowFirst[at]!, rowFirst[at + 1]!, rowNumber[at]!);
    });
  }

  startOf(slice: number): number {
    return this.#shared.start[this.#at(slice)] ?? Number.NaN;
  }

  endOf(slice: number): number {
    return this.startOf(slice) + this.durationOf(slice);
  }

  durationOf(slice: number): number {
    return this.#shared.duration[this.#at(slice)] ?? Number.NaN;
  }

  /** A time of slices or nodes as text: `1.2 ms`, `< 1 µs`. */
  timeText(ns: number): string {
    return duration(ns, this.columns.info.roundingNs);
  }

  /** A time with its share, unless it is too short to have one. */
  withShare(ns: number, share: number): string {
    return timeShare(ns, share, this.columns.info.roundingNs, ", ");
  }

  get noTime(): string {
    return this.isShort(0) ? `of ${this.timeText(0)}` : "zero-duration";
  }

  /** True if it is less than the unit of its source. */
  isShort(ns: number): boolean {
    return isShort(ns, this.columns.info.roundingNs);
  }

  selfOf(slice: number): number {
    return (this.#data?.self ?? this.#shared.duration)[this.#at(slice)] ?? Number.NaN;
  }

  /** -1 if no node is known. */
  nodeOf(slice: number): number {
    return this.#data?.node?.[this.#at(slice)] ?? -1;
  }

  /** The call of several nodes that a slice belongs to, or -1. */
  callOf(slice: number): number {
    return this.#data?.set?.[this.#at(slice)] ?? -1;
  }

  /** Role of a slice's time; 0 is the model at work, other roles have no share. */
  roleOf(slice: number): number {
    return this.#data?.role?.[this.#at(slice)] ?? 0;
  }

  /** The nodes of a slice: one, several that share it, or none. */
  nodesOf(slice: number): readonly number[] {
    const node = this.nodeOf(slice);
    if (node >= 0) return [node];
    const set = this.callOf(slice);
    return set < 0 ? [] : this.nodesOfCall(set);
  }

  /** True if its time belongs to no single node. */
  isApart(slice: number): boolean {
    const set = this.callOf(slice);
    return set >= 0 && (this.columns.setApart?.[set] ?? 0) > 0;
  }

  /** The nodes of a call; empty if no file names them. */
  nodesOfCall(set: number): readonly number[] {
    const { setOffsets, setNodes } = this.columns;
    return Array.from(setNodes!.subarray(setOffsets![set]!, setOffsets![set + 1]!));
  }

  /** Slices that a node shares with others, or that called it, in row order. */
  *sharedBy(node: number): Iterable<number> {
    const { setOffsets, setNodes, setApart } = this.columns;
    const sets = this.#data?.set;
    if (!sets || !setOffsets || !setNodes) return;
    const mine = new Set<number>();
    for (let set = 0; set + 1 < setOffsets.length; set++) {
      if (setApart?.[set] === 2) continue;
      if (setNodes.subarray(setOffsets[set]!, setOffsets[set + 1]!).includes(node)) mine.add(set);
    }
    if (!mine.size) return;
    for (let at = 0; at < sets.length; at++) {
      if (mine.has(sets[at]!)) yield this.#window ? this.#numberOf(at) : at;
    }
  }

  /** Names and texts of a slice in its source. */
  aboutOf(slice: number): [name: string, text: string][] {
    const code = this.#data?.about?.[this.#at(slice)] ?? -1;
    const text = code < 0 ? "" : (this.columns.abouts?.at(code) ?? "");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        const [name = "", ...rest] = line.split("\t");
        return [name, rest.join("\t")];
      });
  }

  /** Index of the slice's name among the distinct ones. */
  nameCodeOf(slice: number): number {
    const here = this.#data?.name[this.#at(slice)];
    if (here !== undefined) return here;
    this.#ranked ??= this.#rank();
    return this.#ranked.get(slice) ?? -1;
  }

  get names(): StringColumn {
    return (this.#data ?? this.columns).names;
  }

  get nameKinds(): StringColumn {
    return (this.#data ?? this.columns).nameKinds;
  }

  /** Labels by distinct name; "" if the name is its own label. */
  get nameLabels(): StringColumn {
    return (this.#data ?? this.columns).nameLabels;
  }

  nameLabel(code: number): string {
    return this.nameLabels.at(code) || this.names.at(code);
  }

  nameOf(slice: number): string {
    return this.names.at(this.nameCodeOf(slice));
  }

  /** Confidence that a slice belongs to its node: one of `Trust`. */
  trustOf(slice: number): number {
    return this.#data?.trust?.[this.#at(slice)] ?? this.columns.info.trust ?? Trust.ABSENT;
  }

  /** Index of a slice in `run.timeline`. */
  sourceOf(slice: number): number {
    if (!(slice >= 0 && slice < this.count)) return -1;
    return this.#data?.source?.[this.#at(slice)] ?? (this.#window?.source ? -1 : slice);
  }

  /** The slice of an index of `run.timeline`, -1 if it is not drawn or not loaded. */
  bySource(source: number): number {
    const all = this.#data?.source;
    if (!all) return source < this.count ? source : -1;
    if (this.#window) {
      const at = all.indexOf(source);
      return at < 0 ? -1 : this.#numberOf(at);
    }
    this.#bySource ??= inverse(all);
    return this.#bySource[source] ?? -1;
  }

  /** Number of a slice's row, or -1. */
  rowOf(slice: number): number {
    if (!(slice >= 0 && slice < this.count)) return -1;
    return upperBound(this.#rowFirst, slice) - 1;
  }

  trackOf(slice: number): number {
    return this.rows[this.rowOf(slice)]?.track ?? -1;
  }

  /** Loaded slices of a node by occurrence: in the order of `run.timeline`. */
  of(node: number): Int32Array {
    if (!this.#data?.node || node < 0) return new Int32Array(0);
    if (this.#window) return this.#inWindow(node);
    this.#byNode ??= this.#sortByNode(this.#data.node);
    const [offsets, slices] = this.#byNode;
    return slices.subarray(offsets[node] ?? 0, offsets[node + 1] ?? 0);
  }

  /** Occurrence of the slice among its node's slices, -1 if no node is known. */
  occurrenceOf(slice: number): number {
    if (this.#window) return this.#window.occurrence?.[this.#at(slice)] ?? -1;
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

  /** The innermost slice around this one, or -1. */
  parentOf(slice: number): number {
    const row = this.rows[this.rowOf(slice)];
    if (!row) return -1;
    if (this.#window) {
      const at = this.#window.parent[row.at(slice)] ?? -1;
      return at < 0 ? -1 : this.#numberOf(at);
    }
    let parent = -1;
    for (const around of this.tracks[row.track]!.rows) {
      if (!mayHold(around, row)) continue;
      const at = this.#before(slice, around);
      if (this.#holds(at, slice) && (parent < 0 || this.#standsBefore(parent, at))) parent = at;
    }
    return parent;
  }

  get nested(): boolean {
    return this.tracks.some(({ nested }) => nested);
  }

  #before(slice: number, row: Row): number {
    for (let at = row.startingAt(this.startOf(slice)); at < row.last; at++) {
      if (!this.#standsBefore(at, slice)) return at > row.first ? at - 1 : -1;
    }
    return row.last - 1;
  }

  #standsBefore(a: number, b: number): boolean {
    const sooner = this.startOf(b) - this.startOf(a) || this.durationOf(a) - this.durationOf(b);
    return (sooner || this.sourceOf(b) - this.sourceOf(a)) > 0;
  }

  /** True if a slice ends within another, up to the rounding of printed times. */
  #holds(outer: number, inner: number): boolean {
    const outside = Math.min(TOLERANCE_NS, MOST_OUTSIDE * this.durationOf(inner));
    return outer >= 0 && this.endOf(outer) >= this.endOf(inner) - outside;
  }

  #take(data: SliceColumns, before: Float64Array, longest: MaxPyramid): void {
    this.#data = data;
    this.#bySource = this.#byNode = null;
    const { start, duration } = data;
    Object.assign(this.#shared, { start, duration, before, longest });
  }

  #at(slice: number): number {
    return this.#window ? (this.rows[this.rowOf(slice)]?.at(slice) ?? -1) : slice;
  }

  #numberOf(at: number): number {
    const { rowFirst, rowNumber } = this.#window!;
    const row = upperBound(rowFirst, at) - 1;
    return rowNumber[row]! + at - rowFirst[row]!;
  }

  #inWindow(node: number): Int32Array {
    const { node: nodes, occurrence } = this.#window!;
    const ends: number[] = [];
    for (let at = nodes!.indexOf(node); at >= 0; at = nodes!.indexOf(node, at + 1)) ends.push(at);
    ends.sort((a, b) => (occurrence?.[a] ?? a) - (occurrence?.[b] ?? b));
    return Int32Array.from(ends, (at) => this.#numberOf(at));
  }

  #rank(): Map<number, number> {
    const { rankFirst, rankName } = this.columns;
    const codes = new Map<number, number>();
    rankFirst.forEach((slice, row) => {
      if (rankName[row]! >= 0 && !codes.has(slice)) codes.set(slice, rankName[row]!);
    });
    return codes;
  }

  #sortByNode(node: Int32Array): [offsets: Int32Array, slices: Int32Array] {
    const offsets = new Int32Array(this.columns.nodeNs.length + 1);
    for (const id of node) if (id >= 0) offsets[id + 1]!++;
    for (let id = 1; id < offsets.length; id++) offsets[id]! += offsets[id - 1]!;
    const next = offsets.slice();
    const slices = new Int32Array(offsets.at(-1)!);
    const source = this.#data!.source;
    if (source) this.#bySource ??= inverse(source);
    const bySource = this.#bySource;
    const last = bySource?.length ?? this.count;
    for (let i = 0; i < last; i++) {
      const slice = bySource ? bySource[i]! : i;
      const of = slice < 0 ? -1 : node[slice]!;
      if (of >= 0) slices[next[of]!++] = slice;
    }
    return [offsets, slices];
  }
}

/** True if slices of a row may be parents of those of another row of its track. */
function mayHold(outer: Row, inner: Row): boolean {
  if (outer.kind === RowKind.INSTANT) return false;
  if (inner.kind !== RowKind.NESTED) return true;
  return inner.depth === 0
    ? outer.kind === RowKind.OVERLAP
    : outer.kind === RowKind.NESTED && outer.depth === inner.depth - 1;
}

function inverse(source: Int32Array): Int32Array {
  let most = -1;
  for (const index of source) if (index > most) most = index;
  const places = new Int32Array(most + 1).fill(-1);
  for (let slice = 0; slice < source.length; slice++) places[source[slice]!] = slice;
  return places;
}
