/** Counts of a part of a plane, as in `answers/counts.py`. */
import type {
  ExactNumber,
  HistogramAnswer,
  RegionAnswer,
  RegionNumbers,
  RobustRange,
} from "../shared/client/tensor_questions.ts";
import type { AxisKind } from "../shared/drawing/value_axis.ts";
import { largest, smallest } from "../shared/many.ts";
import { computedText, numberText } from "../shared/number_text.ts";
import { isWide, type PlanePart, type StoredPicture } from "./stored_pictures.ts";
import type { StoredPlace } from "./stored_plane.ts";
import {
  binsOf,
  joined,
  numbersOf,
  type Scalars,
  type StoredNumbers,
  type ValueBins,
} from "./stored_scalars.ts";

const LEAST_COUNT = 100;
const [LOW, HIGH] = [0.01, 0.99];
const [FAR, NEAR] = [10, 1];
const BARS = 64;
const CROWDED = 0.8;
const [LINEAR, DECADES] = [0.1, 6];

type BinRange = readonly [low: number, high: number, beyond: number];

export interface Contrast {
  distribution: ValueBins;
  robust: RobustRange | null;
  linear: number | null;
  scale: AxisKind;
  crowd: number;
}

/** Null without finite values. */
function contrastOf(numbers: StoredNumbers, zeros: number): Contrast | null {
  const bins = apartOf(numbers, zeros);
  if (!bins) return null;
  const inner = robustRange(bins, zeros);
  const linear = linearZone(bins, zeros);
  const ends = inner ?? ([bins.low[0]!, bins.high.at(-1)!] as const);
  return {
    distribution: bins,
    robust: inner && robustOf(numbers, inner),
    linear,
    ...scaleOf(bins, zeros, ends, linear),
  };
}

/** The finite values in bins; integers in narrow ones if outliers would make them wide. */
export function apartOf(numbers: StoredNumbers, zeros: number): ValueBins | null {
  let bins = binsOf(numbers);
  let near = bins;
  while (bins && near?.wide) {
    const inner = robustRange(near, zeros);
    if (!inner) break;
    near = binsOf(numbers, inner);
    if (near) bins = joined(bins, near, numbers, inner);
  }
  return bins;
}

function robustRange(bins: ValueBins, zeros: number): BinRange | null {
  const { low, high } = bins;
  const count = withoutZeros(bins, zeros);
  const total = sum(count);
  if (total < LEAST_COUNT) return null;
  const start = low[rankAt(count, Math.ceil(LOW * (total - 1)))]!;
  const end = high[rankAt(count, Math.floor(HIGH * (total - 1)))]!;
  const width = end - start || Math.max(Math.abs(start), Math.abs(end));
  const under = start - low[0]! > FAR * width;
  const over = high.at(-1)! - end > FAR * width;
  if (!(under || over)) return null;
  const inside = Array.from(count.keys()).filter(
    (bin) =>
      count[bin]! > 0 &&
      !(under && low[bin]! < start - NEAR * width) &&
      !(over && high[bin]! > end + NEAR * width),
  );
  let [least, most] = [low[inside[0]!]!, high[inside.at(-1)!]!];
  if (zeros) [least, most] = [Math.min(least, 0), Math.max(most, 0)];
  const held = count.filter((_, bin) => low[bin]! >= least && high[bin]! <= most);
  return [least, most, total - sum(held)];
}

function robustOf(numbers: StoredNumbers, [low, high, beyond]: BinRange): RobustRange {
  const edges = numbers.whole ? wholeEdges(low, high) : equalEdges(low, high);
  return { low, high, beyond, histogram: histogramOf(numbers, edges, [low, high]) };
}

/** Histogram of a range with equal bins. */
function histogramOf(
  numbers: StoredNumbers,
  edges: number[],
  [low, high]: readonly [number, number],
): HistogramAnswer {
  const counts = edges.slice(1).map(() => 0);
  const [last, step] = [counts.length - 1, edges[1]! - edges[0]!];
  for (let at = 0; at < numbers.size; at += 1) {
    const value = numbers.value(at);
    if (!(value >= low && value <= high)) continue;
    let bin = Math.max(0, Math.min(last, Math.floor((value - edges[0]!) / step)));
    while (bin > 0 && value < edges[bin]!) bin -= 1;
    while (bin < last && value >= edges[bin + 1]!) bin += 1;
    counts[bin]! += 1;
  }
  return { counts, edges, exact: true };
}

