import { ROUND, SLOTS, slotOf } from "../data/counts.ts";
import type { Axis } from "./axis.ts";

/** Counts the trials of any part of an axis by error, adding up rounds of 64. */
export class SlotSums {
  readonly #axis: Axis;
  readonly #error: Uint8Array;
  readonly #isCounted: (row: number) => boolean;
  /** Of all trials before each round, by slot. */
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

  /** The trials at the positions [first, end) of the axis, by slot. */
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
      if (this.#isCounted(row)) sums[slotOf(this.#error[row]!)]!++;
    }
  }
}
