import type { Row, Slices } from "../data/slices.ts";
import {
  type Edge,
  edgeAfter,
  edgeBefore,
  endEdge,
  freely,
  nearestEdge,
  startEdge,
} from "./snap.ts";

/** The time between two edges: begun at one, the other moves until it is set. */
export class Measure {
  readonly #slices: Slices;
  /** Where the measure begins, null before it has begun. */
  first: Edge | null;
  second: Edge | null;
  /** Whether the second mark still follows pointer and arrows. */
  open = true;
  /** The row whose edges the arrows go through. */
  #row: number;

  /** Measures the slice first, where there is one. */
  constructor(slices: Slices, slice: number) {
    this.#slices = slices;
    this.first = slice < 0 ? null : startEdge(slices, slice);
    this.second = slice < 0 ? null : endEdge(slices, slice);
    this.#row = slices.rowOf(slice);
  }

  /** From the earlier to the later mark; null before there are two. */
  get range(): readonly [number, number] | null {
    if (!this.first || !this.second) return null;
    const [a, b] = [this.first.ns, this.second.ns];
    return a <= b ? [a, b] : [b, a];
  }

  get row(): number {
    return this.#row;
  }

  /** The pointer is over this edge. */
  follow(edge: Edge): void {
    if (this.open && this.first) this.second = edge;
  }

  /** Sets the first mark, then the second. */
  set(edge: Edge): void {
    if (!this.open) return;
    if (this.first) {
      this.second = edge;
      this.open = false;
    } else this.first = this.second = edge;
    if (edge.slice >= 0) this.#row = this.#slices.rowOf(edge.slice);
  }

  /** Moves the second mark to the next or previous edge of its row; begins at the row's first edge in view. */
  step(by: number, from: number): void {
    const row = this.#slices.rows[this.#row] ?? this.#slices.rows[0];
    if (!row) return;
    this.#row = row.number;
    const at = this.second?.ns ?? from;
    const edge = by > 0 ? edgeAfter(this.#slices, row, at) : edgeBefore(this.#slices, row, at);
    if (!edge) return;
    this.open = true;
    if (!this.first) this.first = edge;
    this.second = edge;
  }

  /** Moves the second mark to the nearest edge of the next row that has one, above or below. */
  stepRow(by: number): void {
    const { rows } = this.#slices;
    if (!this.second) return;
    for (let row = this.#row + by; rows[row]; row += by) {
      const edge = nearestEdge(this.#slices, [rows[row]!], this.second.ns, Infinity);
      if (!edge) continue;
      this.#row = row;
      this.open = true;
      this.second = edge;
      return;
    }
  }
}

/** The edge near a time in these rows, else the time itself, to the nanosecond where that is not seen. */
export function snapped(slices: Slices, rows: Iterable<Row>, ns: number, within: number): Edge {
  const edge = nearestEdge(slices, rows, ns, within);
  return edge ?? freely(within >= 1 ? Math.round(ns) : ns);
}
