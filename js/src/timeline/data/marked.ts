import type { FlowColumns } from "../../shared/client/timeline_columns.ts";
import { counted } from "../../shared/format.ts";
import { addTo } from "../../shared/many.ts";

/** A set of slices as bits, with summary bits for every 32 and every 1,024 slices. */
export class MarkedSlices {
  readonly count: number;
  readonly #levels: readonly Int32Array[];

  constructor(
    slices: number,
    marked: Iterable<number> = [],
    bits = new Int32Array(Math.ceil(slices / 32)),
  ) {
    for (const slice of marked) {
      if (slice >= 0 && slice < slices) bits[slice >>> 5]! |= 1 << (slice & 31);
    }
    const levels = [bits];
    for (let below = bits; below.length > 1; below = levels.at(-1)!) {
      const level = new Int32Array(Math.ceil(below.length / 32));
      for (let at = 0; at < below.length; at++) {
        if (below[at]) level[at >>> 5]! |= 1 << (at & 31);
      }
      levels.push(level);
    }
    this.#levels = levels;
    this.count = this.countIn(0, slices);
  }

  /** The slices below a number that satisfy a predicate. */
  static where(slices: number, fits: (slice: number) => boolean): MarkedSlices {
    const bits = new Int32Array(Math.ceil(slices / 32));
    for (let slice = 0; slice < slices; slice++) {
      if (fits(slice)) bits[slice >>> 5]! |= 1 << (slice & 31);
    }
    return new MarkedSlices(slices, [], bits);
  }

  *[Symbol.iterator](): Generator<number> {
    const end = 32 * this.#levels[0]!.length;
    for (let at = this.next(0, end); at >= 0; at = this.next(at + 1, end)) yield at;
  }

  has(slice: number): boolean {
    return ((this.#levels[0]![slice >>> 5] ?? 0) & (1 << (slice & 31))) !== 0;
  }

  /** The first marked slice of [from, to), or -1. */
  next(from: number, to: number): number {
    if (from >= to) return -1;
    let [level, at] = [0, from];
    for (;;) {
      const words = this.#levels[level];
      if (!words) return -1;
      const word = (words[at >>> 5] ?? 0) & (-1 << (at & 31));
      if (word) {
        at = (at & ~31) + trailing(word);
        break;
      }
      at = (at >>> 5) + 1;
      level++;
    }
    while (level-- > 0) at = (at << 5) + trailing(this.#levels[level]![at]!);
    return at < to ? at : -1;
  }

  /** The last marked slice of [from, to), or -1. */
  previous(from: number, to: number): number {
    let [level, at] = [0, to - 1];
    for (;;) {
      const words = this.#levels[level];
      if (!words || at < 0) return -1;
      const word = (words[at >>> 5] ?? 0) & (-1 >>> (31 - (at & 31)));
      if (word) {
        at = (at & ~31) + leading(word);
        break;
      }
      at = (at >>> 5) - 1;
      level++;
    }
    while (level-- > 0) at = (at << 5) + leading(this.#levels[level]![at]!);
    return at >= from ? at : -1;
  }

  countIn(from: number, to: number): number {
    if (from >= to) return 0;
    const bits = this.#levels[0]!;
    const [first, last] = [from >>> 5, (to - 1) >>> 5];
    const [head, tail] = [-1 << (from & 31), -1 >>> (31 - ((to - 1) & 31))];
    if (first === last) return ones(bits[first]! & head & tail);
    let count = ones(bits[first]! & head) + ones(bits[last]! & tail);
    for (let at = first + 1; at < last; at++) count += ones(bits[at]!);
    return count;
  }
}

/** Position of the lowest set bit. */
function trailing(word: number): number {
  return 31 - Math.clz32(word & -word);
}

/** Position of the highest set bit. */
function leading(word: number): number {
  return 31 - Math.clz32(word);
}

function ones(word: number): number {
  let sum = word - ((word >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return Math.imul((sum + (sum >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Arrows from slices to the slices they started. */
export class Flows {
  readonly #columns: FlowColumns;
  /** Flow [first[s], first[s + 1]) of `#flows` by slice; only slices with flows are listed. */
  readonly #bySlice = new Map<number, number[]>();

  constructor(columns: FlowColumns) {
    this.#columns = columns;
    const add = (slice: number, flow: number) => {
      if (slice < 0) return;
      addTo(this.#bySlice, slice, flow);
    };
    columns.flowFrom.forEach((slice, flow) => {
      add(slice, flow);
      if (columns.flowTo[flow] !== slice) add(columns.flowTo[flow]!, flow);
    });
  }

  of(slice: number): readonly number[] {
    return this.#bySlice.get(slice) ?? [];
  }

  /** The slices at both ends of a flow; -1 if unknown. */
  ends(flow: number): [from: number, to: number] {
    const { flowFrom, flowTo } = this.#columns;
    return [flowFrom[flow]!, flowTo[flow]!];
  }

  /** The slice at the other end of an arrow that leaves (or, if `by` < 0, reaches) this one; the next after `last`. */
  follow(slice: number, by: number): number {
    const { flowFrom, flowTo } = this.#columns;
    const [near, far] = by > 0 ? [flowFrom, flowTo] : [flowTo, flowFrom];
    return far[this.of(slice).find((flow) => near[flow] === slice && far[flow]! >= 0) ?? -1] ?? -1;
  }

  /** `2 arrows out, 1 in: launch`. */
  sentence(slice: number): string {
    const flows = this.of(slice);
    if (!flows.length) return "no arrows";
    const out = flows.filter((flow) => this.#columns.flowFrom[flow] === slice).length;
    const names = [...new Set(flows.map((flow) => this.#columns.flowNames.at(flow)))].slice(0, 3);
    return `${counted(out, "arrow")} out, ${flows.length - out} in: ${names.join(", ")}`;
  }
}
