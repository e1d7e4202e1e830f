/** The statistics of one tensor, as `answers/counts.py` answers them. */

import type {
  ExactNumber,
  Percentile,
  StatisticsAnswer,
  TensorStatistics,
} from "../../shared/client/tensor_questions.ts";
import type { Columns } from "../../shared/client/wire.ts";
import type { AxisKind } from "../../shared/drawing/value_axis.ts";
import { computedText, percentileText } from "../../shared/number_text.ts";
import type { StoredData } from "./data.ts";
import type { Found } from "./facts.ts";

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
type Numbers =
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

/** All but the distribution. */
export function storedStatistics(
  data: StoredData,
  { variant, shape, dtype }: Found,
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
  const known = (name: Numbers) => {
    const value = all[name][variant]!;
    return Number.isNaN(value) ? null : value;
  };
  const each = <T>(names: readonly Numbers[], make: (name: Numbers) => T) =>
    Object.fromEntries(names.map((name) => [name, make(name)]));
  const float = (value: number) =>
    exactNumber(value, Number.isNaN(value) ? "none" : computedText(value));
  return {
    ...each(COUNTS, (name) => all[name][variant]!),
    atLowest: known("atLowest"),
    atHighest: known("atHighest"),
    minimum: exactNumber(all.minimum[variant]!, all.minimumText.at(variant)),
    maximum: exactNumber(all.maximum[variant]!, all.maximumText.at(variant)),
    mean: float(all.mean[variant]!),
    std: float(all.std[variant]!),
    ...each(PLACES, (name) => indexOf(known(name), shape)),
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
  const found: Percentile[] = [];
  const first = offsets[variant]!;
  for (let at = first; at < offsets[variant + 1]!; at++) {
    found.push({
      percent: percents[at - first]!,
      low: number(low[at]!),
      high: number(high[at]!),
    });
  }
  return found;
}

function exactNumber(value: number, text: string): ExactNumber {
  return { text, value: Number.isFinite(value) ? value : null };
}

/** A flat position, in C order, as an index; null where there is none. */
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
