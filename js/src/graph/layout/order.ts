import { sortByKey } from "./adjacency.ts";
import { Crossings, sortLists } from "./crossings.ts";
import { type ExpandedGraph, findLines, type RowOrder, type StraightLines } from "./trunks.ts";

const ROUNDS = 2;
/** Ordering sweeps where lines cross. */
const SWEEPS = 8;
/** Items in rows that are handled between two pauses. */
const PAUSE = 16_384;
/** Number of rows a crossing is followed along its two lines, and the widest row on the way. */
const FARTHEST = 64;
const WIDEST = 64;
/** Extra crossings allowed on the way to fewer. */
const MOST_DEBT = 2;

/** Straightens main line and trunks among orders with equally many crossings. */
class Polisher {
  readonly #order: RowOrder;
  readonly #crossings: Crossings;
  readonly #lines: StraightLines;

  constructor(graph: ExpandedGraph, order: RowOrder, crossings: Crossings) {
    this.#order = order;
    this.#crossings = crossings;
    this.#lines = findLines(graph, order);
  }

  *polish(from: number, to: number): Generator<void, void> {
    const { up, down } = this.#lines;
    const { start } = this.#order;
    for (let round = 0; round < ROUNDS; round++) {
      const swapped = this.#swapNeighbors(from, to);
      if (start[to]! - start[from]! > PAUSE) yield;
      const above = this.#uncross(from, to, down, up, -1);
      const below = this.#uncross(to - 1, from - 1, up, down, 1);
      if (!swapped && !above && !below) return;
    }
  }

  #swap(u: number, v: number, row: number): void {
    const { item, start, position } = this.#order;
    const p = position[u]!;
    const q = position[v]!;
    item[start[row]! + p] = v;
    item[start[row]! + q] = u;
    position[u] = q;
    position[v] = p;
  }

  #swapNeighbors(from: number, to: number): boolean {
    const { item, start } = this.#order;
    const crossings = this.#crossings;
    let swapped = false;
    for (let row = from; row < to; row++) {
      const last = start[row + 1]! - 1;
      crossings.compareIn(row);
      for (let i = start[row]!; i < last; i++) {
        const u = item[i]!;
        const v = item[i + 1]!;
        const gain = crossings.gain(u, v);
        if (gain < 0 || (gain === 0 && crossings.lineGain(u, v, this.#lines) <= 0)) continue;
        this.#swap(u, v, row);
        swapped = true;
      }
    }
    return swapped;
  }

  /** Swaps two crossing lines row by row towards the other side until that removes the crossing. */
  #uncross(from: number, to: number, ahead: Int32Array, back: Int32Array, step: number): boolean {
    const { item, start, position } = this.#order;
    let changed = false;
    for (let row = from; row !== to; row -= step) {
      if (start[row + 1]! - start[row]! > WIDEST) continue;
      for (let i = start[row]!; i + 1 < start[row + 1]!; i++) {
        const a = ahead[item[i]!]!;
        const b = ahead[item[i + 1]!]!;
        if (a < 0 || b < 0 || position[a]! < position[b]!) continue;
        if (this.#follow(item[i]!, item[i + 1]!, row, back, step)) changed = true;
      }
    }
    return changed;
  }

  #follow(left: number, right: number, row: number, back: Int32Array, step: number): boolean {
    const { start, position } = this.#order;
    let u = left;
    let v = right;
    let r = row;
    let gain = 0;
    let lineGain = 0;
    let done = 0;
    while (done < FARTHEST) {
      if (u < 0 || v < 0 || position[v]! - position[u]! !== 1) break;
      if (start[r + 1]! - start[r]! > WIDEST) break;
      this.#crossings.compareIn(r);
      gain += this.#crossings.gain(u, v);
      if (gain < -MOST_DEBT) break;
      lineGain += this.#crossings.lineGain(u, v, this.#lines);
      this.#swap(u, v, r);
      done++;
      if (gain > 0 || (gain === 0 && lineGain > 0)) return true;
      u = back[u]!;
      v = back[v]!;
      r += step;
    }
    u = left;
    v = right;
    r = row;
    for (let i = 0; i < done; i++) {
      this.#swap(v, u, r);
      u = back[u]!;
      v = back[v]!;
      r += step;
    }
    return false;
  }
}

/** Rows above and below a crossing that a later sweep may still change. */
const WINDOW = 6;
const TRANSPOSE_ROUNDS = 3;
const ALL = Number.POSITIVE_INFINITY;

class Sweeper {
  readonly #graph: ExpandedGraph;
  readonly #order: RowOrder;
  readonly #crossings: Crossings;
  readonly #member: Int32Array;
  readonly #slot: Int32Array;
  readonly #key: Float64Array;
  readonly #best: Int32Array;
  #done = 0;

  constructor(graph: ExpandedGraph, order: RowOrder, crossings: Crossings) {
    this.#graph = graph;
    this.#order = order;
    this.#crossings = crossings;
    this.#member = new Int32Array(graph.count);
    this.#slot = new Int32Array(graph.count);
    this.#key = new Float64Array(graph.count);
    this.#best = new Int32Array(graph.count);
  }

