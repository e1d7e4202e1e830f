import type { Slices } from "../data/slices.ts";
import { type Range, type Sums, sumsBy } from "./aggregate.ts";
import type { Operators } from "./frames.ts";

/** Slices summed up by operator; nodes that have a time and no slice with that time, where all time is asked for. */
export function operatorSums(slices: Slices, operators: Operators, range: Range | null): Sums {
  const sums = sumsBy(slices, range, operators.size, (slice) => operators.of(slice));
  if (range) return sums;
  slices.columns.nodeNs.forEach((ns, node) => {
    if (!sums.count[node] && ns > 0) sums.self[node] = ns;
  });
  return sums;
}
