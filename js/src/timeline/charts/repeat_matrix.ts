import type { RepeatsColumns } from "../../shared/client/timeline_columns.ts";

/** Least half of a scale around the median, so that noise looks uniform. */
const LEAST_SPREAD = 0.02;
/** Share of all values within the scale. */
const HELD = 0.9;

/** One operator and its repeats in the order of the file; without repeats its slices, by start. */
export interface MatrixRow {
  /** Number of the row in the answer. */
  readonly key: number;
  readonly node: number;
  readonly values: Float64Array;
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  readonly noisy: boolean;
}

/** Repeats [first, last) of a row in a cell of a picture. */
export interface MatrixCell {
  first: number;
  last: number;
  min: number;
  max: number;
  mean: number;
  /** Number of valid ones. */
  count: number;
}

export class RepeatMatrix {
  /** In order of execution. */
  readonly rows: readonly MatrixRow[];
  readonly columns: number;
  /** Rows are slices of a trace, not repeats of a measurement. */
  readonly ofSlices: boolean;
  /** Number of the first repeats that are warm-up. */
  readonly warm: number;
  /** Sums of the columns; empty if they are no passes. */
  readonly totals: Float64Array;
  /** Distance of most values from the median of their row, as a share of it: half of the color scale. */
  readonly spread: number;

  constructor({ node, offsets, ns, p10, p50, p90, noisy, totals, info }: RepeatsColumns) {
    this.rows = Array.from(node, (node, key) => ({
      ...{ key, node, values: ns.subarray(offsets[key]!, offsets[key + 1]!) },
      ...{ median: p50[key]!, p10: p10[key]!, p90: p90[key]!, noisy: noisy[key] === 1 },
    }));
    this.columns = info.repeats;
    this.ofSlices = info.ofSlices;
    this.warm = info.warm;
    this.totals = totals;
    this.spread = spreadOf(this.rows);
  }

  /** Rows by median time, the longest first, or in order of their first run; rows of one slice last. */
  order(by: "time" | "order"): Int32Array {
    const { rows } = this;
    const time = (row: number) => (by === "time" ? rows[row]!.median : 0);
    const isLone = (row: number) => Number(this.ofSlices && rows[row]!.values.length < 2);
    const all = Int32Array.from(rows.keys());
    return all.sort((a, b) => isLone(a) - isLone(b) || time(b) - time(a) || a - b);
  }
}

/** Distance of most values from the median of their row, as a share of it. */
function spreadOf(rows: readonly MatrixRow[]): number {
  const apart: number[] = [];
  const every = Math.ceil(rows.reduce((sum, { values }) => sum + values.length, 0) / 1e5);
  let seen = 0;
  for (const { values, median } of rows) {
    for (const value of values) {
      if (seen++ % every === 0 && median > 0 && Number.isFinite(value)) {
        apart.push(Math.abs(value / median - 1));
      }
    }
  }
  const sorted = Float64Array.from(apart).sort();
  const held = sorted[Math.ceil(sorted.length * HELD) - 1] ?? 0;
  return Math.min(1, Math.max(LEAST_SPREAD, held));
}

/** Minimum, maximum and exact mean of repeats [first, last). */
export function cellOf({ values }: MatrixRow, first: number, last: number): MatrixCell {
  const cell = {
    first,
    last: Math.min(last, values.length),
    min: NaN,
    max: NaN,
    mean: NaN,
    count: 0,
  };
  let sum = 0;
  for (let i = first; i < cell.last; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (!(cell.min <= value)) cell.min = value;
    if (!(cell.max >= value)) cell.max = value;
    sum += value;
    cell.count++;
  }
  if (cell.count) cell.mean = sum / cell.count;
  return cell;
}

/** The value of a cell farthest from the median, as a share of it. */
export function apart(cell: MatrixCell, median: number): number {
  const [low, high] = [cell.min / median - 1, cell.max / median - 1];
  return -low > high ? low : high;
}
