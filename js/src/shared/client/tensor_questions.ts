import type { AxisKind } from "../drawing/value_axis.ts";
import type { Columns } from "./wire.ts";

/** Questions about one tensor and their answers; `tvmdbg_widgets/answers/tensor` replies. */

/** One output of one node. */
export type Entry = readonly [node: number, output: number];

/** A number with the text that is exact in the tensor's own dtype; `value` is null if it is not finite. */
export interface ExactNumber {
  text: string;
  value: number | null;
}

/** Interpretation of the stored bytes. */
export interface TensorView {
  entry: Entry;
  /** One of the tensor's `readings`; null for the first. */
  reading: string | null;
  /** A layout to unfold ("NCHW8c"); null for the one the graph states, "" for the axes as stored. */
  layout: string | null;
  /** Logical sizes by letter that hide padding, {"C": 12}; other axes are shown in full. Null: the known ones. */
  sizes: Record<string, number> | null;
}

/** Two axes of a tensor; `down` is null for a vector or scalar. */
export interface PlaneView extends TensorView {
  /** Null or an index of another rank leaves the choice to the answer. */
  axes: readonly [down: number | null, across: number | null] | null;
  /** One index per axis; ignored for the shown axes. */
  index: readonly number[] | null;
}

export interface TensorRequest extends PlaneView {
  /** Requested part of the plane, in values; null for all of it. */
  part: readonly [row: number, col: number, rows: number, cols: number] | null;
  /** Largest numbers of rows and columns of cells; 0 for no picture. */
  rows: number;
  cols: number;
  /** Reads every value; otherwise a large part is sampled. */
  exact: boolean;
}

/** Layout with its source. */
export interface KnownLayout {
  layout: string;
  /** Logical sizes that hide its padding, if known. */
  sizes: Record<string, number>;
  /** "out_layout of node 4". */
  source: string;
  certainty: "stated" | "likely";
  /** Stored axes of every logical one, slowest first: {"N": [0], "C": [1, 4]}; null if the tensor cannot have them. */
  axes: Record<string, number[]> | null;
  /** As of the answer, along these axes. */
  along: number[];
}

export interface TensorAnswer {
  entry: Entry;
  name: string;
  /** Node and output: `conv2d + add #38:1`. */
  title: string;
  key: string;
  dtype: string;
  /** Dtype of the values under the reading: float32 for the magnitudes of complex64. */
  valueDtype: string;
  shape: number[];
  nbytes: number;
  offset: number;
  file: string;
  trust: string;
  notes: string[];
  /** The file lacks lanes of a vector type, so the whole tensor has no statistics. */
  missingLanes: boolean;
  captured: "node" | "later" | "file" | "unknown";
  /** Readings of a dtype whose bytes are ambiguous; else empty. */
  readings: string[];
  reading: string | null;
  /** Best first. */
  layouts: KnownLayout[];
  /** Unfolded layout; "" for the axes as stored. */
  layout: string;
  sizes: Record<string, number>;
  /** Shape that `axes` and `index` refer to. */
  viewShape: number[];
  /** One letter per axis of `viewShape` if a layout names them; else empty. */
  axisNames: string[];
  /** Axes for a profile or for channels, best first, whatever padding is hidden. */
  along: number[];
  /** Stored axes of every axis of `viewShape`, slowest first. */
  storedAxes: number[][];
  /** Shape of the stored values under the reading. */
  storedShape: number[];
  axes: [number | null, number | null];
  index: number[];
  /** Neighboring planes are cheap enough to be fetched ahead. */
  cheap?: boolean;
  /** Why the plane cannot be read; earlier statistics stay valid. */
  trouble?: string;
  /** The same for a figure: its file by name alone. */
  unread?: string;
  /** Why single values are not told: they are private. */
  withheld?: string;
  /** Values can be read one by one though no picture shows them: complex numbers. */
  unordered?: boolean;
  tile: Tile | null;
}

/** Cells of `rowStep` x `colStep` values of a plane of `planeRows` x `planeCols`. */
interface PlaneCells extends Cells {
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
  planeRows: number;
  planeCols: number;
}

/** Cells from (`row`, `col`) on. */
export interface Tile extends PlaneCells {
  row: number;
  col: number;
  exact: boolean;
}

/** float64 if the values are; one kind per answer. */
export type Floats = Float32Array | Float64Array;

export interface Cells {
  minimum: Floats;
  maximum: Floats;
  mean: Floats;
  /** Per cell: bit 0 NaN, bit 1 +Inf, bit 2 -Inf inside. */
  flags: Uint8Array;
}

export interface StatisticsRequest {
  entry: Entry;
  reading: string | null;
  /** Begins or resumes the pass over every value. */
  exact: boolean;
}

/** Counts, bounds and moments; indices are those of `storedShape`. */
export interface TensorStatistics {
  size: number;
  finite: number;
  nan: number;
  posInf: number;
  negInf: number;
  zero: number;
  negative: number;
  denormal: number;
  atLowest: number | null;
  atHighest: number | null;
  minimum: ExactNumber;
  maximum: ExactNumber;
  mean: ExactNumber;
  std: ExactNumber;
  argmin: number[] | null;
  argmax: number[] | null;
  firstNan: number[] | null;
  firstPosInf: number[] | null;
  firstNegInf: number[] | null;
  /** NaN and infinities: those that occur first; of the others those that the dtype can hold. */
  specials: ("nan" | "posInf" | "negInf")[];
  /** Number of values at an end of an integer type. */
  atEnds: number;
  /** Not finite, saturated, finite, or no values. */
  verdict: "error" | "doubt" | "good" | "empty";
}

/** Bounds between which a percentile lies; equal where it is exact. */
export interface Percentile {
  percent: number;
  low: ExactNumber;
  high: ExactNumber;
}

