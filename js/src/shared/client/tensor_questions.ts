import type { AxisKind } from "../drawing/value_axis.ts";
import type { Columns } from "./wire.ts";

/** What views ask of one tensor, and what they are told; `tvmdbg_widgets/answers/tensor` answers. */

/** One output of one node. */
export type Entry = readonly [node: number, output: number];

/** A number with the text that is exact in the tensor's own dtype; `value` is null where it is not finite. */
export interface ExactNumber {
  text: string;
  value: number | null;
}

/** How the stored bytes are to be understood. */
export interface TensorView {
  entry: Entry;
  /** One of the tensor's `readings`; null for the first. */
  reading: string | null;
  /** A layout to unfold ("NCHW8c"); null for the one the graph states, "" for the axes as stored. */
  layout: string | null;
  /** Logical sizes by letter that hide padding, {"C": 12}; an axis left out shows all of it. Null for those known. */
  sizes: Record<string, number> | null;
}

export type PlaneAxes = readonly [down: number | null, across: number | null];

/** Two axes of a tensor; `down` is null for a vector or scalar. */
export interface PlaneView extends TensorView {
  /** Null leaves the choice to the answer; so does an index of another rank. */
  axes: PlaneAxes | null;
  /** One index an axis; those of the shown axes are not looked at. */
  index: readonly number[] | null;
}

export interface TensorRequest extends PlaneView {
  /** The part of the plane that is wanted, in values; null for all of it. */
  part: readonly [row: number, col: number, rows: number, cols: number] | null;
  /** At most so many rows and columns of cells. */
  rows: number;
  cols: number;
  /** Whether every value must be looked at; a large part is sampled otherwise. */
  exact: boolean;
}

/** A layout that something tells of. */
export interface KnownLayout {
  layout: string;
  /** Logical sizes that hide its padding, where they are known. */
  sizes: Record<string, number>;
  /** "out_layout of node 4". */
  source: string;
  certainty: "stated" | "likely";
}

export interface TensorAnswer {
  entry: Entry;
  /** As the file calls it. */
  name: string;
  /** What its node is called, and which output it is: `conv2d + add #38:1`. */
  title: string;
  key: string;
  dtype: string;
  /** Of the values under the reading: float32 for the magnitudes of complex64. */
  valueDtype: string;
  shape: number[];
  nbytes: number;
  offset: number;
  file: string;
  trust: string;
  notes: string[];
  /** Whether the file lacks lanes of a vector type, so that nothing is said of the whole tensor. */
  missingLanes: boolean;
  captured: "node" | "later" | "file" | "unknown";
  /** The choices of a dtype whose bytes can be read in several ways; empty where there is but one. */
  readings: string[];
  reading: string | null;
  /** Best first. */
  layouts: KnownLayout[];
  /** The layout that is unfolded; "" where the axes are as stored. */
  layout: string;
  sizes: Record<string, number>;
  /** The shape that `axes` and `index` speak of. */
  viewShape: number[];
  /** A letter an axis of `viewShape` where a layout names them; else empty. */
  axisNames: string[];
  /** The shape of the values as stored, under the reading. */
  storedShape: number[];
  axes: [number | null, number | null];
  index: number[];
  /** Whether planes beside this one take so little that they may be asked for before they are wanted. */
  cheap?: boolean;
  /** Why the values of the plane cannot be read; what was counted of them before is still known. */
  trouble?: string;
  /** Whether the plane has values that can be read one by one though no picture shows them: complex ones. */
  unordered?: boolean;
  tile: Tile | null;
}

/** Cells of `rowStep` x `colStep` values from (`row`, `col`) of a plane of `planeRows` x `planeCols`. */
export interface Tile extends Cells {
  row: number;
  col: number;
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
  planeRows: number;
  planeCols: number;
  exact: boolean;
}

/** float64 where the values are, all alike in one answer. */
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
  /** Begin, or go on with, the pass over every value. */
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
}

/** Bounds between which a percentile lies; equal where it is exact. */
export interface Percentile {
  percent: number;
  low: ExactNumber;
  high: ExactNumber;
}

export type Distribution = Columns<"distribution">;

/** A part of the values' range that holds all but a few; `model/statistics/robust.py` says when there is one. */
export interface RobustRange {
  low: number;
  high: number;
  /** Finite values beside it. */
  beyond: number;
  /** Of the values between, in equal bins. */
  histogram: HistogramAnswer;
}

/** Equal bins; not `exact` where values at a border may lie beside it. */
export interface HistogramAnswer {
  counts: number[];
  edges: number[];
  exact: boolean;
}

/** Of counts and bounds what a histogram is made of. */
export type SpreadNumbers = Pick<
  TensorStatistics,
  | ("size" | "finite" | "nan" | "posInf" | "negInf" | "zero" | "negative")
  | ("atLowest" | "atHighest" | "minimum" | "maximum")
