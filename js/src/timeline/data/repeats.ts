import type { TimelineColumns } from "../../shared/client/run_client.ts";

/** The repeats of one node and their statistics, nanoseconds. */
export interface Repeats {
  /** In the order of the file. */
  ns: Float64Array;
  count: number;
  p10: number;
  p50: number;
  p90: number;
  sd: number;
  mean: number;
  /** 95 % confidence interval of the mean; NaN unknown. */
  low: number;
  high: number;
  noisy: boolean;
  /** How many of the first are warm-up. */
  warm: number;
}

/** null where no repeats are known, or a time is no mean of them. */
export function repeatsOf(columns: TimelineColumns, node: number): Repeats | null {
  const count = columns.nodeCount[node] ?? 0;
  if (!count || !columns.info.words.repeats) return null;
  return {
    ns: columns.repeats.subarray(columns.repeatsOffsets[node]!, columns.repeatsOffsets[node + 1]!),
    count,
    p10: columns.nodeP10[node]!,
    p50: columns.nodeP50[node]!,
    p90: columns.nodeP90[node]!,
    sd: columns.nodeSd[node]!,
    mean: columns.nodeNs[node]!,
    low: columns.nodeLow[node]!,
    high: columns.nodeHigh[node]!,
    warm: columns.info.warmUp.cut,
    noisy: columns.nodeNoisy[node] === 1,
  };
}
