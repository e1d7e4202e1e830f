import { percentiles } from "../data/quantiles.ts";
import type { Slices } from "../data/slices.ts";

/** How surely the time of nodes together in one repeat is known. */
export interface Confidence {
  /** 95 % confidence interval of the mean; NaN unknown. */
  low: number;
  high: number;
  noisy: boolean;
  repeats: number;
}

const UNKNOWN: Confidence = { low: Number.NaN, high: Number.NaN, noisy: false, repeats: 0 };
const NOISY_RATIO = 1.2;
const NOISY_REPEATS = 5;

/**
 * From the sums of the nodes' repeats, paired by their number; not known where not every node has the same two or more.
 * Nodes that take no time and have no repeats, as inputs and parameters, do not matter.
 */
export function confidence({ columns }: Slices, nodes: readonly number[]): Confidence {
  const { repeatsOffsets, repeats, nodeNs, info } = columns;
  const count = (node: number) => repeatsOffsets[node + 1]! - repeatsOffsets[node]!;
  const timed = nodes.filter((node) => count(node) > 0 || nodeNs[node] !== 0);
  const size = timed.length ? count(timed[0]!) : 0;
  if (size < 2 || timed.some((node) => count(node) !== size)) return UNKNOWN;
  const sums = new Float64Array(size);
  for (const node of timed) {
    const first = repeatsOffsets[node]!;
    for (let at = 0; at < size; at++) sums[at]! += repeats[first + at]!;
  }
  if (!sums.every(Number.isFinite)) return UNKNOWN;
  const mean = sums.reduce((sum, ns) => sum + ns, 0) / size;
  const square = sums.reduce((sum, ns) => sum + (ns - mean) ** 2, 0);
  const half = info.studentT[size]! * Math.sqrt(square / (size - 1) / size);
  const [p10, p90] = percentiles(sums, [[0, size]], [0.1, 0.9]) as [number, number];
  const noisy = size >= NOISY_REPEATS && p90 > NOISY_RATIO * p10;
  return { low: mean - half, high: mean + half, noisy, repeats: size };
}
