// biome-ignore-all format: most of it is written by a program
/** Position of a graph's camera relative to a node: px of the graph right of and below the middle of its box. */
export interface CameraPlace {
  node: number;
  dx: number;
  dy: number;
  scale: number;
}

export type Bookmark = Record<string, unknown> & {
  camera?: CameraPlace | null | undefined;
  selected?: readonly number[] | undefined;
};

/** Steps as differences to the step before. */
export interface History {
  steps?: readonly Bookmark[];
  at?: number;
}

/** Part of a graph that alone is shown. */
export interface Isolation {
  kind: "upstream" | "downstream" | "around" | "path";
  nodes: number[];
  hops?: number | null;
}

export interface TourStep {
  text: string;
  nodes: number[];
  entry: [number, number] | null;
  slice: [number, number] | null;
  time_range: [number, number] | null;
  /** View that the step is about. */
  view: "findings" | "graph" | "tensor" | "timeline" | null;
}

// Written by tests/make/option_types.py from the options that Python declares.
/** What a graph is colored by without asking for a column. */
export const OWN_COLORS: readonly string[] = ["kind", "time", "health", "dtype", "device", "storage", "bytes"];

export interface GraphOptions {
  height: number;
  color_by: string;
  color_limits: [low: number, high: number] | null;
  label: string;
  fold_parameters: boolean;
  direction: "down" | "right";
  focus: number | string | null;
  hops: number | null;
  search: string;
  grouped: boolean;
  open_groups: readonly number[] | null;
  wrapped: boolean | null;
  group: number | null;
  isolate: Isolation | null;
  hidden: readonly string[];
  camera: CameraPlace | null;
  history: History;
  bookmarks: Readonly<Record<string, Bookmark>>;
}

export interface TensorOptions {
  entry: [node: number, output: number] | null;
  axes: [down: number | null, across: number | null] | null;
  index: readonly number[] | null;
  color_scale: "auto" | "linear" | "log" | "symlog";
  color_map: "auto" | "sequential" | "diverging";
  color_range: "auto" | "tensor" | "plane" | "robust" | [low: number, high: number];
  data_layout: string | null;
  data_sizes: Record<string, number> | null;
  reading: string | null;
  along: number | null;
  cells: "mean" | "least" | "largest" | "extreme";
  region: [row: number, col: number, rows: number, cols: number] | null;
  marked_region: [row: number, col: number, rows: number, cols: number] | null;
  value_format: "number" | "hex" | "bits" | "dequantized";
  scale: number;
  zero_point: number;
  height: number;
  show: "heatmap" | "channels" | "line plot";
}

export interface TimelineOptions {
  height: number;
  show: "both" | "chart" | "table";
  chart: "time" | "merged" | "folded" | "repeats" | "roofline";
  table_by: "node" | "kind" | "part" | "group" | "module" | "device" | "name" | "callers" | "change";
  slice_color: "auto" | "kind" | "block" | "share" | "change";
  critical: boolean;
  peak_flops: number | null;
  bandwidth: number | null;
  sort: "time" | "order";
  time_range: [start: number, end: number] | null;
}

export interface MemoryOptions {
  height: number;
  parameters: boolean;
  color_by: "kind" | "size";
  step_range: [start: number, end: number] | null;
}

export interface DebuggerOptions extends GraphOptions, TimelineOptions, Omit<TensorOptions, "show"> {
  layout_sizes: readonly number[];
  collapsed: readonly ("findings" | "graph" | "tensor" | "timeline")[];
  findings_folded: boolean;
  tensor_show: "heatmap" | "channels" | "line plot";
}

export interface ComparisonOptions {
  height: number;
  linked: boolean;
  kind: "only in A" | "only in B" | "fusion" | "operators" | "wiring" | "dtype" | "shape" | "attribute" | "device" | "storage" | "time" | null;
  color_by: "speed" | "time change" | "match" | "kind" | "time" | "health" | "dtype" | "device" | "storage" | "bytes";
  fold_parameters: boolean;
  direction: "down" | "right";
  grouped: boolean;
}

export interface TuningOptions {
  height: number;
  task: number | null;
  trial: number | null;
  along: "trial" | "time";
  trial_range: [first: number, end: number] | null;
  query: string;
  pane: "schedule" | "tiles" | "errors" | "findings";
  sort: "time" | "gain" | "errors" | "task";
}

export interface SessionOptions {
  selected: readonly number[];
  entry: [node: number, output: number] | null;
  slice: [node: number, occurrence: number] | null;
  time_range: [start: number, end: number] | null;
  hovered: number | null;
  source: string;
  notes: Record<string, string>;
  tour: readonly TourStep[];
  tour_step: number | null;
}