/** The ends of 64 equal bins; a single value has half a unit on both sides. */
function equalEdges(low: number, high: number): number[] {
  const [first, last] = low === high ? [low - 0.5, high + 0.5] : [low, high];
  const step = last / BARS - first / BARS;
  return Array.from({ length: BARS + 1 }, (_, k) => (k < BARS ? first + k * step : last));
}

function wholeEdges(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(low) - 0.5, Math.floor(high) + 0.5];
  const step = Math.max(1, Math.ceil((last - first) / BARS));
  return Array.from({ length: Math.ceil((last - first) / step) + 1 }, (_, k) => first + k * step);
}

function linearZone(bins: ValueBins, zeros: number): number | null {
  const count = withoutZeros(bins, zeros);
  const size = (bin: number) => Math.max(Math.abs(bins.low[bin]!), Math.abs(bins.high[bin]!));
  const order = Array.from(count.keys()).sort((a, b) => size(a) - size(b));
  const counts = Float64Array.from(order, (bin) => count[bin]!);
  const total = sum(counts);
  if (!total) return null;
  const at = (share: number) => size(order[rankAt(counts, Math.floor(share * (total - 1)))]!);
  return Math.max(at(LINEAR), at(HIGH) / 10 ** DECADES);
}

function scaleOf(
  bins: ValueBins,
  zeros: number,
  ends: readonly number[],
  zone: number | null,
): Pick<Contrast, "scale" | "crowd"> {
  const all = withoutZeros(bins, zeros);
  const kept = Array.from(all.keys()).filter((bin) => all[bin]! > 0);
  const counts = Float64Array.from(kept, (bin) => all[bin]!);
  const middle = Float64Array.from(kept, (bin) => bins.low[bin]! / 2 + bins.high[bin]! / 2);
  if (sum(counts) < LEAST_COUNT || zone === null) return { scale: "linear", crowd: 0 };
  const crowd = fullest(middle, counts, ends[0]!, ends[1]!);
  if (crowd < CROWDED) return { scale: "linear", crowd };
  const scale = zeros || middle.some((value) => value <= 0) ? "symlog" : "log";
  const bent = middle.map((value) =>
    scale === "log" ? Math.log(value) : Math.sign(value) * Math.log1p(Math.abs(value) / zone),
  );
  const apart = fullest(bent, counts, smallest(bent), largest(bent)) < crowd / 2;
  return { scale: apart ? scale : "linear", crowd };
}

/** The largest share of the counts in one of equal bars. */
function fullest(values: Float64Array, counts: Float64Array, low: number, high: number): number {
  if (!(high > low)) return 1;
  const bars = new Float64Array(BARS);
  values.forEach((value, at) => {
    if (value < low || value > high) return;
    const share = (value / 2 - low / 2) / (high / 2 - low / 2);
    bars[Math.min(BARS - 1, Math.floor(share * BARS))]! += counts[at]!;
  });
  return largest(bars) / sum(counts);
}

function withoutZeros({ low, high, count }: ValueBins, zeros: number): Float64Array {
  let left = zeros;
  return count.map((values, bin) => {
    if (!(low[bin]! <= 0 && high[bin]! >= 0)) return values;
    const gone = Math.min(left, values);
    left -= gone;
    return values - gone;
  });
}

/** The bin of the value of a rank. */
function rankAt(counts: Float64Array, rank: number): number {
  let before = 0;
  return counts.findIndex((count) => {
    before += count;
    return before > rank;
  });
}

function sum(counts: Float64Array): number {
  return counts.reduce((total, count) => total + count, 0);
}

const NONE: ExactNumber = { text: "none", value: null };

