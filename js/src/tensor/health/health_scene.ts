import { severity } from "../../shared/client/health.ts";
import type { HealthColumns } from "../../shared/client/tensor_questions.ts";

export const Special = { NAN: 1, INF: 2 } as const;

/** Columns of pixels wider than this tell no more, CSS px. */
const WIDEST = 28;
/** Entries so near to the pointer may be meant, CSS px. */
const NEAR = 2;

/**
 * The strip in columns from left to right: each shows one entry, or where there are more entries than pixels the worst
 * of several, so that none is lost.
 */
export interface HealthScene {
  count: number;
  /** Of one column, CSS px. */
  width: number;
  /** First row of each column; one more for the end. */
  start: Int32Array;
  /** The most suspicious row of each column. */
  row: Int32Array;
  /** The worst verdict. */
  verdict: Uint8Array;
  /** What is not finite inside, of `Special`. */
  special: Uint8Array;
  /** Largest magnitude on a logarithmic scale from the least (0) to the largest (1) of the run; NaN where unknown. */
  magnitude: Float32Array;
  /** Largest shares; NaN where unknown. */
  zero: Float32Array;
  saturated: Float32Array;
  dead: Float32Array;
}

export function healthScene(health: HealthColumns, width: number): HealthScene {
  const rows = health.node.length;
  const count = Math.max(0, Math.min(rows, Math.floor(width)));
  const scene: HealthScene = {
    count,
    width: count === 0 ? 0 : count < rows ? 1 : Math.min(WIDEST, width / count),
    start: new Int32Array(count + 1),
    row: new Int32Array(count),
    verdict: new Uint8Array(count),
    special: new Uint8Array(count),
    magnitude: new Float32Array(count).fill(Number.NaN),
    zero: new Float32Array(count).fill(Number.NaN),
    saturated: new Float32Array(count).fill(Number.NaN),
    dead: new Float32Array(count).fill(Number.NaN),
  };
  const exponents = Float64Array.from({ length: rows }, (_, row) => exponent(health, row));
  const [least, largest] = bounds(exponents);
  for (let column = 0; column < count; column++) {
    const start = Math.floor((column * rows) / count);
    const end = Math.floor(((column + 1) * rows) / count);
    scene.start[column + 1] = end;
    scene.row[column] = start;
    for (let row = start; row < end; row++) {
      if (health.rank[row]! < health.rank[scene.row[column]!]!) scene.row[column] = row;
      if (severity(health.verdict[row]!) > severity(scene.verdict[column]!)) {
        scene.verdict[column] = health.verdict[row]!;
      }
      if (health.nan[row]! > 0) scene.special[column]! |= Special.NAN;
      if (health.inf[row]! > 0) scene.special[column]! |= Special.INF;
      const share = largest > least ? (exponents[row]! - least) / (largest - least) : 0.5;
      if (!Number.isNaN(exponents[row]!)) raise(scene.magnitude, column, share);
      raise(scene.zero, column, health.zero[row]!);
      raise(scene.saturated, column, health.saturated[row]!);
      raise(scene.dead, column, health.dead[row]!);
    }
  }
  return scene;
}

/** The column that shows a row. */
export function columnOf({ count, start }: HealthScene, row: number): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (start[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The row that is meant at `x`: where columns are thin, the most suspicious near by; -1 outside of all. */
export function rowAt(scene: HealthScene, health: HealthColumns, x: number): number {
  const at = Math.floor(x / scene.width);
  if (!(at >= 0 && at < scene.count)) return -1;
  const near = Math.floor(NEAR / scene.width);
  let best = scene.row[at]!;
  for (let column = at - near; column <= at + near; column++) {
    const row = scene.row[column];
    if (row === undefined || !(severity(health.verdict[row]!) > severity(health.verdict[best]!))) {
      continue;
    }
    best = row;
  }
  return best;
}

/** Decimal exponent of the largest finite magnitude; NaN where it is zero or unknown. */
function exponent({ low, high }: HealthColumns, row: number): number {
  const largest = Math.max(Math.abs(low[row]!), Math.abs(high[row]!));
  return largest > 0 ? Math.log10(largest) : Number.NaN;
}

function bounds(values: Float64Array): [number, number] {
  let [least, largest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < least) least = value;
    if (value > largest) largest = value;
  }
  return [least, largest];
}

function raise(into: Float32Array, column: number, value: number): void {
  if (!(into[column]! >= value) && !Number.isNaN(value)) into[column] = value;
}
