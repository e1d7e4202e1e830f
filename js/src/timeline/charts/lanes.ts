import { lowerBound } from "../../shared/sorted.ts";
import type { MatrixRow } from "./repeat_matrix.ts";

/** The lane of medians, above those of the repeats. */
export const MEDIAN = -1;
/** Lanes that are kept. */
const MOST = 100;

/** Operators [row, next) of a lane that are drawn as one, in the color of the widest of them. */
export interface LaneColumn {
  row: number;
  next: number;
  widest: number;
}

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

  /** What of a lane is in [from, to): operators that begin less than `least` apart together, longer ones alone. */
  *columns(lane: number, from: number, to: number, least: number): Generator<LaneColumn> {
    const starts = this.starts(lane);
    const last = this.#rows.length;
    let row = Math.max(0, lowerBound(starts, from) - 1);
    while (row < last && starts[row]! < to) {
      let [next, widest] = [row + 1, row];
      if (this.ns(row, lane) < least) {
        next = Math.max(next, lowerBound(starts, starts[row]! + least, next, last));
        // Only the last to begin there can be long.
        if (next > row + 1 && this.ns(next - 1, lane) >= least) next--;
        for (let at = row; at < next; at++) {
          if (this.ns(at, lane) > this.ns(widest, lane)) widest = at;
        }
      }
      yield { row, next, widest };
      row = next;
    }
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