export type Distribution = Columns<"distribution">;

/** Range of all but a few values; see `model/statistics/robust.py`. */
export interface RobustRange {
  low: number;
  high: number;
  /** Number of finite values outside of it. */
  beyond: number;
  /** Values inside of it, in equal bins. */
  histogram: HistogramAnswer;
}

/** Equal bins, by all edges or the first and last alone; not `exact` if values at a border may be in the bin beside it. */
export interface HistogramAnswer {
  counts: number[];
  edges: number[];
  exact: boolean;
}

/** Counts and bounds that a histogram needs. */
export type SpreadNumbers = Pick<
  TensorStatistics,
  | ("size" | "finite" | "nan" | "posInf" | "negInf" | "zero" | "negative")
  | ("atLowest" | "atHighest" | "minimum" | "maximum")
>;

export interface SpreadAnswer {
  /** "sampled": computed from a part of the values so far. */
  state: "exact" | "sampled" | "scanning" | "cancelled";
  /** Best numbers so far; null if the dtype has no order, or a page does not have the values. */
  statistics: SpreadNumbers | null;
  /** From the least to the largest finite value. */
  histogram: HistogramAnswer | null;
  /** Null unless a few outliers set the range. */
  robust: RobustRange | null;
  /** Magnitude below which a symlog scale is linear; null if no finite value differs from zero. */
  linear: number | null;
  /** Scale that separates the values best; see `model/statistics/contrast.py`. */
  scale: AxisKind;
  /** Largest share of the nonzero values in one bar of a linear histogram. */
  crowd: number;
  /** Null during the scan, and in pages without it. */
  distribution: Distribution | null;
  /** Lowest and highest finite value of the dtype; null if it has none. */
  limits: [low: number, high: number] | null;
}

export interface StatisticsAnswer extends SpreadAnswer {
  /** Number of values the pass has read. */
  done: number;
  total: number;
  statistics: TensorStatistics | null;
  /** Why the dtype has no statistics. */
  reason: string;
  percentiles: Percentile[];
}

export interface PercentilesRequest {
  entry: Entry;
  reading: string | null;
  percents: readonly number[];
}

export const VALUE_FORMATS = ["number", "hex", "bits", "dequantized"] as const;
export type ValueFormat = (typeof VALUE_FORMATS)[number];

export interface ValuesRequest extends PlaneView {
  row: number;
  col: number;
  rows: number;
  cols: number;
  format: ValueFormat;
  /** For "dequantized": (value - zeroPoint) * scale. */
  scale: number;
  zeroPoint: number;
}

export interface ValuesAnswer {
  row: number;
  col: number;
  rows: number;
  cols: number;
  /** Row by row, exact in the tensor's dtype. */
  text: string[];
  /** For "bits": widths of sign, exponent and mantissa; [] for other types than floats. */
  fields: number[];
  /** Details if one value alone was requested. */
  one?: OneValue;
}

export interface OneValue {
  number: string;
  hex: string;
  bits: string;
  fields: number[];
  /** Distance to the next value of the dtype away from zero; "" for integers, NaN and Inf. */
  spacing: string;
}

export interface ProfileRequest extends TensorView {
  axis: number;
  /** Largest number of points. */
  points: number;
}

/** Reduction over all other axes, for `step` indices of the axis at a time. */
export interface ProfileAnswer extends Cells {
  axis: number;
  length: number;
  step: number;
}

export interface ChannelsRequest extends PlaneView {
  /** Axis with one picture per index; none of the plane's own. */
  axis: number;
  first: number;
  count: number;
  /** Largest numbers of rows and columns of each picture. */
  rows: number;
  cols: number;
}

/** `count` pictures of `rows` x `cols` cells one after the other. */
export interface ChannelsAnswer extends PlaneCells {
  axis: number;
  first: number;
  count: number;
  length: number;
}

/** Part of a plane, in values, to be counted. */
export interface RegionRequest extends PlaneView {
  part: readonly [row: number, col: number, rows: number, cols: number];
}

/** Counts of a region; bounds and mean cover its finite values. */
export type RegionNumbers = SpreadNumbers & Pick<TensorStatistics, "mean">;

export interface RegionAnswer extends SpreadAnswer {
  statistics: RegionNumbers;
  /** Counted part, clipped to the plane. */
  part: [row: number, col: number, rows: number, cols: number];
}

export interface DataRequest extends PlaneView {
  row: number;
  rows: number;
  /** Column at which the first row continues, if it is longer than an answer may be; default 0. */
  col?: number;
}

/** Full rows, or `cols` values of one row from `col` on. */
export interface DataAnswer {
  row: number;
  rows: number;
  col: number;
  cols: number;
  /** numpy's name of the items' type, little endian: "<f4". */
  descr: string;
  /** Note if the items are wider than the tensor's own dtype, which numpy's files do not know. */
  note: string;
  bytes: DataView;
}

/** Head of every answer about the scan of a run's tensors, with the number of scanned ones. */
export interface ScanAnswer {
  state: "scanning" | "done" | "cancelled" | "none";
  done: number;
  total: number;
}

/** One row per entry, in execution order; see `tvmdbg_widgets/analysis/health_table.py`. */
export type HealthColumns = Columns<"health">;

export interface HealthAnswer extends HealthColumns, ScanAnswer {
  /** Fault of each entry in words; "" for one that is OK. */
  words: string[];
  /** Short form for a label: "59 Inf", "12 of 32 dead". */
  brief: string[];
  firstNan: number;
  firstNonfinite: number;
  /** Entry that the views open on: of the first error or warning that names one. */
  opens?: readonly [node: number, output: number] | null;
}
