/** Facts and statistics of stored tensors, as in `answers/counts.py`. */
import { type GraphColumns, type TensorColumns, TRUST_LABELS } from "../shared/client/answers.ts";
import type {
  Entry,
  ExactNumber,
  KnownLayout,
  Percentile,
  StatisticsAnswer,
  TensorStatistics,
} from "../shared/client/tensor_questions.ts";
import type { Columns } from "../shared/client/wire.ts";
import type { AxisKind } from "../shared/drawing/value_axis.ts";
import { tensorTitle } from "../shared/format.ts";
import { computedText, percentileText } from "../shared/number_text.ts";
import type { Question, StoredData } from "./stored_data.ts";

export interface LaneAxes {
  /** Empty for a type without lanes. */
  names: string[];
  /** True if the file lacks some lanes. */
  missing: boolean;
}

/** Axes of lanes, from a dtype such as `float32x4`, the declared shape and the shape of the values as read. */
function laneAxes(dtype: string, declared: number[], shape: number[]): LaneAxes {
  const isVector = !dtype.includes("xvscale") && /.x(\d+)$/.exec(dtype.replace("complex", "c"));
  const lanes = isVector ? Number(isVector[1]) : 1;
  if (lanes <= 1) return { names: [], missing: false };
  if (shape.length <= declared.length || shape[declared.length] !== lanes) {
    return { names: ["stored lane value"], missing: true };
  }
  const axes = declared.map((_, axis) => `axis ${axis}`);
  const byte = shape.length > declared.length + 1 ? ["byte"] : [];
  return { names: [...axes, "lane", ...byte], missing: false };
}

export interface TensorReading {
  row: number;
  variant: number;
  reading: string | null;
  shape: number[];
  dtype: string;
  drawn: boolean;
  /** True for complex values, which have no order. */
  unordered: boolean;
}

export class StoredFacts {
  readonly #list: TensorColumns;
  readonly #facts: Columns<"page facts">;
  readonly #variants: Columns<"page variants">;
  readonly #graph: GraphColumns | null;

  constructor(data: StoredData) {
    if (!data.has("tensors")) throw new Error("this run has no tensors");
    this.#list = data.columns<"tensors">("tensors");
    this.#facts = data.columns<"page facts">("facts");
    this.#variants = data.columns<"page variants">("variants");
    this.#graph = data.has("graph") ? data.columns<"graph">("graph") : null;
  }

