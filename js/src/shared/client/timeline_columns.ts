/** The timeline of a run as columns; see `tvmdbg_widgets/answers/timeline.py`. */

import type { StringColumn } from "./columns.ts";
import type { Columns } from "./wire.ts";

export const RowKind = { NESTED: 0, OVERLAP: 1, INSTANT: 2 } as const;

/**
 * Slices [first, last) of each row side by side, in the order in which rows are drawn, by start. A null column has one
 * value for every slice, or follows from another column.
 */
export interface SliceColumns {
  start: Float64Array;
  /** Nanoseconds; integers if Uint32. */
  duration: Uint32Array | Float64Array;
  /** Time without the slices inside; null: equal to the duration (no nesting). */
  self: Uint32Array | Float64Array | null;
  /** -1 if unknown; null: unknown for every slice. */
  node: Int32Array | null;
  /** Set of `setOffsets` for slices that several nodes share; -1 for others. Null: there are none. */
  set: Int32Array | null;
  /** Row of `abouts`; null: no slice has further facts. */
  about: Int32Array | null;
  /** Row of `names`. */
  name: Uint16Array | Int32Array;
  /** Index in `run.timeline`; null: the slice's own number. */
  source: Int32Array | null;
  /** Null: `info.trust` of every slice. */
  trust: Uint8Array | null;
  role: Uint8Array | null;
  /** Distinct names that `name` indexes, with the op kind and the label ("": the name) of each. */
  names: StringColumn;
  nameKinds: StringColumn;
  nameLabels: StringColumn;
}

/** Rows of equal bins of time, one row after the other: bin `b` of row `r` is at `r * bins + b`. */
export type LodColumns = Pick<Columns<"timeline">, "lodBusy" | "lodSlice" | "lodNode" | "lodName">;

/** Columns of the first message: rows (R), tracks (T), times per node (N), and all of time in bins (B). */
export type TimelineHead = Columns<"timeline">;

export interface TimelineInfo {
  synthetic: boolean;
  clock: "synthetic" | "wall";
  /** Denominator of all shares: one execution without loading; null if nothing is timed. */
  totalNs: number | null;
  roundingNs: number;
  /** Number of names left out of the ranking: there are very many, and others take longer. */
  rowsLeft: number;
  sources: string[];
  notes: string[];
  /** By track: slices are nested; slices overlap without nesting. */
  nested: boolean[];
  overlapping: boolean[];
  words: TimelineWords;
  /** Number of drawn slices, and of those without a usable start or duration. */
  slices: number;
  unusable: number;
  first: number;
  last: number;
  /** Extent of each run by number, `trackRun`. */
  extents: [first: number, last: number][];
  /** The executions, without loading: what a view opens on; null for all. */
  opens: [from: number, to: number] | null;
  /** B; 0 if the slices came along and bins are not needed. */
  bins: number;
  whole: boolean;
  binsOnly: string | null;
  /** Largest number of bins per question. */
  mostBins: number;
  exact: boolean;
  /** How many of the first repeats are warm-up, why, and the totals of all repeats; see `model/timeline/warm_up.py`. */
  warmUp: { cut: number; why: string; totals: number[] };
  /** Trust of every slice, if all have the same. */
  trust: number | null;
  colors: { by: "kind" | "block" | "share"; kind: string; blocks: [kind: number, title: string][] };
  names: number;
  /** The graph tells modules of nodes. */
  modules: boolean;
  columns: Record<string, "u1" | "u2" | "u4" | "i4" | "f8">;
}

/** Columns of the first answer; `slices` if they came along. */
export interface TimelineColumns extends TimelineHead {
  slices: SliceColumns | null;
  info: TimelineInfo;
}

/** Words for the times, as in the figure; see `tvmdbg_widgets/model/timeline/words.py`. */
export interface TimelineWords {
  measured: "mean" | "call" | "sum";
  said: string;
  more: string;
  item: string;
  row: string;
  rows: string;
  time: string;
  together: string;
  shares: string;
  /** Name of a recorded execution; "" if none is recorded. */
  whole: string;
  order: string;
  noRepeats: string;
  byName: boolean;
  repeats: boolean;
  /** Notes on shares of parts, and on durations in sums of all time and of a range; "" for none. */
  partsOverlap: string;
  durations: string;
  durationsWithin: string;
}

