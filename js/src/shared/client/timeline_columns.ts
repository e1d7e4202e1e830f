/** The timeline of a run as columns; see `tvmdbg_widgets/answers/timeline.py`. */
import type { StringColumn } from "./columns.ts";

/** Slices of a row lie side by side; overlaps are on rows of their own, and so are slices of no duration. */
export const RowKind = { NESTED: 0, OVERLAP: 1, INSTANT: 2 } as const;
/** Bins of one tile. */
export const TILE_BINS = 512;

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
export interface LodColumns {
  /** Busy time over the bin's time. */
  lodBusy: Float32Array;
  /** Number of the slice that takes most of the bin (ties: the first), -1 where idle; of instants the first. */
  lodSlice: Int32Array;
  /** Its node and its name; -1 unknown. */
  lodNode: Int32Array;
  lodName: Int32Array;
}

/** What the first message tells: rows (R), tracks (T), times per node (N), and the whole of time in bins (B). */
export interface TimelineHead extends LodColumns {
  tracks: StringColumn;
  /** Of two runs compared: whose the track is; else 0. */
  trackRun: Int32Array;
  trackDevice: StringColumn;
  trackThread: StringColumn;
  /** Row `r` holds slices `rowFirst[r]` to `rowFirst[r + 1] - 1`. */
  rowFirst: Int32Array;
  rowTrack: Int32Array;
  rowDepth: Int32Array;
  rowKind: Uint8Array;
  /** Distinct names: of very many, those that most bins show. */
  names: StringColumn;
  nameKinds: StringColumn;
  nameParts: StringColumn;
  nameLabels: StringColumn;
  /** The same of the distinct functions of the graph. */
  functionParts: StringColumn;
  /**
   * Where the slices did not come along: by name, those whose node is unknown (of the first of two runs). Their
   * number and first one, their own time together, and that with the slices inside them. Nothing of very many names.
   */
  sumName?: Int32Array;
  sumSlice?: Int32Array;
  sumCount?: Int32Array;
  sumSelf?: Float64Array;
  sumWithin?: Float64Array;
  /** Nodes of set `s` of `SliceColumns.set`, `setOffsets[s]` to `setOffsets[s + 1] - 1`, and the time that is theirs together. */
  setOffsets?: Int32Array;
  setNodes?: Int32Array;
  setNs?: Float64Array;
  /** What the source tells of slices: lines of a name, a tab and a text. */
  abouts?: StringColumn;
  repeatsOffsets: Int32Array;
  repeats: Float64Array;
  nodeNs: Float64Array;
  nodeTrust: Uint8Array;
  /** Kind of the outermost block around each node, -1 for none; empty where there is no graph. */
  nodeBlock: Int32Array;
  nodeCount: Int32Array;
  nodeMinimum: Float64Array;
  nodeP10: Float64Array;
  nodeP50: Float64Array;
  nodeP90: Float64Array;
  nodeMaximum: Float64Array;
  nodeSd: Float64Array;
  nodeNoisy: Uint8Array;
  /** 95 % confidence interval of the mean; NaN where unknown. */
  nodeLow: Float64Array;
  nodeHigh: Float64Array;
}

export interface TimelineInfo {
  synthetic: boolean;
  clock: "synthetic" | "wall";
  /** Null where no node's time is known. */
  totalNs: number | null;
  sources: string[];
  notes: string[];
  /** By track: slices lie inside others; share time without lying inside each other. */
  nested: boolean[];
  overlapping: boolean[];
  words: TimelineWords;
  /** Slices that are drawn, and those whose start or duration is no usable number. */
  slices: number;
  unusable: number;
  /** First start and last end of what is drawn; both 0 without slices. */
  first: number;
  last: number;
  /** The same of each run by number, `trackRun`. */
  extents: [first: number, last: number][];
  /** B; 0 where the slices came along and bins are not needed. */
  bins: number;
  /** The page may hold every slice: they came along, or `slices` brings them. Else `tiles` and `window` do. */
  whole: boolean;
  /** Why the bins are all there is and nothing else is answered (a page saved with little room); else null. */
  binsOnly: string | null;
  /** Tiles that one question may ask for. */
  tiles: number;
  /** Every start and duration is a whole number of nanoseconds. */
  exact: boolean;
  /** How many of the first repeats are warm-up, why, and the totals of all repeats; see `model/timeline/warm_up.py`. */
  warmUp: { cut: number; why: string; totals: number[] };
  /** Of every slice, where all are alike. */
  trust: number | null;
  /**
   * What slices are colored by where nobody has chosen; the op kind that takes nearly all of the time, or ""; and what
   * the blocks of a kind are called. See `analysis/timeline/slice_colors.py`.
   */
  colors: { by: "kind" | "block" | "share"; kind: string; blocks: [kind: number, title: string][] };
  /** Number of distinct names. */
  names: number;
  /** Columns of the slices by name: the kind of each; those that are not listed are null. */
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
  order: string;
  noRepeats: string;
  byName: boolean;
  repeats: boolean;
  /** Of shares of parts, and of durations in sums of all time and of a range; "": nothing to say. */
  partsOverlap: string;
  durations: string;
  durationsWithin: string;
}

/** Tiles [first, last) of `level`, all rows: bins of 2^level ns from 0 on, 512 a tile. */
export interface TileColumns extends LodColumns {
  names: StringColumn;
  nameKinds: StringColumn;
  nameLabels: StringColumn;
  info: { level: number; first: number; last: number; bins: number };
}

/** The slices that touch a range of time; numbered from 0 in the window. */
export interface WindowColumns extends SliceColumns {
  /** Row `r` holds slices `rowFirst[r]` to `rowFirst[r + 1] - 1` of the window. */
  rowFirst: Int32Array;
  /** Number among all slices of the first of each row. */
  rowNumber: Int32Array;
  /** Which slice of its node each is; null where no node is known. */
  occurrence: Int32Array | null;
  /** The slice of the window that each lies in; -1 where none does. */
  parent: Int32Array;
}

/** Too many slices for one answer. */
export interface WindowTooWide {
  count: number;
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
  /** 1 where a bin of a row holds a hit: bin `b` of row `r` is at `r * bins + b`. */
  hits: Uint8Array;
  bins: number;
}

export const AREA_BY = ["node", "kind", "part", "group", "device", "name", "callers"] as const;

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

/** Arrows between slices (A), by number, by the time they begin; the first of `info.count`. */
export interface FlowColumns {
  flowFrom: Int32Array;
  flowTo: Int32Array;
  flowNames: StringColumn;
  /** How many arrows there are, and events that lie in no slice or lack the other end. */
  info: { count: number; unjoined: number };
}
