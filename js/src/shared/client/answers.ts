import { type ColumnHeader, fields } from "./columns.ts";
import type {
  Cells,
  ChannelsAnswer,
  DataAnswer,
  Distribution,
  Entry,
  HealthAnswer,
  HealthColumns,
  Percentile,
  ProfileAnswer,
  RegionAnswer,
  SpreadAnswer,
  StatisticsAnswer,
  TensorAnswer,
  Tile,
  ValuesAnswer,
} from "./tensor_questions.ts";
import type {
  AreaAnswer,
  FindAnswer,
  FlowColumns,
  FoundSlice,
  TimelineInfo,
} from "./timeline_columns.ts";
import type { Columns, WIRE } from "./wire.ts";

/** A ranked statement about the run; see `tvmdbg_widgets/model/findings.py`. */
export interface Finding {
  rule: string;
  severity: "error" | "warning" | "hotspot" | "info";
  title: string;
  evidence: string[];
  confidence: "high" | "medium" | "low";
  /** What the confidence rests on. */
  why: string;
  nodes: number[];
  entries: [node: number, output: number][];
  next: string;
}

/** What is known so far, ranked; the first question starts the scan of the tensors. */
export interface FindingsAnswer {
  state: "scanning" | "done" | "cancelled" | "none";
  /** Tensors scanned, of how many. */
  done: number;
  total: number;
  findings: Finding[];
}

/** What a run holds, and for what it lacks how to get it. */
export interface RunSummary {
  title: string;
  graph: string | null;
  tensors: string | null;
  timeline: string | null;
  /** By part ("graph", "tensors", "timeline"): why it is missing and how to get it. */
  missing: Record<string, string>;
  issues: {
    severity: "error" | "warning" | "note";
    rule: string;
    message: string;
    nodes: number[];
  }[];
  provenance: string[];
}

/** Why there is none of a part, and how to get one. */
export interface Missing {
  missing: string;
}

/** Nodes (N), entries (E) and edges (M) of the graph; see `tvmdbg_widgets/model/graph/graph.py`. */
export interface GraphColumns extends Columns<"graph"> {
  info?: GraphInfo | null;
}

interface GraphInfo {
  /** What all times together are the time of: `in Method::execute`; "" without times. */
  together?: string;
  /** How many nodes are of each role, operators first: `27 operators`; and what telling inputs from parameters rests on. */
  held?: string[];
  roles?: string;
  devices: Record<string, string>;
  /** What of the graph its file has wrong, the first of so many. */
  wrong?: string[];
  wrongCount?: number;
}

/** What queries need beyond the graph; see `tvmdbg_widgets/analysis/view_columns.py`. */
export type FactColumns = Columns<"facts">;

/** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/planned.py`. */
export interface MemoryColumns extends Columns<"memory"> {
  info: {
    said: string[];
    /** Those of `said` that tell of a fault. */
    wrong: string[];
    allocated: number;
    parameters: number;
    /** What telling inputs from parameters rests on; empty where a file tells it. */
    roles?: string;
    /** How many buffers a program plans as a whole; 0 where each slot is memory of its own. */
    buffers: number;
    peak: number;
    peakNodes: number[];
    devices: Record<string, string>;
  };
}

/** The longest path through the graph by time; see `tvmdbg_widgets/analysis/timeline/longest_path.py`. */
export interface CriticalColumns extends Columns<"critical"> {
  info: {
    said: string[];
    length: number;
    total: number;
    /** Nothing ran beside anything else: the length is a lower bound. */
    sequential: boolean;
  };
}

export interface RooflineColumns extends Columns<"roofline"> {
  info: { convention: string };
}

/** What varies along the timeline: memory in use, counters of a trace. A value holds until the next one. */
export interface CounterColumns extends Columns<"counters"> {
  info: {
    /** Why memory is not among them and how to get it, "" where it is. */
    missing: string;
    /** How many values there are, where only the extremes of short stretches were sent; else 0. */
    thinned: number;
    /** Counters that were not sent. */
    leftOut: number;
  };
}

/** Numbers of a difference that rows by node and by op kind share; times in nanoseconds, NaN where unknown. */
export type ChangeRows = Pick<
  Columns<"change">,
  "label" | "nsA" | "nsB" | "p" | "q" | "shift" | "low" | "high" | "verdict" | "shown" | "why"