  find(question: Question): TensorReading {
    const [node, output] = question.integers("entry", 2) as unknown as Entry;
    const row = this.#list.node.findIndex(
      (id, at) => id === node && this.#list.output[at] === output,
    );
    if (row < 0) throw new Error(`no tensor for node ${node}, output ${output}`);
    const known = this.readings(row);
    const requested = known.length ? question.choice("reading", known) : null;
    if (!known.length) question.text("reading");
    const { tensor, reading, shapeOffsets, shapeDims, applicable, dtype } = this.#variants;
    const first = tensor.indexOf(row);
    if (first < 0) throw new Error("the data of this page is damaged");
    let variant = requested === null ? first : -1;
    for (let at = first; variant < 0 && tensor[at] === row; at++) {
      if (reading.at(at) === requested) variant = at;
    }
    const shape = Array.from(
      shapeDims.subarray(shapeOffsets[variant]!, shapeOffsets[variant + 1]!),
    );
    const drawn = applicable[variant] === 1 && !shape.includes(0);
    const read = reading.at(variant) || null;
    const unordered = read === "complex" && !shape.includes(0);
    return { row, variant, reading: read, shape, dtype: dtype.at(variant), drawn, unordered };
  }

  readings(row: number): string[] {
    const { tensor, reading } = this.#variants;
    const sentences: string[] = [];
    for (let at = tensor.indexOf(row); tensor[at] === row; at++) sentences.push(reading.at(at));
    return sentences.filter((sentence) => sentence);
  }

  /** The variants of the real and imaginary parts of a variant of complex numbers. */
  parts(variant: number): number[] {
    const { tensor, reading } = this.#variants;
    const of = (name: string) =>
      tensor.findIndex((row, at) => row === tensor[variant] && reading.at(at) === name);
    return [of("real"), of("imag")];
  }

  layouts(row: number): KnownLayout[] {
    return JSON.parse(this.#facts.layouts.at(row) || "[]") as KnownLayout[];
  }

  /** Why a fact about the values is missing, and how to get it. */
  missing({ row }: TensorReading, what: string): string {
    const why = this.#facts.pageNotes.at(row) || "its values were not saved";
    return `not in this page: ${what} (${why}); open the dump, or ${this.#facts.remedies.at(row)}`;
  }

  axisNames({ row, shape }: TensorReading): string[] {
    const list = this.#list;
    const dims = list.shapeDims.subarray(list.shapeOffsets[row]!, list.shapeOffsets[row + 1]!);
    return laneAxes(list.dtypes.at(row), Array.from(dims), shape).names;
  }

  header({ row, reading, shape, dtype, unordered }: TensorReading): object {
    const [list, facts] = [this.#list, this.#facts];
    const dims = list.shapeDims.subarray(list.shapeOffsets[row]!, list.shapeOffsets[row + 1]!);
    const notes: string[] = [];
    for (let at = facts.noteOffsets[row]!; at < facts.noteOffsets[row + 1]!; at++) {
      notes.push(facts.notes.at(at));
    }
    const own = facts.pageNotes.at(row);
    return {
      entry: [list.node[row], list.output[row]],
      name: list.names.at(row),
      title: tensorTitle(this.#graph, list.names.at(row), list.node[row]!, list.output[row]!),
      key: facts.keys.at(row),
      dtype: list.dtypes.at(row),
      valueDtype: dtype,
      shape: Array.from(dims),
      nbytes: list.nbytes[row],
      offset: facts.offsets[row],
      file: facts.files.at(row),
      trust: TRUST_LABELS[list.trust[row]!],
      notes: own ? [...notes, own] : notes,
      missingLanes: laneAxes(list.dtypes.at(row), Array.from(dims), shape).missing,
      captured: facts.captured.at(row),
      readings: this.readings(row),
      reading,
      layouts: this.layouts(row),
      unordered,
      storedShape: shape,
    };
  }
}

const BINS = 64;

const COUNTS = [
  "size",
  "finite",
  "nan",
  "posInf",
  "negInf",
  "zero",
  "negative",
  "denormal",
] as const;
const PLACES = ["argmin", "argmax", "firstNan", "firstPosInf", "firstNegInf"] as const;
type StatisticName =
  | (typeof COUNTS)[number]
  | (typeof PLACES)[number]
  | "atLowest"
  | "atHighest"
  | "minimum"
  | "maximum"
  | "mean"
  | "std"
  | "lowest"
  | "highest";

/** Statistics without the distribution. */
export function storedStatistics(
  data: StoredData,
  { variant, shape, dtype }: TensorReading,
): StatisticsAnswer {
  const all = data.columns<"page variants">("variants");
  const total = shape.reduce((product, size) => product * size, 1);
  const [lowest, highest] = [all.lowest[variant]!, all.highest[variant]!];
  return {
    state: "exact",
    done: total,
    total,
    statistics: all.applicable[variant] ? numbersOf(all, variant, shape) : null,
    reason: all.reason.at(variant),
    histogram: histogramOf(all, variant),
    percentiles: percentilesOf(all, variant, dtype),
    robust: robustOf(all, variant),
    linear: Number.isNaN(all.linear[variant]!) ? null : all.linear[variant]!,
    scale: all.scale.at(variant) as AxisKind,
    crowd: all.crowd[variant]!,
    distribution: null,
    limits: Number.isNaN(lowest) ? null : [lowest, highest],
  };
}

function numbersOf(
  all: Columns<"page variants">,
  variant: number,
  shape: number[],
): TensorStatistics {
  const known = (name: StatisticName) => {
    const value = all[name][variant]!;
    return Number.isNaN(value) ? null : value;
  };
  const byName = <T>(names: readonly StatisticName[], make: (name: StatisticName) => T) =>
    Object.fromEntries(names.map((name) => [name, make(name)]));
  const float = (value: number) =>
    exactNumber(value, Number.isNaN(value) ? "none" : computedText(value));
  return {
    ...byName(COUNTS, (name) => all[name][variant]!),
    atLowest: known("atLowest"),
    atHighest: known("atHighest"),
    minimum: exactNumber(all.minimum[variant]!, all.minimumText.at(variant)),
    maximum: exactNumber(all.maximum[variant]!, all.maximumText.at(variant)),
    mean: float(all.mean[variant]!),
    std: float(all.std[variant]!),
    ...byName(PLACES, (name) => indexOf(known(name), shape)),
  } as unknown as TensorStatistics;
}

function histogramOf(
  all: Columns<"page variants">,
  variant: number,
): StatisticsAnswer["histogram"] {
  const { histogram, counts, first, last, uneven, edges, rounded } = all;
  const at = histogram[variant]!;
  if (at < 0) return null;
  const own = uneven[at]!;
  const length = BINS + 1;
  const step = (last[at]! - first[at]!) / BINS;
  return {
    counts: Array.from(counts.subarray(at * BINS, (at + 1) * BINS)),
    edges:
      own < 0
        ? Array.from({ length }, (_, i) => (i < BINS ? i * step + first[at]! : last[at]!))
        : Array.from(edges.subarray(own * length, (own + 1) * length)),
    exact: rounded[at] === 0,
  };
}

function robustOf(all: Columns<"page variants">, variant: number): StatisticsAnswer["robust"] {
  const at = all.robust[variant]!;
  if (at < 0) return null;
  const [first, past] = [all.robustOffsets[at]!, all.robustOffsets[at + 1]!];
  return {
    low: all.robustLow[at]!,
    high: all.robustHigh[at]!,
    beyond: all.beyond[at]!,
    histogram: {
      counts: Array.from(all.robustCounts.subarray(first, past - 1)),
      edges: Array.from(all.robustEdges.subarray(first, past)),
      exact: all.robustExact[at] === 1,
    },
  };
}

function percentilesOf(
  all: Columns<"page variants">,
  variant: number,
  dtype: string,
): Percentile[] {
  const { percentileOffsets: offsets, percents, low, high } = all;
  const number = (value: number) => exactNumber(value, percentileText(value, dtype));
  const percentiles: Percentile[] = [];
  const first = offsets[variant]!;
  for (let at = first; at < offsets[variant + 1]!; at++) {
    percentiles.push({
      percent: percents[at - first]!,
      low: number(low[at]!),
      high: number(high[at]!),
    });
  }
  return percentiles;
}

function exactNumber(value: number, text: string): ExactNumber {
  return { text, value: Number.isFinite(value) ? value : null };
}

/** A flat position, in C order, as an index; or null. */
function indexOf(flat: number | null, shape: number[]): number[] | null {
  if (flat === null) return null;
  let rest = flat;
  return shape
    .toReversed()
    .map((size) => {
      const at = rest % size;
      rest = Math.floor(rest / size);
      return at;
    })
    .reverse();
}
