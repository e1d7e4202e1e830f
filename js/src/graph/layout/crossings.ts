import type { CompressedRows } from "./adjacency.ts";
import type { ExpandedGraph, RowOrder, StraightLines } from "./trunks.ts";

const FEW = 24;

/** Counts crossings between neighboring rows; sorts long lists by position first. */
export class Crossings {
  readonly #graph: ExpandedGraph;
  readonly #order: RowOrder;
  readonly #cursor: Int32Array;
  readonly #tree: Int32Array;
  #next = 0;
  #row = 0;
  #sorted = false;

  constructor(graph: ExpandedGraph, order: RowOrder) {
    this.#graph = graph;
    this.#order = order;
    this.#cursor = new Int32Array(graph.count);
    this.#tree = new Int32Array(widestRow(order) + 1);
  }

  /** The first row in [from, to) with crossings below it, or `to`. */
  firstAbove(from: number, to: number): number {
    return this.below(from, to, 1) > 0 ? this.#next - 1 : to;
  }

  /** Number of crossings below the rows [from, to); stops at the first row that makes it `enough`. */
  below(from: number, to: number, enough: number): number {
    const { item, start, position } = this.#order;
    const { start: first, item: lower } = this.#graph.down;
    const tree = this.#tree;
    const last = Math.min(to, this.#graph.rows - 1);
    let sum = 0;
    let row = from;
    for (; row < last && sum < enough; row++) {
      const end = start[row + 1]!;
      if (end - start[row]! < 2 || start[row + 2]! - end < 2) continue;
      let farthest = 0;
      let crossed = false;
      for (let i = start[row]!; i < end; i++) {
        const v = item[i]!;
        const before = farthest;
        for (let k = first[v]!; k < first[v + 1]!; k++) {
          const p = position[lower[k]!]!;
          if (p < before) crossed = true;
          if (p > farthest) farthest = p;
        }
      }
      if (!crossed) continue;
      const width = start[row + 2]! - end;
      tree.fill(0, 0, width + 1);
      let seen = 0;
      for (let i = start[row]!; i < end; i++) {
        const v = item[i]!;
        for (let k = first[v]!; k < first[v + 1]!; k++) {
          sum += seen;
          for (let p = position[lower[k]!]! + 1; p > 0; p -= p & -p) sum -= tree[p]!;
        }
        for (let k = first[v]!; k < first[v + 1]!; k++) {
          seen++;
          for (let p = position[lower[k]!]! + 1; p <= width; p += p & -p) tree[p]!++;
        }
      }
    }
    this.#next = row;
    return sum;
  }

  /** Selects the row whose items are compared next; the rows beside it stay fixed meanwhile. */
  compareIn(row: number): void {
    this.#row = row;
    this.#sorted = false;
  }

  #sort(): void {
    if (this.#sorted) return;
    this.#sorted = true;
    const { up, down, rows } = this.#graph;
    if (this.#row > 0) this.#sortLists(this.#row - 1, up, down);
    if (this.#row + 1 < rows) this.#sortLists(this.#row + 1, down, up);
  }

  /** Sorts the lists of the row by position in another row. */
  #sortLists(other: number, lists: CompressedRows, back: CompressedRows): void {
    const { item, start } = this.#order;
    const cursor = this.#cursor;
    for (let i = start[this.#row]!; i < start[this.#row + 1]!; i++) {
      cursor[item[i]!] = lists.start[item[i]!]!;
    }
    for (let i = start[other]!; i < start[other + 1]!; i++) {
      const v = item[i]!;
      for (let k = back.start[v]!; k < back.start[v + 1]!; k++) {
        lists.item[cursor[back.item[k]!]!++] = v;
      }
    }
  }

  /** Number of crossings saved by placing v left of u. */
  gain(u: number, v: number): number {
    const { position } = this.#order;
    let gain = 0;
    for (let side = 0; side < 2; side++) {
      const { start, item } = side === 0 ? this.#graph.up : this.#graph.down;
      const a = start[u]!;
      const aEnd = start[u + 1]!;
      const b = start[v]!;
      const bEnd = start[v + 1]!;
      if ((aEnd - a) * (bEnd - b) > FEW) {
        gain += this.#gainOfMany(item, a, aEnd, b, bEnd);
        continue;
      }
      for (let k = a; k < aEnd; k++) {
        const p = position[item[k]!]!;
        for (let q = b; q < bEnd; q++) {
          const other = position[item[q]!]!;
          if (other < p) gain++;
          else if (other > p) gain--;
        }
      }
    }
    return gain;
  }

  #gainOfMany(item: Int32Array, a: number, aEnd: number, b: number, bEnd: number): number {
    this.#sort();
    const { position } = this.#order;
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

  /** `gain` for crossings with straight lines only; crossings of two straight lines count twice. */
  lineGain(u: number, v: number, lines: StraightLines): number {
    const { position } = this.#order;
    let gain = 0;
    for (let which = 0; which < 4; which++) {
      const line = which < 2 ? lines.up : lines.down;
      const { start, item } = which < 2 ? this.#graph.up : this.#graph.down;
      const end = line[which % 2 === 0 ? u : v]!;
      const other = which % 2 === 0 ? v : u;
      if (end < 0) continue;
      const besides = this.#besides(position[end]!, item, start[other]!, start[other + 1]!);
      gain += which % 2 === 0 ? besides : -besides;
    }
    return gain;
  }

  /** Number of items left of a position less the number right of it. */
  #besides(p: number, item: Int32Array, from: number, to: number): number {
    const { position } = this.#order;
    let sum = 0;
    for (let k = from; k < to; k++) sum += Math.sign(p - position[item[k]!]!);
    return sum;
  }
}

export function widestRow({ start }: RowOrder): number {
  let widest = 0;
  for (let r = 0; r + 1 < start.length; r++) {
    const width = start[r + 1]! - start[r]!;
    if (width > widest) widest = width;
  }
  return widest;
}

/** Sorts all lists by position: every row points into exactly one other. */
export function sortLists({ item }: RowOrder, lists: CompressedRows, back: CompressedRows): void {
  const cursor = lists.start.slice();
  for (let i = 0; i < item.length; i++) {
    const v = item[i]!;
    for (let k = back.start[v]!; k < back.start[v + 1]!; k++) {
      lists.item[cursor[back.item[k]!]!++] = v;
    }
  }
}
