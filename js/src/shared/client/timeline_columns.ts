/** The timeline of a run as columns; see `tvmdbg_widgets/answers/timeline.py`. */

import type { StringColumn } from "./columns.ts";
import type { Columns } from "./wire.ts";

export const RowKind = { NESTED: 0, OVERLAP: 1, INSTANT: 2 } as const;

/**
 * Slices [first, last) of each row side by side, in the order in which rows are drawn, by start.
 *
 * What is null is the same for every slice, or follows from another column.
 */
export interface SliceColumns {
  start: Float64Array;
  /** Nanoseconds; whole where they are Uint32. */
  duration: Uint32Array | Float64Array;
  /** Time without the slices inside; null: the duration (nothing lies inside another). */
  self: Uint32Array | Float64Array | null;
  /** -1 where unknown; null: of no slice known. */
  node: Int32Array | null;
  /** Of slices that several nodes share: which of the sets of `setOffsets`; -1 for others. Null: there are none. */
  set: Int32Array | null;
  /** Row of `abouts`; null: nothing is told of slices. */
  about: Int32Array | null;
  /** Row of `names`. */
  name: Uint16Array | Int32Array;
  /** Index in `run.timeline`; null: the slice's own number. */
  source: Int32Array | null;
  /** Null: `info.trust` of every slice. */
  trust: Uint8Array | null;
  role: Uint8Array | null;
  /**
   * Every name that `name` speaks of, once, the op kind of each, its operators (lines; "": itself alone), and what it
   * reads ("": itself).
   */
  names: StringColumn;
  nameKinds: StringColumn;
  nameParts: StringColumn;
  nameLabels: StringColumn;
}

/** Rows of equal bins of time, one row after the other: bin `b` of row `r` is at `r * bins + b`. */
export type LodColumns = Pick<Columns<"timeline">, "lodBusy" | "lodSlice" | "lodNode" | "lodName">;

/** What the first message tells: rows (R), tracks (T), times per node (N), and the whole of time in bins (B). */
export type TimelineHead = Columns<"timeline">;

export interface TimelineInfo {
  synthetic: boolean;
  clock: "synthetic" | "wall";
  /** What every share is of: one execution, without loading; null where nothing is timed. */
  totalNs: number | null;
  roundingNs: number;
  /** Names of slices that are not ranked: there are very many, and others take longer. */
  rowsLeft: number;
  sources: string[];
  notes: string[];
  /** By track: slices lie inside others; share time without lying inside each other. */
  nested: boolean[];
  overlapping: boolean[];
  words: TimelineWords;
  /** Slices that are drawn, and those whose start or duration is no usable number. */
  slices: number;
  unusable: number;
  first: number;
  last: number;
  /** The same of each run by number, `trackRun`. */
  extents: [first: number, last: number][];
  /** B; 0 where the slices came along and bins are not needed. */
  bins: number;
  whole: boolean;
  binsOnly: string | null;
  /** Bins that one question may ask for. */
  mostBins: number;
  exact: boolean;
  /** How many of the first repeats are warm-up, why, and the totals of all repeats; see `model/timeline/warm_up.py`. */
  warmUp: { cut: number; why: string; totals: number[] };
  /** Of every slice, where all are alike. */
  trust: number | null;
  colors: { by: "kind" | "block" | "share"; kind: string; blocks: [kind: number, title: string][] };
  /** Number of distinct names. */
  names: number;
  columns: Record<string, "u1" | "u2" | "u4" | "i4" | "f8">;
  /** By how many repeats there are: Student's t of 95 % of means of so many. */
  studentT: Record<string, number>;
}

/** Everything of the first answer; `slices` where they came along. */
export interface TimelineColumns extends TimelineHead {
  slices: SliceColumns | null;
  info: TimelineInfo;
}

/** What the times are, in the words of the figure; see `tvmdbg_widgets/model/timeline/words.py`. */
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
  /** What an execution is called where it is recorded; "" elsewhere. */
  whole: string;
  order: string;
  noRepeats: string;
  byName: boolean;
  repeats: boolean;
  /** Of shares of parts, and of durations in sums of all time and of a range; "": nothing to say. */
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

/** A slice where it is drawn. */
export interface FoundSlice {
  slice: number;
  source: number;
  row: number;
  track: number;
  node: number;
  occurrence: number;
  name: string;
  start: number;
  duration: number;
  self: number;
  trust: number;
  /** Number of the slice that it lies in, -1. */
  parent: number;
}

export interface FindQuestion {
  text: string;
  regex: boolean;
  /** From where the next and previous are sought: a time in nanoseconds, and the slice that starts then. */
  at: number;
  slice?: number;
  /** The range that the bins of `hits` share out; all of time where left out. */
  from?: number;
  to?: number;
  bins?: number;
}

export interface FindAnswer {
  count: number;
  /** Their self times together. */
  selfNs: number;
  next: FoundSlice | null;
  previous: FoundSlice | null;
  hits: Uint8Array;
  bins: number;
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

export interface AreaQuestion {
  from: number;
  to: number;
  by?: (typeof AREA_BY)[number];
}

/** As `run.area` tells it; what is unknown is null. */
export interface AreaAnswer {
  /** Slices that touch the range, and how many of them have no duration. */
  count: number;
  instants: number;
  /** Time in the range, what is nested once. */
  sum: number;
  /** Whole durations of the slices that lie in the range, those of no duration left out. */
  whole: {
    count: number;
    min: number | null;
    mean: number | null;
    p50: number | null;
    p90: number | null;
    max: number | null;
  };
  /** None of a synthetic timeline; of a track whose run does not reach into the range all are 0. */
  tracks: { track: number; busy: number; gaps: number; idle: number; longestGap: number }[];
  /** Where `by` was asked: the first of `rows`, largest first. */
  by: { label: string; nodes: number[]; count: number; sum: number; share: number | null }[];
  rows: number;
  /** The rows share slices, so that their sums are more than the whole. */
  overlap: boolean;
}

export interface FlowColumns extends Columns<"flows"> {
  info: { count: number; unjoined: number };
}
