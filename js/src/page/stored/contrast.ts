/** What adapts to values that the page holds, as `model/statistics/contrast.py` and `robust.py` find it. */

import type { Histogram, RobustRange } from "../../shared/client/tensor_questions.ts";
import type { AxisKind } from "../../shared/drawing/value_axis.ts";
import { largest, smallest } from "../../shared/many.ts";
import { type Bins, binsOf, joined, type Numbers } from "./distribution.ts";

const LEAST_COUNT = 100;
const [LOW, HIGH] = [0.01, 0.99];
const [FAR, NEAR] = [10, 1];
const BARS = 64;
const CROWDED = 0.8;
const [LINEAR, DECADES] = [0.1, 6];

type Range = readonly [low: number, high: number, beyond: number];

export interface Contrast {
  distribution: Bins;
  robust: RobustRange | null;
  linear: number | null;
  scale: AxisKind;
  crowd: number;
}

/** Null where none of the values is finite. */
export function contrastOf(numbers: Numbers, zeros: number): Contrast | null {
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

/** The finite values in bins; of integers with narrow ones where far values would make them wide. */
export function apartOf(numbers: Numbers, zeros: number): Bins | null {
  let found = binsOf(numbers);
  let near = found;
  while (found && near?.wide) {
    const inner = robustRange(near, zeros);
    if (!inner) break;
    near = binsOf(numbers, inner);
    if (near) found = joined(found, near, numbers, inner);
  }
  return found;
}

function robustRange(bins: Bins, zeros: number): Range | null {
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

function robustOf(numbers: Numbers, [low, high, beyond]: Range): RobustRange {
  const edges = numbers.whole ? wholeEdges(low, high) : equalEdges(low, high);
  return { low, high, beyond, histogram: histogramOf(numbers, edges, [low, high]) };
}

/** The values of a range between equal edges. */
export function histogramOf(
  numbers: Numbers,
  edges: number[],
  [low, high]: readonly [number, number],
): Histogram {
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

/** The ends of 64 equal bins; of one value a half to either side. */
export function equalEdges(low: number, high: number): number[] {
  const [first, last] = low === high ? [low - 0.5, high + 0.5] : [low, high];
  const step = last / BARS - first / BARS;
  return Array.from({ length: BARS + 1 }, (_, k) => (k < BARS ? first + k * step : last));
}

function wholeEdges(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(low) - 0.5, Math.floor(high) + 0.5];
  const step = Math.max(1, Math.ceil((last - first) / BARS));
  return Array.from({ length: Math.ceil((last - first) / step) + 1 }, (_, k) => first + k * step);
}

function linearZone(bins: Bins, zeros: number): number | null {
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
  bins: Bins,
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

function withoutZeros({ low, high, count }: Bins, zeros: number): Float64Array {
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
  return counts.reduce((total, each) => total + each, 0);
}
