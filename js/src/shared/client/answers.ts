import type { ColumnHeader } from "./columns.ts";
import type {
  Cells,
  ChannelsAnswer,
  ChannelsRequest,
  DataAnswer,
  DataRequest,
  Distribution,
  Entry,
  HealthAnswer,
  HealthColumns,
  KnownLayout,
  Percentile,
  PercentilesRequest,
  ProfileAnswer,
  ProfileRequest,
  RegionAnswer,
  RegionRequest,
  ScanAnswer,
  SpreadAnswer,
  StatisticsAnswer,
  StatisticsRequest,
  TensorAnswer,
  TensorRequest,
  TensorView,
  Tile,
  ValuesAnswer,
  ValuesRequest,
} from "./tensor_questions.ts";
import type {
  AREA_BY,
  AreaAnswer,
  AreaInfo,
  AreaQuestion,
  CounterColumns,
  FindAnswer,
  FindQuestion,
  FlowColumns,
  MergedColumns,
  RangeQuestion,
  RepeatsColumns,
  SumsAnswer,
  SumsInfo,
  SumsQuestion,
  TimelineHead,
  TimelineInfo,
} from "./timeline_columns.ts";
import type { Columns } from "./wire.ts";

export const NodeKind = { INPUT: 0, PARAMETER: 1, OPERATOR: 2, NOP: 3, COPY: 4 } as const;
export const NODE_KINDS = ["input", "parameter", "operator", "nop", "copy"];
export const Trust = { EXACT: 0, BY_ORDER: 1, BY_NAME: 2, AMBIGUOUS: 3, ABSENT: 4 } as const;
export const GroupSource = {
  REPEAT: 0,
  BLOCK: 1,
  SCOPE: 2,
  MODULE: 3,
  DELEGATE: 4,
  OPERATOR: 5,
} as const;
export const TRUST_LABELS = ["exact", "by order", "by name", "ambiguous", "absent"] as const;

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

/** Findings so far, ranked; the first question starts the scan of the tensors. */
export interface FindingsAnswer extends ScanAnswer {
  findings: Finding[];
}

/** Parts of a run, and a hint for each part that it lacks. */
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

/** Reason why a part is missing, and how to get it. */
export interface Missing {
  missing: string;
}

/** Nodes (N), entries (E) and edges (M) of the graph; see `tvmdbg_widgets/model/graph/graph.py`. */
export interface GraphColumns extends Columns<"graph"> {
  info?: GraphInfo | null;
}

interface GraphInfo {
  /** Scope of all times together (`in Method::execute`); "" without times. */
  together?: string;
  /** Number of nodes by role, operators first (`27 operators`), and how inputs were told from parameters. */
  held?: string[];
  roles?: string;
  /** Open groups of a condensed graph. */
  open?: number[];
  /** The column of `columnValues` or `columnCodes`. */
  column?: NodeColumnInfo | null;
  devices: Record<string, string>;
  /** The first faults of the graph file. */
  wrong?: string[];
  wrongCount?: number;
}

/** Columns that only queries need; see `tvmdbg_widgets/analysis/view_columns.py`. */
export type FactColumns = Columns<"facts">;

/** Steps (R), entries (E) and slots (S) of the memory plan; see `tvmdbg_widgets/analysis/memory/planned.py`. */
export interface MemoryColumns extends Columns<"memory"> {
  info: {
    said: string[];
    /** Items of `said` that report a fault. */
    wrong: string[];
    allocated: number;
    parameters: number;
    /** How inputs were told from parameters; empty if the file says so. */
    roles?: string;
    /** Number of buffers of a program's plan; 0 if each slot is memory of its own. */
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
    /** Nothing ran in parallel: the length is a lower bound. */
    sequential: boolean;
  };
}

export interface RooflineColumns extends Columns<"roofline"> {
  info: {
    convention: string;
    /** If asked for: sentences, why operators are not drawn, and facts about the first points. */
    said?: string[];
    notDrawn?: string[];
    points?: object[];
  };
}

/** A table of a figure: operators, or times by kind, group, …; see `tvmdbg_widgets/answers/time_tables.py`. */
export interface TableAnswer {
  /** Of operators: the number of timed slices and what they took together, and both of the operators. */
  detail: string;
  caption: string;
  /** How the rows were chosen and what their shares are of, or why there are none. */
  said: string;
  /** Before the name, of the name, time, share, and after the share ("": none). */
  heads: string[];
  rows: TableRow[];
  /** Sentences below the rows. */
  below: string[];
  /** For the description of the figure. */
  facts: Record<string, unknown>;
}

export interface TableRow {
  /** A number of the row, or its number of slices. */
  lead: string;
  /** -1 without a node. */
  node: number;
  label: string;
  kind: string;
  aside: string;
  time: string;
  share: string;
  /** Share of the longest row. */
  bar: number;
  more: string;
  facts: Record<string, unknown>;
}