export interface BinColumns extends LodColumns, Columns<"names"> {}

export interface WindowColumns extends SliceColumns {
  rowFirst: Int32Array;
  rowNumber: Int32Array;
  occurrence: Int32Array | null;
  parent: Int32Array;
}

/** A slice that may not be loaded. */
export interface SliceResult {
  slice: number;
  name: string;
  start: number;
  duration: number;
}

export interface FindQuestion {
  text: string;
  regex: boolean;
  /** Start of the search for the next and previous hit: a time in nanoseconds, and the slice that starts then. */
  at: number;
  slice?: number;
}

export interface FindAnswer {
  count: number;
  /** Sum of their self times. */
  selfNs: number;
  next: SliceResult | null;
  previous: SliceResult | null;
}

export const AREA_BY = [
  "node",
  "kind",
  "part",
  "group",
  "module",
  "device",
  "name",
  "callers",
] as const;

export type SumsBy = (typeof AREA_BY)[number] | "track";

/** A range of time; all of time without it. */
export interface RangeQuestion {
  from?: number;
  to?: number;
}

/** `most`: rows at the top. */
export interface SumsQuestion extends RangeQuestion {
  by: SumsBy;
  most?: number;
}

/** What a table of times says of all its rows. */
export interface SumsInfo {
  /** Self time of all work. */
  total: number;
  /** Slices of inputs and parameters that take no time, which are left out. */
  idle: number;
  /** Number of nodes that have a time but no slice. */
  alone: number;
  /** Rows share slices, so their times exceed the total. */
  overlap: boolean;
  /** Number of rows at the top, the first of which are here. */
  rows: number;
}

export interface SumsAnswer extends Columns<"sums"> {
  info: SumsInfo;
}

/** `track` or `row`: its slices alone. */
export interface AreaQuestion {
  from: number;
  to: number;
  by?: SumsBy;
  track?: number;
  row?: number;
}

/** Use of a track in a range within its run. */
export interface TrackArea {
  track: number;
  busy: number;
  gaps: number;
  idle: number;
  longestGap: number;
}

/** Sums of an area, as in `run.area`; null if unknown. */
export interface AreaInfo {
  /** Number of slices that touch the range, and of those without duration. */
  count: number;
  instants: number;
  /** Time in the range; nested slices count once. */
  sum: number;
  /** Durations of the slices inside the range, without those of no duration. */
  whole: {
    count: number;
    min: number | null;
    mean: number | null;
    p50: number | null;
    p90: number | null;
    max: number | null;
  };
  /** None for a synthetic timeline; all 0 for a track whose run does not reach into the range. */
  tracks: TrackArea[];
  /** Null if no grouping was asked for. */
  by: SumsInfo | null;
}

export interface AreaAnswer extends Columns<"area"> {
  info: AreaInfo;
}

export interface FlowColumns extends Columns<"flows"> {
  info: { count: number; unjoined: number };
}

export interface MergedColumns extends Columns<"merged"> {
  info: {
    /** What a path is made of. */
    said: string;
    /** Sum of the totals at the top. */
    whole: number;
    /** Number of places, also of small ones that are left out. */
    paths: number;
  };
}

/** Values along the timeline: memory in use, counters of a trace. A value holds until the next one. */
export interface CounterColumns extends Columns<"counters"> {
  info: {
    /** Why memory is missing and how to get it; "" if it is here. */
    missing: string;
    /** Number of all values if only the extremes of short stretches were sent; else 0. */
    thinned: number;
    /** Counters that were not sent. */
    leftOut: number;
  };
}

export interface RepeatsColumns extends Columns<"repeats"> {
  info: {
    /** Number of rows and of columns of the whole matrix. */
    rows: number;
    repeats: number;
    /** Rows are slices of one name, not repeats of a measurement. */
    ofSlices: boolean;
    /** Number of the first repeats that are warm-up, and why. */
    warm: number;
    why: string;
    /** Sum of the medians. */
    folded: number;
    said: string;
    foldedSaid: string[];
  };
}
