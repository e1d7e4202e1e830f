import { lowerBound, upperBound } from "../shared/sorted.ts";
import { MaxPyramid } from "./pyramid.ts";

/** Intervals in time order that do not overlap, with prefix sums: any range is summed in O(log n). */
export class Intervals {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Busy time before interval i. */
  readonly #before: Float64Array;

  constructor(start: Float64Array, end: Float64Array) {
    this.start = start;
    this.end = end;
    this.#before = new Float64Array(start.length + 1);
    for (let i = 0; i < start.length; i++) {
      this.#before[i + 1] = this.#before[i]! + end[i]! - start[i]!;
    }
  }

  get length(): number {
    return this.start.length;
  }

  /** Positions [first, last) of the intervals that share time with [from, to). */
  range(from: number, to: number): [first: number, last: number] {
    const first = upperBound(this.end, from);
    return [first, Math.max(first, lowerBound(this.start, to, first))];
  }

  /** Busy time within [from, to). */
  busy(from: number, to: number): number {
    return this.busyOf(...this.range(from, to), from, to);
  }

  /** Busy time within [from, to) of the intervals [first, last) that `range` found there. */
  busyOf(first: number, last: number, from: number, to: number): number {
    if (first >= last) return 0;
    const whole = this.#before[last]! - this.#before[first]!;
    const cut = Math.max(0, from - this.start[first]!) + Math.max(0, this.end[last - 1]! - to);
    return Math.max(0, whole - cut);
  }
}

/** One row of slices of a track. */
export class Lane extends Intervals {
  /** Slice index of each interval. */
  readonly slice: Int32Array;
  readonly #longest: MaxPyramid;

  constructor(start: Float64Array, end: Float64Array, slice: Int32Array) {
    super(start, end);
    this.slice = slice;
    this.#longest = new MaxPyramid(end.map((stop, i) => stop - start[i]!));
  }

  /** Position of the slice that takes most of [from, to), -1 where it is idle. */
  dominant(from: number, to: number): number {
    return this.dominantOf(...this.range(from, to), from, to);
  }

  dominantOf(first: number, last: number, from: number, to: number): number {
    if (first >= last) return -1;
    let [best, most] = [-1, -1];
    for (const at of [first, this.#longest.argmax(first + 1, last - 1), last - 1]) {
      if (at < 0) continue;
      const share = Math.min(this.end[at]!, to) - Math.max(this.start[at]!, from);
      if (share > most) [best, most] = [at, share];
    }
    return best;
  }
}
