import type { Crossings } from "./crossings.ts";
import type { Order } from "./initial.ts";
import { findLines, type Lines } from "./runs.ts";
import type { Expanded } from "./trunks.ts";

const ROUNDS = 2;
/** Items in rows that are handled without a chance to pause. */
const PAUSE = 16_384;
/** Rows a crossing is followed along its two lines, and the widest row it is followed through. */
const FARTHEST = 64;
const WIDEST = 64;
/** Crossings there may be more on the way to fewer. */
const MOST_DEBT = 2;

/** Where orders have equally many crossings, prefers the one that leaves main line and trunks straight. */
export class Polisher {
  readonly #order: Order;
  readonly #crossings: Crossings;
  readonly #lines: Lines;

  constructor(graph: Expanded, order: Order, crossings: Crossings) {
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

  /** Two lines that cross on one side of a row are swapped against the other side until that pays. */
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
