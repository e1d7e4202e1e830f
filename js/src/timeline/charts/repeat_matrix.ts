import type { Operators } from "../data/frames.ts";
import { repeatsOf } from "../data/repeats.ts";
import type { Slices } from "../data/slices.ts";

/** Least half of a scale around the median, so that noise looks uniform. */
const LEAST_SPREAD = 0.02;
/** Share of all values within the scale. */
const HELD = 0.9;

/** One operator and its repeats in the order of the file; without repeats its slices, by start. */
export interface MatrixRow {
  readonly key: number;
  readonly node: number;
  readonly values: Float64Array;
  readonly slices: Int32Array | null;
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  readonly mean: number;
  readonly noisy: boolean;
  /** Time of its first run, NaN if unknown. */
  readonly start: number;
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

/** Matrix for pictures of operators × repeats. */
export type Matrix = Pick<RepeatMatrix, "rows" | "columns" | "ofSlices" | "totals" | "spread">;

export class RepeatMatrix {
  readonly rows: readonly MatrixRow[];
  readonly columns: number;
  /** All rows have the same number of repeats: a column is one pass. */
  readonly aligned: boolean;
  /** Rows are slices of a trace, not repeats of a measurement. */
  readonly ofSlices: boolean;
  /** Sums of the columns; empty if they are no passes. */
  readonly totals: Float64Array;
  /** Distance of most values from the median of their row, as a share of it: half of the color scale. */
  readonly spread: number;

  constructor(slices: Slices, operators: Operators) {
    this.ofSlices = !slices.columns.nodeCount.some((count) => count > 1);
    this.rows = this.ofSlices ? occurrences(slices, operators) : repeated(slices);
    this.columns = this.rows.reduce((most, { values }) => Math.max(most, values.length), 0);
    this.aligned = this.rows.every(({ values }) => values.length === this.columns);
    this.totals = new Float64Array(this.aligned && !this.ofSlices ? this.columns : 0);
    for (const { values } of this.totals.length ? this.rows : []) {
      for (let i = 0; i < values.length; i++) this.totals[i]! += values[i]!;
    }
    this.spread = spreadOf(this.rows);
  }

  /** Rows by median time, the longest first, or in order of their first run. */
  order(by: "time" | "order"): Int32Array {
    const all = Int32Array.from(this.rows.keys());
    const { rows } = this;
    const time = (a: number, b: number) => rows[b]!.median - rows[a]!.median || a - b;
    const first = (a: number, b: number) => {
      const [x, y] = [rows[a]!, rows[b]!];
      return (x.start < y.start ? -1 : x.start > y.start ? 1 : 0) || x.key - y.key;
    };
    return all.sort(by === "time" ? time : first);
  }
}

/** Distance of most values from the median of their row, as a share of it. */
export function spreadOf(rows: readonly MatrixRow[]): number {
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

function repeated(slices: Slices): MatrixRow[] {
  const rows: MatrixRow[] = [];
  const { nodeNs } = slices.columns;
  for (let node = 0; node < nodeNs.length; node++) {
    const repeats = repeatsOf(slices.columns, node);
    if (!repeats || !(nodeNs[node]! > 0)) continue;
    const first = slices.of(node)[0];
    rows.push({
      ...{ key: node, node, values: repeats.ns, slices: null, mean: nodeNs[node]! },
      ...{ median: repeats.p50, p10: repeats.p10, p90: repeats.p90, noisy: repeats.noisy },
      start: first === undefined ? Number.NaN : slices.startOf(first),
    });
  }
  return rows;
}

function occurrences(slices: Slices, operators: Operators): MatrixRow[] {
  const counts = new Int32Array(operators.size + 1);
  for (let slice = 0; slice < slices.count; slice++) counts[operators.of(slice) + 1]!++;
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!;
  const next = counts.slice();
  const members = new Int32Array(slices.count);
  for (let slice = 0; slice < slices.count; slice++) members[next[operators.of(slice)]!++] = slice;
  const rows: MatrixRow[] = [];
  for (let key = 0; key < operators.size; key++) {
    const own = members.subarray(counts[key]!, counts[key + 1]!);
    if (!own.length || own.every((slice) => !slices.durationOf(slice))) continue;
    own.sort((a, b) => slices.startOf(a) - slices.startOf(b) || a - b);
    const values = Float64Array.from(own, (slice) => slices.durationOf(slice));
    const sorted = values.toSorted();
    const [p10, median, p90] = [0.1, 0.5, 0.9].map((share) => quantile(sorted, share));
    rows.push({
      ...{ key, node: operators.node(key), values, slices: own, start: slices.startOf(own[0]!) },
      ...{
        p10: p10!,
        median: median!,
        p90: p90!,
        mean: values.reduce((a, b) => a + b, 0) / own.length,
      },
      noisy: own.length >= 5 && p90! > 1.2 * p10!,
    });
  }
  return rows;
}

/** Linear interpolation, as numpy's default; NaN without values. */
export function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}
