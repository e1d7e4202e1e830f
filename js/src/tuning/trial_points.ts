import { lowerBound, upperBound } from "../shared/many.ts";
import { ROUND, SLOTS } from "./data.ts";

/** Trials in the order of the horizontal axis, for binary search. */
export class Axis {
  readonly rows: Int32Array;
  /** Ascending values of `rows`. */
  readonly values: Float64Array;

  /** @param values Values of all trials; NaN leaves a trial out. */
  constructor(values: Float64Array) {
    let isOrdered = true;
    for (let row = 0; row < values.length; row++) {
      if (!(values[row]! >= (row ? values[row - 1]! : Number.NEGATIVE_INFINITY))) isOrdered = false;
    }
    const all = new Int32Array(values.length);
    for (let row = 0; row < all.length; row++) all[row] = row;
    this.rows = isOrdered ? all : all.filter((row) => !Number.isNaN(values[row]!));
    if (!isOrdered) this.rows.sort((a, b) => values[a]! - values[b]! || a - b);
    this.values = isOrdered ? values : Float64Array.from(this.rows, (row) => values[row]!);
  }

  before(value: number): number {
    return lowerBound(this.values, value);
  }

  upTo(value: number): number {
    return upperBound(this.values, value);
  }
}

/** Layer of a trial: hidden, behind those of the current task, or with them. */
export const HIDDEN = 0;
export const BEHIND = 1;
export const IN_FRONT = 2;

/** Counts the trials of any part of an axis by error, with sums per round of 64. */
export class SlotSums {
  readonly #axis: Axis;
  readonly #error: Uint8Array;
  readonly #isCounted: (row: number) => boolean;
  readonly #before: Int32Array;

  constructor(axis: Axis, error: Uint8Array, isCounted: (row: number) => boolean) {
    this.#axis = axis;
    this.#error = error;
    this.#isCounted = isCounted;
    const count = axis.rows.length;
    const rounds = Math.floor(count / ROUND);
    this.#before = new Int32Array((rounds + 1) * SLOTS);
    const sums = new Int32Array(SLOTS);
    for (let round = 0; round < rounds; round++) {
      this.#add(sums, round * ROUND, (round + 1) * ROUND);
      this.#before.set(sums, (round + 1) * SLOTS);
    }
  }

  /** Trials at the positions [first, end) of the axis by slot. */
  count(first: number, end: number): Int32Array {
    const after = this.#upTo(end);
    const before = this.#upTo(first);
    return after.map((sum, slot) => sum - before[slot]!);
  }

  #upTo(end: number): Int32Array {
    const round = Math.floor(end / ROUND);
    const sums = this.#before.slice(round * SLOTS, (round + 1) * SLOTS);
    this.#add(sums, round * ROUND, end);
    return sums;
  }

  #add(sums: Int32Array, first: number, end: number): void {
    for (let at = first; at < end; at++) {
      const row = this.#axis.rows[at]!;
      if (this.#isCounted(row)) sums[Math.min(this.#error[row]!, SLOTS - 1)]!++;
    }
  }
}
