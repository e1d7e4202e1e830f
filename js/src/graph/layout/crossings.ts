import type { Rows } from "./adjacency.ts";
import type { Order } from "./initial.ts";
import type { Lines } from "./runs.ts";
import type { Expanded } from "./trunks.ts";

const FEW = 12;
const LOPSIDED = 16;

/** Counts crossings between neighbouring rows; keeps the neighbour lists of a row sorted by position when asked to. */
export class Crossings {
  readonly #graph: Expanded;
  readonly #order: Order;
  readonly #cursor: Int32Array;
  readonly #tree: Int32Array;
  #ends = new Int32Array(256);

  constructor(graph: Expanded, order: Order) {
    this.#graph = graph;
    this.#order = order;
    this.#cursor = new Int32Array(graph.count);
    let widest = 0;
    for (let r = 0; r < graph.rows; r++) {
      widest = Math.max(widest, order.start[r + 1]! - order.start[r]!);
    }
    this.#tree = new Int32Array(widest + 1);
  }

  /** Sorts the lists of one row by position in the row the lists point to. */
  #sortLists(row: number, other: number, lists: Rows, back: Rows): void {
    const { item, start } = this.#order;
    const cursor = this.#cursor;
    for (let i = start[row]!; i < start[row + 1]!; i++) cursor[item[i]!] = lists.start[item[i]!]!;
    for (let i = start[other]!; i < start[other + 1]!; i++) {
      const v = item[i]!;
      for (let k = back.start[v]!; k < back.start[v + 1]!; k++) {
        lists.item[cursor[back.item[k]!]!++] = v;
      }
    }
  }

  sortUp(row: number): void {
    if (row > 0) this.#sortLists(row, row - 1, this.#graph.up, this.#graph.down);
  }

  sortDown(row: number): void {
    if (row + 1 < this.#graph.rows) {
      this.#sortLists(row, row + 1, this.#graph.down, this.#graph.up);
    }
  }

  /** Crossings between a row and the next. */
  below(row: number): number {
    const { item, start, position } = this.#order;
    const { down, rows } = this.#graph;
    if (row + 1 >= rows) return 0;
    const width = start[row + 2]! - start[row + 1]!;
    if (width < 2 || start[row + 1]! - start[row]! < 2) return 0;
    this.sortDown(row);
    let ends = this.#ends;
    let count = 0;
    for (let i = start[row]!; i < start[row + 1]!; i++) {
      const v = item[i]!;
      for (let k = down.start[v]!; k < down.start[v + 1]!; k++) {
        if (count === ends.length) {
          ends = new Int32Array(2 * count);
          ends.set(this.#ends);
          this.#ends = ends;
        }
        ends[count++] = position[down.item[k]!]!;
      }
    }
    return count <= FEW ? this.#fewInversions(count) : this.#inversions(count, width);
  }

  #fewInversions(count: number): number {
    const ends = this.#ends;
    let crossings = 0;
    for (let i = 1; i < count; i++) {
      for (let j = 0; j < i; j++) if (ends[j]! > ends[i]!) crossings++;
    }
    return crossings;
  }

  #inversions(count: number, width: number): number {
    const ends = this.#ends;
    const tree = this.#tree;
    tree.fill(0, 0, width + 1);
    let crossings = 0;
    for (let i = 0; i < count; i++) {
      const end = ends[i]! + 1;
      let notGreater = 0;
      for (let k = end; k > 0; k -= k & -k) notGreater += tree[k]!;
      crossings += i - notGreater;
      for (let k = end; k <= width; k += k & -k) tree[k]!++;
    }
    return crossings;
  }

  /** How many crossings fewer there are with v left of u than with u left of v; lists must be sorted. */
  gain(u: number, v: number): number {
    const { up, down } = this.#graph;
    return this.#pairGain(up, u, v) + this.#pairGain(down, u, v);
  }

  /** The same, of crossings with the lines that shall be straight alone; crossings of two lines count twice. */
  lineGain(u: number, v: number, lines: Lines): number {
    const { up, down } = this.#graph;
    return (
      this.#besides(lines.up[u]!, up, v) -
      this.#besides(lines.up[v]!, up, u) +
      this.#besides(lines.down[u]!, down, v) -
      this.#besides(lines.down[v]!, down, u)
    );
  }

  /** Of the neighbours of v, those left of an item less those right of it. */
  #besides(item: number, lists: Rows, v: number): number {
    if (item < 0) return 0;
    const from = lists.start[v]!;
    const to = lists.start[v + 1]!;
    const p = this.#order.position[item]!;
    const less = this.#bound(lists.item, from, to, p);
    const notGreater = this.#bound(lists.item, less, to, p + 1);
    return less - from - (to - notGreater);
  }

  #pairGain(lists: Rows, u: number, v: number): number {
    const a = lists.start[u]!;
    const aEnd = lists.start[u + 1]!;
    const b = lists.start[v]!;
    const bEnd = lists.start[v + 1]!;
    const many = aEnd - a;
    const others = bEnd - b;
    if (many === 0 || others === 0) return 0;
    if (many > LOPSIDED * others) return this.#searchGain(lists.item, b, bEnd, a, aEnd);
    if (others > LOPSIDED * many) return -this.#searchGain(lists.item, a, aEnd, b, bEnd);
    const { position } = this.#order;
    const item = lists.item;
    let gain = 0;
    let less = b;
    let notGreater = b;
    for (let k = a; k < aEnd; k++) {
      const p = position[item[k]!]!;
      while (less < bEnd && position[item[less]!]! < p) less++;
      while (notGreater < bEnd && position[item[notGreater]!]! <= p) notGreater++;
      gain += less - b - (bEnd - notGreater);
    }
    return gain;
  }

  /** For each of the few: how many of the many are to its right, less those to its left. */
  #searchGain(item: Int32Array, few: number, fewEnd: number, many: number, manyEnd: number) {
    const { position } = this.#order;
    let gain = 0;
    for (let k = few; k < fewEnd; k++) {
      const p = position[item[k]!]!;
      const less = this.#bound(item, many, manyEnd, p);
      const notGreater = this.#bound(item, less, manyEnd, p + 1);
      gain += manyEnd - notGreater - (less - many);
    }
    return gain;
  }

  #bound(item: Int32Array, from: number, to: number, least: number): number {
    const { position } = this.#order;
    let low = from;
    let high = to;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (position[item[mid]!]! < least) low = mid + 1;
      else high = mid;
    }
    return low;
  }
}