/** Numbers of a difference, for rows by node and by op kind; times in nanoseconds, NaN if unknown. */
export type ChangeRows = Pick<
  Columns<"change">,
  "label" | "nsA" | "nsB" | "p" | "q" | "shift" | "low" | "high" | "verdict" | "shown" | "why"
>;

/** The times of two runs compared, the largest difference first; see `tvmdbg_widgets/answers/timeline.py`. */
export interface ChangeColumns extends Columns<"change"> {
  info: {
    /** Number of rows, also by verdict, if only some were asked for. */
    rows: number;
    counts: Record<string, number>;
    titles: [a: string, b: string];
    sentence: string;
    said: string[];
    verdicts: string[];
    matches: string[];
    /** Unit of the times of A and B, ns; a time of 0 is less than one unit. */
    roundings: [a: number, b: number];
    total: { a: number; b: number; verdict: number; why: string };
  };
}

/** Nodes that a query finds; which values are unknown, or why the query cannot be read. */
export interface MatchColumns extends Columns<"matches"> {
  info: { notes: string[]; problem: string };
}

export type TensorColumns = Columns<"tensors">;

export interface NodeDetails {
  id: number;
  name: string;
  funcName: string;
  kind: string;
  opKind: string;
  attrs: [name: string, value: string][];
  /** The first inputs of `inputCount`; likewise for outputs. */
  inputs: { node: number; output: number; name: string; text: string; trust: string }[];
  outputs: { output: number; text: string; consumers: { node: number; name: string }[] }[];
  inputCount?: number;
  outputCount?: number;
  times: [label: string, text: string][];
  notes: string[];
}

/** The largest item of its kind in the run; see `tvmdbg_widgets/analysis/opening.py`. */
export interface Highlight {
  label: string;
  about: string;
  name: string;
  value: string;
  nodes: number[];
  entry: Entry | null;
}

/** Columns in the first buffer of an answer; `wire.ts` lists them. */
export interface Packed {
  columns: ColumnHeader[];
}

/** Columns with further information. */
export interface ColumnsReply<Info> extends Packed {
  info: Info;
}

/** Answer with some fields sent as columns. */
type ColumnAnswer<Answer, Columns> = Omit<Answer, keyof Columns> & Packed;

/** See `NodeColumn` in `tvmdbg_widgets/model/graph/node_columns.py`. */
export interface NodeColumnInfo {
  of: "nodes" | "entries";
  unit: string;
  scale: "linear" | "log" | "symlog" | "diverging";
  range: readonly [low: number, high: number] | null;
  together: "largest" | "sum" | "mean" | "ratio";
  classes: readonly string[];
  ordered: boolean;
  hatched: number;
  /** Why values are unknown; may be empty. */
  note: string;
}

type WithDistribution<Answer extends SpreadAnswer> = Omit<Answer, "distribution"> & {
  distribution: ColumnAnswer<Distribution, Distribution> | null;
};

/**
 * Replies of a run by kind of question, as they travel; a page without a kernel gives the same. Tests check every
 * answer of Python against it (`tests/answer_schema.py`).
 */
export interface RunAnswers {
  /** In the first buffer, or as text. */
  code: string | null;
  summary: RunSummary;
  graph: ColumnsReply<GraphInfo> | null;
  facts: ColumnsReply<null> | null;
  nodeColumn: ColumnsReply<NodeColumnInfo>;
  matches: ColumnsReply<MatchColumns["info"]>;
  tensors: ColumnsReply<null> | null;
  memory: ColumnsReply<MemoryColumns["info"]> | Missing | null;
  critical: ColumnsReply<CriticalColumns["info"]> | Missing | null;
  roofline: ColumnsReply<RooflineColumns["info"]> | Missing | null;
  table: TableAnswer | null;
  merged: ColumnsReply<MergedColumns["info"]> | null;
  repeats: ColumnsReply<RepeatsColumns["info"]> | Missing | null;
  counters: ColumnsReply<CounterColumns["info"]> | null;
  change: ColumnsReply<ChangeColumns["info"]> | null;
  node: NodeDetails;
  highlights: Highlight[];
  findings: FindingsAnswer;
  cancelFindings: FindingsAnswer;
  health: ColumnAnswer<HealthAnswer, HealthColumns>;
  cancel: null;
  tensor: Omit<TensorAnswer, "tile"> & { tile: ColumnAnswer<Tile, Cells> | null };
  layout: KnownLayout;
  statistics: WithDistribution<StatisticsAnswer>;
  cancelTensor: WithDistribution<StatisticsAnswer>;
  percentiles: Percentile[];
  values: ValuesAnswer;
  profile: ColumnAnswer<ProfileAnswer, Cells>;
  channels: ColumnAnswer<ChannelsAnswer, Cells>;
  data: Omit<DataAnswer, "bytes">;
  region: WithDistribution<RegionAnswer>;
  timeline: ColumnsReply<TimelineInfo> | null;
  slices: ColumnsReply<null>;
  names: ColumnsReply<null>;
  flows: ColumnsReply<FlowColumns["info"]> | null;
  /** `info`: bins of each row if there are too many slices. */
  window: ColumnsReply<{ bins: number } | null>;
  area: ColumnsReply<AreaInfo>;
  sums: ColumnsReply<SumsInfo>;
  /** Null in a page with too many paths. */
  paths: ColumnsReply<null> | null;
  find: FindAnswer;
}