/** Counts in which every value is read. */
export function region(
  scalars: Scalars,
  place: StoredPlace,
  part: PlanePart,
  limits: RegionAnswer["limits"],
): RegionAnswer {
  const [row, col, rows, cols] = part;
  const places = Float64Array.from({ length: rows * cols }, (_, at) => {
    const [down, across] = [row + Math.floor(at / cols), col + (at % cols)];
    return place.first + place.down[down]! + place.across[across]!;
  });
  const values = Float64Array.from(places, (at) => scalars.value(at));
  const many = (is: (value: number) => boolean) =>
    values.reduce((sum, value) => sum + +is(value), 0);
  const [nan, posInf, negInf] = [
    many(Number.isNaN),
    many((value) => value === Infinity),
    many((value) => value === -Infinity),
  ];
  const finite = values.filter(Number.isFinite);
  const [lowest, highest] = extremes(scalars, places);
  const number = (at: number): ExactNumber =>
    at < 0 ? NONE : { text: scalars.text(at), value: scalars.value(at) };
  const zero = many((value) => value === 0);
  const numbers = numbersOf(scalars, places.length, places);
  const adapted = contrastOf(numbers, zero);
  const { low, high } = adapted?.distribution ?? {};
  const ends = low && high && ([low[0]!, high.at(-1)!] as const);
  return {
    state: "exact",
    statistics: {
      ...{ size: places.length, finite: finite.length, nan, posInf, negInf, zero },
      negative: many((value) => value < 0),
      atLowest: limits && many((value) => value === limits[0]),
      atHighest: limits && many((value) => value === limits[1]),
      minimum: number(lowest),
      maximum: number(highest),
      mean: finite.length ? computedNumber(meanOf(finite)) : NONE,
    },
    histogram: ends ? histogramOf(numbers, equalEdges(...ends), ends) : null,
    robust: null,
    linear: null,
    scale: "linear",
    crowd: 0,
    distribution: null,
    ...adapted,
    limits,
    part,
    bounds: null,
    cells: null,
  };
}

/** Positions of the least and the largest finite value; -1 for none. */
function extremes(scalars: Scalars, places: Float64Array): [lowest: number, highest: number] {
  let [lowest, highest] = [-1, -1];
  for (const at of places) {
    if (!Number.isFinite(scalars.value(at))) continue;
    if (lowest < 0 || scalars.exact(at) < scalars.exact(lowest)) lowest = at;
    if (highest < 0 || scalars.exact(at) > scalars.exact(highest)) highest = at;
  }
  return [lowest, highest];
}

function meanOf(finite: Float64Array): number {
  const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
  if (Number.isFinite(mean)) return mean;
  return finite.reduce((sum, value) => sum + value / finite.length, 0);
}

function computedNumber(value: number): ExactNumber {
  return { text: computedText(value), value };
}

/** Bounds from the cells of a stored picture that the part touches, without counts. */
export function regionOfPicture({ grid, cells }: StoredPicture, part: PlanePart): RegionAnswer {
  const [row, col, rows, cols] = part;
  const touched = (start: number, length: number, first: number, step: number, most: number) => {
    const from = Math.max(0, Math.floor((start - first) / step));
    return [from, Math.min(most, Math.ceil((start + length - first) / step))] as const;
  };
  const [top, bottom] = touched(row, rows, grid.row, grid.rowStep, grid.rows);
  const [left, right] = touched(col, cols, grid.col, grid.colStep, grid.cols);
  let [low, high, total, weight, flags] = [Infinity, -Infinity, 0, 0, 0];
  for (let down = top; down < bottom; down += 1) {
    for (let across = left; across < right; across += 1) {
      const at = down * grid.cols + across;
      flags |= cells.flags[at]!;
      if (Number.isNaN(cells.minimum[at]!)) continue;
      const inside =
        shared(grid.row + down * grid.rowStep, grid.rowStep, row, rows) *
        shared(grid.col + across * grid.colStep, grid.colStep, col, cols);
      low = Math.min(low, cells.minimum[at]!);
      high = Math.max(high, cells.maximum[at]!);
      total += cells.mean[at]! * inside;
      weight += inside;
    }
  }
  const bound = (value: number): ExactNumber =>
    weight ? { text: numberText(value, isWide(cells) ? "float64" : "float32"), value } : NONE;
  const some = (bit: number) => (flags & bit ? null : 0);
  const bounds: RegionNumbers = {
    size: rows * cols,
    nan: some(1),
    posInf: some(2),
    negInf: some(4),
    zero: null,
    minimum: bound(low),
    maximum: bound(high),
    mean: weight ? computedNumber(total / weight) : NONE,
  };
  return {
    ...{ state: "exact", statistics: null, histogram: null, robust: null, linear: null },
    ...{ scale: "linear", crowd: 0, distribution: null, limits: null },
    ...{ part, bounds, cells: [grid.rowStep, grid.colStep] },
  };
}

/** Length of the intersection of two ranges. */
function shared(start: number, length: number, from: number, wanted: number): number {
  return Math.max(0, Math.min(start + length, from + wanted) - Math.max(start, from));
}