>;

export interface SpreadAnswer {
  /** "sampled": of a part of the values, until asked for all of them. */
  state: "exact" | "sampled" | "scanning" | "cancelled";
  /** The best that is known; null where the dtype has no order, or a page does not know the values. */
  statistics: SpreadNumbers | null;
  /** From the least to the largest finite value. */
  histogram: HistogramAnswer | null;
  /** Null where no few far values set the range. */
  robust: RobustRange | null;
  /** The magnitude below which a symlog scale is linear; null where nothing is finite, or not zero. */
  linear: number | null;
  /** The scale that tells the values apart; `model/statistics/contrast.py` says when it is not linear. */
  scale: AxisKind;
  /** The largest share of the values, without zeros, that one bar of a linear histogram holds. */
  crowd: number;
  /** Null while scanning, and in pages that do not hold it. */
  distribution: Distribution | null;
  /** Lowest and highest finite value of the dtype; null where it has none. */
  limits: [low: number, high: number] | null;
}

export interface StatisticsAnswer extends SpreadAnswer {
  /** Values looked at by the pass, of how many. */
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

export const VALUE_FORMATS = ["number", "hex", "bits", "dequantised"] as const;
export type ValueFormat = (typeof VALUE_FORMATS)[number];

export interface ValuesRequest extends PlaneView {
  row: number;
  col: number;
  rows: number;
  cols: number;
  format: ValueFormat;
  /** For "dequantised": (value - zeroPoint) * scale. */
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
  /** For "bits": how many bits of each text are sign, exponent and mantissa; [] where they are no float. */
  fields: number[];
  /** Where one value alone was asked for: all that there is to say of it. */
  one?: OneValue;
}

export interface OneValue {
  number: string;
  hex: string;
  bits: string;
  fields: number[];
  /** The step from here to the next value of the dtype away from zero; "" where it has none (integers, NaN, Inf). */
  spacing: string;
}

export interface ProfileRequest extends TensorView {
  axis: number;
  /** At most so many points. */
  points: number;
}

/** Over all other axes, for `step` indices of the axis at a time. */
export interface ProfileAnswer extends Cells {
  axis: number;
  length: number;
  step: number;
}

export interface ChannelsRequest extends PlaneView {
  /** The axis of which each index becomes a picture; none of the plane's own. */
  axis: number;
  first: number;
  count: number;
  /** At most so many cells each. */
  rows: number;
  cols: number;
}

/** `count` pictures of `rows` x `cols` cells one after the other. */
export interface ChannelsAnswer extends Cells {
  axis: number;
  first: number;
  count: number;
  length: number;
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
  planeRows: number;
  planeCols: number;
}

/** A part of a plane, in values, whose values are counted. */
export interface RegionRequest extends PlaneView {
  part: readonly [row: number, col: number, rows: number, cols: number];
}

/** Counts of a region; bounds and mean are of its finite values. */
export interface RegionNumbers {
  size: number;
  /** Null where a page knows of some, but not how many. */
  nan: number | null;
  posInf: number | null;
  negInf: number | null;
  zero: number | null;
  minimum: ExactNumber;
  maximum: ExactNumber;
  mean: ExactNumber;
}

export interface RegionAnswer extends SpreadAnswer {
  statistics: (SpreadNumbers & RegionNumbers) | null;
  /** The part that was counted: no more than the plane has. */
  part: [row: number, col: number, rows: number, cols: number];
  /** What a page tells in place of statistics where it does not know the values; else null. */
  bounds: RegionNumbers | null;
  /** Values per cell of the stored picture that these bounds come from; null if every value was read. */
  cells: [rowStep: number, colStep: number] | null;
}

export interface DataRequest extends PlaneView {
  row: number;
  rows: number;
  /** Where the first row goes on, if it is longer than an answer may be; 0 where left out. */
  col?: number;
}

/** Whole rows, or `cols` values of one from `col` on. */
export interface DataAnswer {
  row: number;
  rows: number;
  col: number;
  cols: number;
  /** numpy's name of the items' type, little endian: "<f4". */
  descr: string;
  /** Says so where the items are wider than the tensor's own dtype, which numpy's files do not know. */
  note: string;
  bytes: DataView;
}

/** One row an entry, in execution order; see `tvmdbg_widgets/analysis/health_table.py`. */
export type HealthColumns = Columns<"health">;

export interface HealthAnswer extends HealthColumns {
  state: "scanning" | "done" | "cancelled" | "none";
  done: number;
  total: number;
  /** What is wrong with an entry in words, a row each; "" for one that is OK. */
  words: string[];
  /** The same for a label: "59 Inf", "12 of 32 dead". */
  brief: string[];
  firstNan: number;
  firstNonfinite: number;
}