  /**
   * Sorts the rows from … to, `step` by `step`, by the mean position of their neighbors above or below; items without
   * neighbors keep their place. Then swaps neighbors in all rows between while that helps. Returns the row it pauses
   * before.
   */
  #sweep(from: number, to: number, step: number, first: number, last: number): number {
    const { item, start, position } = this.#order;
    const lists = step > 0 ? this.#graph.up : this.#graph.down;
    const begin = lists.start;
    const beside = lists.item;
    const member = this.#member;
    const slot = this.#slot;
    const key = this.#key;
    let done = this.#done;
    let row = from;
    for (; row !== to && done < PAUSE; row += step) {
      const a = start[row]!;
      const b = start[row + 1]!;
      done += b - a;
      let count = 0;
      let before = -1;
      let sorted = true;
      for (let i = a; i < b; i++) {
        const v = item[i]!;
        const end = begin[v + 1]!;
        let k = begin[v]!;
        if (k === end) continue;
        const many = end - k;
        let sum = 0;
        for (; k < end; k++) sum += position[beside[k]!]!;
        const mean = many === 1 ? sum : sum / many;
        if (mean < before) sorted = false;
        before = mean;
        slot[count] = i;
        key[count] = mean;
        member[count++] = v;
      }
      if (sorted) continue;
      sortByKey(member, key, count);
      for (let i = 0; i < count; i++) item[slot[i]!] = member[i]!;
      for (let i = a; i < b; i++) position[item[i]!] = i - a;
    }
    this.#done = done;
    if (row !== to) return row;
    for (let r = first; r < last; r++) {
      const a = start[r]!;
      const b = start[r + 1]! - 1;
      this.#crossings.compareIn(r);
      let swapped = true;
      for (let round = 0; round < TRANSPOSE_ROUNDS && swapped; round++) {
        swapped = false;
        for (let i = a; i < b; i++) {
          const u = item[i]!;
          const v = item[i + 1]!;
          if (this.#crossings.gain(u, v) <= 0) continue;
          item[i] = v;
          item[i + 1] = u;
          position[v] = i - a;
          position[u] = i + 1 - a;
          swapped = true;
        }
      }
    }
    return to;
  }

  /** Sweeps rows from … to - 1 up and down, the rest fixed, and keeps the best order. */
  *improve(from: number, to: number, sweeps: number): Generator<void, void> {
    const { item, start } = this.#order;
    const a = start[from]!;
    const b = start[to]!;
    const above = Math.max(0, from - 1);
    let least = this.#crossings.below(above, to, ALL);
    if (least === 0) return;
    this.#best.set(item.subarray(a, b), a);
    let stale = 0;
    for (let s = 0; s < sweeps && stale < 3; s++) {
      const step = s % 2 === 1 ? 1 : -1;
      const end = step > 0 ? to : from - 1;
      let row = this.#sweep(step > 0 ? from : to - 1, end, step, from, to);
      while (row !== end) {
        this.#done = 0;
        yield;
        row = this.#sweep(row, end, step, from, to);
      }
      const total = this.#crossings.below(above, to, ALL);
      if (total < least) {
        least = total;
        this.#best.set(item.subarray(a, b), a);
        stale = 0;
      } else stale++;
      if (least === 0) break;
    }
    this.#restore(from, to);
  }

  #restore(from: number, to: number): void {
    const { item, start, position } = this.#order;
    for (let row = from; row < to; row++) {
      for (let i = start[row]!; i < start[row + 1]!; i++) {
        item[i] = this.#best[i]!;
        position[item[i]!] = i - start[row]!;
      }
    }
  }
}

/** The first row up or down that has one item or belongs to another component. */
function endOfStretch(start: Int32Array, component: Int32Array, at: number, step: number): number {
  let row = at + step;
  while (component[row] === component[at] && start[row + 1]! - start[row]! > 1) row += step;
  return row;
}

/**
 * Reduces the crossings. Rows with one item split the graph into independent stretches; in a long stretch only the rows
 * near crossings are swept again. Afterwards all neighbor lists are sorted by position.
 */
export function* improveOrder(
  graph: ExpandedGraph,
  order: RowOrder,
  component: Int32Array,
): Generator<void, void> {
  const crossings = new Crossings(graph, order);
  const { start } = order;
  const { rows } = graph;
  let tools: { sweeper: Sweeper; polisher: Polisher } | undefined;
  for (let at = crossings.firstAbove(0, rows); at < rows; at = crossings.firstAbove(at, rows)) {
    tools ??= {
      sweeper: new Sweeper(graph, order, crossings),
      polisher: new Polisher(graph, order, crossings),
    };
    const { sweeper, polisher } = tools;
    const from = endOfStretch(start, component, at, -1) + 1;
    const to = endOfStretch(start, component, at, 1);
    yield* sweeper.improve(from, to, 2);
    let row = crossings.firstAbove(from, to);
    while (row < to) {
      const busyFrom = Math.max(from, row - WINDOW);
      let busyTo = 0;
      while (row < to && (busyTo === 0 || row - WINDOW <= busyTo)) {
        busyTo = Math.min(to, row + 2 + WINDOW);
        row = crossings.firstAbove(row + 1, to);
      }
      yield* sweeper.improve(busyFrom, busyTo, SWEEPS);
      yield* polisher.polish(busyFrom, busyTo);
    }
    at = to;
  }
  sortLists(order, graph.up, graph.down);
  sortLists(order, graph.down, graph.up);
}
