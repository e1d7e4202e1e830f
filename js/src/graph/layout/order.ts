import { Crossings } from "./crossings.ts";
import type { Order } from "./initial.ts";
import { Polisher } from "./polish.ts";
import { sortByKey } from "./sort.ts";
import type { Expanded } from "./trunks.ts";

/** Rows on each side of a crossing that a later sweep may still change. */
const WINDOW = 6;
const TRANSPOSE_ROUNDS = 3;
/** Items handled between two chances to pause. */
const PAUSE = 16_384;

class Sweeper {
  readonly #graph: Expanded;
  readonly #order: Order;
  readonly #crossings: Crossings;
  readonly #member: Int32Array;
  readonly #slot: Int32Array;
  readonly #key: Float64Array;
  readonly #best: Int32Array;

  constructor(graph: Expanded, order: Order) {
    this.#graph = graph;
    this.#order = order;
    this.#crossings = new Crossings(graph, order);
    this.#member = new Int32Array(graph.count);
    this.#slot = new Int32Array(graph.count);
    this.#key = new Float64Array(graph.count);
    this.#best = new Int32Array(graph.count);
  }

  below(row: number): number {
    return this.#crossings.below(row);
  }

  sortLists(): void {
    for (let row = 0; row < this.#graph.rows; row++) {
      this.#crossings.sortUp(row);
      this.#crossings.sortDown(row);
    }
  }

  /** Sorts a row by the mean position of its neighbours above or below; items without any keep their place. */
  #barycentre(row: number, above: boolean): void {
    const { item, start, position } = this.#order;
    const lists = above ? this.#graph.up : this.#graph.down;
    const a = start[row]!;
    const b = start[row + 1]!;
    let count = 0;
    for (let i = a; i < b; i++) {
      const v = item[i]!;
      const first = lists.start[v]!;
      const end = lists.start[v + 1]!;
      if (first === end) continue;
      let sum = 0;
      for (let k = first; k < end; k++) sum += position[lists.item[k]!]!;
      this.#slot[count] = i;
      this.#key[count] = sum / (end - first);
      this.#member[count++] = v;
    }
    sortByKey(this.#member, this.#key, count);
    for (let i = 0; i < count; i++) item[this.#slot[i]!] = this.#member[i]!;
    for (let i = a; i < b; i++) position[item[i]!] = i - a;
  }

  #transpose(row: number): void {
    const { item, start, position } = this.#order;
    const a = start[row]!;
    const b = start[row + 1]!;
    this.#crossings.sortUp(row);
    this.#crossings.sortDown(row);
    for (let round = 0; round < TRANSPOSE_ROUNDS; round++) {
      let swapped = false;
      for (let i = a; i + 1 < b; i++) {
        const u = item[i]!;
        const v = item[i + 1]!;
        if (this.#crossings.gain(u, v) <= 0) continue;
        item[i] = v;
        item[i + 1] = u;
        position[v] = i - a;
        position[u] = i + 1 - a;
        swapped = true;
      }
      if (!swapped) return;
    }
  }

  #total(from: number, to: number): number {
    let sum = 0;
    for (let r = Math.max(0, from - 1); r < to; r++) sum += this.#crossings.below(r);
    return sum;
  }

  /** Sweeps rows from … to - 1 up and down, the rest fixed, and leaves the best order seen. */
  *improve(from: number, to: number, sweeps: number): Generator<void, void> {
    const { item, start, position } = this.#order;
    const a = start[from]!;
    const b = start[to]!;
    let least = this.#total(from, to);
    if (least === 0) return;
    this.#best.set(item.subarray(a, b), a);
    let done = 0;
    let stale = 0;
    for (let s = 0; s < sweeps && stale < 3; s++) {
      const above = s % 2 === 1;
      for (let i = 0; i < to - from; i++) {
        const row = above ? from + i : to - 1 - i;
        this.#barycentre(row, above);
        done += start[row + 1]! - start[row]!;
        if (done > PAUSE) {
          done = 0;
          yield;
        }
      }
      for (let row = from; row < to; row++) this.#transpose(row);
      yield;
      const total = this.#total(from, to);
      if (total < least) {
        least = total;
        this.#best.set(item.subarray(a, b), a);
        stale = 0;
      } else stale++;
      if (least === 0) break;
    }
    item.set(this.#best.subarray(a, b), a);
    for (let row = from; row < to; row++) {
      for (let i = start[row]!; i < start[row + 1]!; i++) position[item[i]!] = i - start[row]!;
    }
  }
}

/**
 * Lowers the crossings. Rows of one item part the graph into stretches that do not depend on each other; in a long
 * stretch only the rows near crossings are swept again. Afterwards all neighbour lists are sorted by position.
 */
export function* improveOrder(
  graph: Expanded,
  order: Order,
  rowStart: Int32Array,
  sweeps: number,
): Generator<void, void> {
  const sweeper = new Sweeper(graph, order);
  const polisher = new Polisher(graph, order);
  const { start } = order;
  let since = 0;
  for (let c = 0; c + 1 < rowStart.length; c++) {
    const end = rowStart[c + 1]!;
    for (let from = rowStart[c]!; from < end; from++) {
      if (start[from + 1]! - start[from]! < 2) continue;
      let to = from + 1;
      while (to < end && start[to + 1]! - start[to]! > 1) to++;
      yield* sweeper.improve(from, to, 2);
      let busyFrom = -1;
      let busyTo = -1;
      for (let row = from; row < to; row++) {
        if (sweeper.below(row) === 0) continue;
        if (busyFrom >= 0 && row - WINDOW > busyTo) {
          yield* sweeper.improve(busyFrom, busyTo, sweeps);
          polisher.polish(busyFrom, busyTo);
          busyFrom = -1;
        }
        if (busyFrom < 0) busyFrom = Math.max(from, row - WINDOW);
        busyTo = Math.min(to, row + 2 + WINDOW);
      }
      if (busyFrom >= 0) {
        yield* sweeper.improve(busyFrom, busyTo, sweeps);
        polisher.polish(busyFrom, busyTo);
      }
      since += start[to]! - start[from]!;
      if (since > PAUSE) {
        since = 0;
        yield;
      }
      from = to;
    }
  }
  sweeper.sortLists();
}