>;

/** The times of two runs compared, the largest difference first; see `tvmdbg_widgets/answers/timeline.py`. */
export interface ChangeColumns extends Columns<"change"> {
  info: {
    titles: [a: string, b: string];
    sentence: string;
    said: string[];
    verdicts: string[];
    matches: string[];
    /** What the times of each were counted in whole units of, ns: one of 0 is less. */
    roundings: [a: number, b: number];
    total: { a: number; b: number; verdict: number; why: string };
  };
}

export type TensorColumns = Columns<"tensors">;

export interface NodeDetails {
  id: number;
  name: string;
  funcName: string;
  kind: string;
  opKind: string;
  attrs: [name: string, value: string][];
  /** The first of `inputCount`; so of the outputs. */
  inputs: { node: number; output: number; name: string; text: string; trust: string }[];
  outputs: { output: number; text: string; consumers: { node: number; name: string }[] }[];
  inputCount?: number;
  outputCount?: number;
  times: [label: string, text: string][];
  notes: string[];
}

/** What is largest in the run; see `tvmdbg_widgets/analysis/opening.py`. */
export interface Highlight {
  label: string;
  about: string;
  name: string;
  value: string;
  nodes: number[];
  entry: Entry | null;
}

/** Columns that travel in the first buffer of an answer; which ones is in `wire.ts`. */
export interface Packed {
  columns: ColumnHeader[];
}

/** Columns, and what is told beside them. */
export interface ColumnsReply<Info> extends Packed {
  info: Info;
}

/** An answer of which some fields travel as columns. */
type Sent<Answer, Columns> = Omit<Answer, keyof Columns> & Packed;

/** An answer in which the distribution travels as columns. */
type WithDistribution<Answer extends SpreadAnswer> = Omit<Answer, "distribution"> & {
  distribution: Sent<Distribution, Distribution> | null;
};

/**
 * What a run answers to each kind of question, as it travels; a page without a kernel answers the same.
 *
 * Every answer of Python is held to it in tests (`tests/answer_schema.py`).
 */
export interface RunAnswers {
  /** In the first buffer, or as text. */
  code: string | null;
  summary: RunSummary;
  graph: ColumnsReply<GraphInfo> | null;
  facts: ColumnsReply<null> | null;
  tensors: ColumnsReply<null> | null;
  memory: ColumnsReply<MemoryColumns["info"]> | Missing | null;
  critical: ColumnsReply<CriticalColumns["info"]> | Missing | null;
  roofline: ColumnsReply<RooflineColumns["info"]> | Missing | null;
  counters: ColumnsReply<CounterColumns["info"]> | null;
  change: ColumnsReply<ChangeColumns["info"]> | null;
  node: NodeDetails;
  highlights: Highlight[];
  findings: FindingsAnswer;
  cancelFindings: FindingsAnswer;
  health: Sent<HealthAnswer, HealthColumns>;
  cancel: null;
  tensor: Omit<TensorAnswer, "tile"> & { tile: Sent<Tile, Cells> | null };
  statistics: WithDistribution<StatisticsAnswer>;
  cancelTensor: WithDistribution<StatisticsAnswer>;
  percentiles: Percentile[];
  values: ValuesAnswer;
  profile: Sent<ProfileAnswer, Cells>;
  channels: Sent<ChannelsAnswer, Cells>;
  data: Omit<DataAnswer, "bytes">;
  region: WithDistribution<RegionAnswer>;
  timeline: ColumnsReply<TimelineInfo> | null;
  slices: ColumnsReply<null>;
  names: ColumnsReply<null>;
  flows: ColumnsReply<FlowColumns["info"]> | null;
  /** `info`: bins of each row, where the slices are too many. */
  window: ColumnsReply<{ bins: number } | null>;
  area: AreaAnswer;
  sums: AreaAnswer;
  find: Sent<FindAnswer, Pick<FindAnswer, "hits">>;
  slice: FoundSlice | null;
}

/** The columns of an answer; Python saw that they are those of `WIRE`. */
export function columnsOf<Answer extends keyof typeof WIRE>(
  headers: readonly ColumnHeader[],
  buffers: readonly DataView[],
): Columns<Answer> {
  return fields(headers, buffers) as Columns<Answer>;
}