/** What a question of each kind says; kinds that are missing here say nothing. */
export interface RunQuestions {
  code: { view: string };
  /** Some nodes to be named; or a number of boxes (`analysis/condensed.py`), and one row for nodes of one color. */
  graph: {
    named?: readonly number[];
    most?: number;
    color?: string;
    limits?: readonly number[] | null;
    judged?: boolean;
    layouts?: boolean;
    number?: number;
    name?: string;
  };
  /** A column that the view was given, or one that Python computes from the run. */
  nodeColumn: { number: number } | { name: string };
  matches: { query: string };
  /** Number of ranked rows; the repeats are left out. */
  timeline: { longest?: number };
  /** Number of rows of the largest differences. */
  change: { longest?: number };
  table: { by: (typeof AREA_BY)[number]; most: number; inOrder?: boolean };
  /** A range of time, and the number of the largest places. */
  merged: { from?: number; to?: number; most?: number };
  /** Number of the slowest rows, if not all. */
  repeats: { most?: number };
  /** `told` asks for sentences and facts, under the ceilings. */
  roofline: { told?: boolean; flops?: number | null; bytes?: number | null };
  node: { node: number };
  /** `goOn` resumes a stopped scan. */
  findings: { goOn?: boolean };
  /** The first question begins the scan, `goOn` resumes a stopped one; `glance` begins no long scan. */
  health: { goOn?: boolean; glance?: boolean };
  tensor: TensorRequest;
  layout: TensorView;
  statistics: StatisticsRequest;
  cancelTensor: Pick<StatisticsRequest, "entry" | "reading">;
  percentiles: PercentilesRequest;
  values: ValuesRequest;
  profile: ProfileRequest;
  channels: ChannelsRequest;
  data: DataRequest;
  region: RegionRequest;
  slices: { first: number; last: number };
  names: { first: number };
  window: { from: number; to: number; bins?: number };
  area: AreaQuestion;
  sums: SumsQuestion;
  paths: RangeQuestion;
  find: FindQuestion;
}

/** Replies of a run as views read them (`client.ts`); null without the part of the run. */
export interface RunReplies {
  /** Compressed, or as text. */
  code: { bytes: DataView } | string;
  summary: RunSummary;
  graph: GraphColumns | null;
  facts: FactColumns | null;
  nodeColumn: Columns<"nodeColumn"> & { info: NodeColumnInfo };
  matches: MatchColumns;
  tensors: TensorColumns | null;
  memory: MemoryColumns | Missing | null;
  critical: CriticalColumns | Missing | null;
  roofline: RooflineColumns | Missing | null;
  table: TableAnswer | null;
  merged: MergedColumns | null;
  repeats: RepeatsColumns | Missing | null;
  counters: CounterColumns | null;
  /** Times of two runs shown as one; null for a single run. */
  change: ChangeColumns | null;
  node: NodeDetails;
  highlights: Highlight[];
  findings: FindingsAnswer;
  /** Stops the scan and keeps its results so far. */
  cancelFindings: FindingsAnswer;
  health: HealthAnswer;
  tensor: TensorAnswer;
  /** Axes of any layout; an error if the tensor cannot have it, or its sizes. */
  layout: KnownLayout;
  statistics: StatisticsAnswer;
  /** Stops the pass over a tensor, and the picture this client waits for. */
  cancelTensor: StatisticsAnswer;
  /** Exact percentiles, which take one more pass over the values. */
  percentiles: Percentile[];
  values: ValuesAnswer;
  profile: ProfileAnswer;
  channels: ChannelsAnswer;
  data: DataAnswer;
  region: RegionAnswer;
  timeline: (TimelineHead & { info: TimelineInfo }) | null;
  slices: Columns<"slices">;
  names: Columns<"names">;
  flows: FlowColumns | null;
  window: (Columns<"window"> & { info: null }) | (Columns<"bins"> & { info: { bins: number } });
  area: AreaAnswer;
  sums: SumsAnswer;
  paths: Columns<"paths"> | null;
  find: FindAnswer;
}
