import type { Distribution } from "../../shared/client/tensor_questions.ts";

/** How many values a bar holds: certain bounds, and the likely number between them. */
export interface Counted {
  least: number;
  most: number;
  likely: number;
}

/**
 * Counts the values of a distribution between ascending edges: [edge, next), the last bar closed.
 *
 * A bin on one side of an edge counts exactly; of one that an edge cuts, each bar may hold all or nothing, and likely
 * holds the share of the bin's width that lies inside.
 */
export function rebinned(distribution: Distribution, edges: ArrayLike<number>): Counted[] {
  const { low, high, count } = distribution;
  const last = edges.length - 2;
  const bars = Array.from({ length: Math.max(0, last + 1) }, () => ({
    least: 0,
    most: 0,
    likely: 0,
  }));
  if (last < 0) return bars;
  const end = edges[last + 1]!;
  let first = 0;
  for (let bin = 0; bin < count.length; bin += 1) {
    const [from, to, values] = [low[bin]!, high[bin]!, count[bin]!];
    if (to < edges[0]! || from > end || values === 0) continue;
    while (first < last && edges[first + 1]! <= from) first += 1;
    if (from >= edges[0]! && (first === last ? to <= end : to < edges[first + 1]!)) {
      const bar = bars[first]!;
      bar.least += values;
      bar.most += values;
      bar.likely += values;
      continue;
    }
    // The smallest numbers cannot be halved, and the width of the largest bins is not finite unless they are.
    const unit = Number.isFinite(to - from) ? 1 : 0.5;
    for (let k = first; k <= last && edges[k]! <= to; k += 1) {
      const inside = Math.min(to, edges[k + 1]!) * unit - Math.max(from, edges[k]!) * unit;
      bars[k]!.most += values;
      bars[k]!.likely += values * (Math.max(0, inside) / (to * unit - from * unit));
    }
  }
  return bars;
}

/** The distribution without its zeros, which may share bins with the numbers closest to zero. */
export function withoutZeros(distribution: Distribution, zeros: number): Distribution {
  const { low, high, count } = distribution;
  const holds = (bin: number) => low[bin]! <= 0 && high[bin]! >= 0;
  const first = low.findIndex((_, bin) => holds(bin));
  if (first < 0 || zeros === 0) return distribution;
  let past = first;
  let left = -zeros;
  for (; past < count.length && holds(past); past += 1) left += count[past]!;
  const kept = left > 0 ? 1 : 0;
  const joined = (column: Float64Array, value: number) => {
    const rest = new Float64Array(count.length - (past - first) + kept);
    rest.set(column.subarray(0, first));
    if (kept) rest[first] = value;
    rest.set(column.subarray(past), first + kept);
    return rest;
  };
  return {
    low: joined(low, low[first]!),
    high: joined(high, high[past - 1]!),
    count: joined(count, left),
  };
}
