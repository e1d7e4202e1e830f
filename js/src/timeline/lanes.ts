import type { MatrixRow } from "./repeat_matrix.ts";

/** The lane of medians, above those of the repeats. */
export const MEDIAN = -1;
/** Lanes that are kept. */
const MOST = 100;

/** Operators end to end, lane by lane: at their medians, or as long as they took in one repeat. */
export class Lanes {
  readonly #rows: readonly MatrixRow[];
  /** Of the lanes that were asked for last. */
  readonly #starts = new Map<number, Float64Array>();

  constructor(rows: readonly MatrixRow[]) {
    this.#rows = rows;
  }

  /** How long an operator takes in a lane; 0 where that is no number. */
  ns(row: number, lane: number): number {
    const { median, values } = this.#rows[row]!;
    const ns = lane === MEDIAN ? median : (values[lane] ?? 0);
    return Number.isFinite(ns) && ns > 0 ? ns : 0;
  }

  /** Where each operator begins in a lane, and where the last one ends. */
  starts(lane: number): Float64Array {
    const known = this.#starts.get(lane);
    if (known) return known;
    if (this.#starts.size > MOST) this.#starts.clear();
    const starts = new Float64Array(this.#rows.length + 1);
    this.#rows.forEach((_, row) => {
      starts[row + 1] = starts[row]! + this.ns(row, lane);
    });
    this.#starts.set(lane, starts);
    return starts;
  }

  /** How long the longest lane is. */
  longest(lanes: number): number {
    let most = 0;
    for (let lane = MEDIAN; lane < lanes; lane++) {
      let sum = 0;
      for (let row = 0; row < this.#rows.length; row++) sum += this.ns(row, lane);
      if (sum > most) most = sum;
    }
    return most;
  }
}
