import type { ColumnHeader } from "./columns.ts";
import type { FindingsAnswer } from "./findings.ts";
import type {
  ChangeColumns,
  CounterColumns,
  CriticalColumns,
  GraphInfo,
  Highlight,
  MemoryColumns,
  Missing,
  NodeDetails,
  RooflineColumns,
  RunSummary,
} from "./run_parts.ts";
import type {
  Cells,
  ChannelsAnswer,
  DataAnswer,
  Distribution,
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
type Spread<Answer extends SpreadAnswer> = Omit<Answer, "distribution"> & {
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
  statistics: Spread<StatisticsAnswer>;
  cancelTensor: Spread<StatisticsAnswer>;
  percentiles: Percentile[];
  values: ValuesAnswer;
  profile: Sent<ProfileAnswer, Cells>;
  channels: Sent<ChannelsAnswer, Cells>;
  data: Omit<DataAnswer, "bytes">;
  region: Spread<RegionAnswer>;
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
