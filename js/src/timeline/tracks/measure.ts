import type { Row } from "../data/row.ts";
import type { Slices } from "../data/slices.ts";

/** Start or end of a slice. */
export interface Edge {
  ns: number;
  /** -1: a time without a slice's edge. */
  slice: number;
  end: "start" | "end";
}

function startEdge(slices: Slices, slice: number): Edge {
  return { ns: slices.startOf(slice), slice, end: "start" };
}

function endEdge(slices: Slices, slice: number): Edge {
  return { ns: slices.endOf(slice), slice, end: "end" };
}

/** The edge of these rows nearest to a time and at most `within` from it; of equals that of the first row. */
export function nearestEdge(
  slices: Slices,
  rows: Iterable<Row>,
  ns: number,
  within: number,
): Edge | null {
  let [best, apart] = [null as Edge | null, within];
  const take = (edge: Edge | null) => {
    if (!edge) return;
    const by = Math.abs(edge.ns - ns);
    if (by < apart || (by === apart && !best)) [best, apart] = [edge, by];
  };
  for (const row of rows) {
    take(edgeFrom(slices, row, ns));
    take(edgeAfter(slices, row, ns));
    take(edgeBefore(slices, row, ns));
  }
  return best;
}

/** An edge of a row at exactly this time: a start rather than an end. */
function edgeFrom(slices: Slices, row: Row, ns: number): Edge | null {
  const at = row.startingAt(ns);
  if (at < row.last && slices.startOf(at) === ns) return startEdge(slices, at);
  const ended = row.endingAfter(ns) - 1;
  return ended >= row.first && slices.endOf(ended) === ns ? endEdge(slices, ended) : null;
}

/** The first edge of a row after a time. */
export function edgeAfter(slices: Slices, row: Row, ns: number): Edge | null {
  const at = row.endingAfter(ns);
  if (at >= row.last) return null;
  if (slices.startOf(at) > ns) return startEdge(slices, at);
  const next = at + 1;
  if (next < row.last && slices.startOf(next) > ns && slices.startOf(next) <= slices.endOf(at)) {
    return startEdge(slices, next);
  }
  return endEdge(slices, at);
}

/** The last edge of a row before a time. */
export function edgeBefore(slices: Slices, row: Row, ns: number): Edge | null {
  const at = row.startingAt(ns) - 1;
  if (at < row.first) return null;
  if (slices.endOf(at) < ns) return endEdge(slices, at);
  const before = at - 1;
  if (
    before >= row.first &&
    slices.endOf(before) < ns &&
    slices.endOf(before) > slices.startOf(at)
  ) {
    return endEdge(slices, before);
  }
  return startEdge(slices, at);
}

/** A measure between two edges: the first is fixed, the second moves until it is set. */
export class Measure {
  readonly #slices: Slices;
  /** First edge; null before it is set. */
  first: Edge | null;
  second: Edge | null;
  /** True while the second mark follows pointer and arrows. */
  open = true;
  row: number;

  /** Measures a slice first, if one is given. */
  constructor(slices: Slices, slice: number) {
    this.#slices = slices;
    this.first = slice < 0 ? null : startEdge(slices, slice);
    this.second = slice < 0 ? null : endEdge(slices, slice);
    this.row = slices.rowOf(slice);
  }

  /** From the earlier to the later mark; null without both. */
  get range(): readonly [number, number] | null {
    if (!this.first || !this.second) return null;
    const [a, b] = [this.first.ns, this.second.ns];
    return a <= b ? [a, b] : [b, a];
  }

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
    if (edge.slice >= 0) this.row = this.#slices.rowOf(edge.slice);
  }

  /** Moves the second mark to the next or previous edge of its row; begins at the row's first visible edge. */
  step(by: number, from: number): void {
    const row = this.#slices.rows[this.row] ?? this.#slices.rows[0];
    if (!row) return;
    this.row = row.number;
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
    for (let row = this.row + by; rows[row]; row += by) {
      const edge = nearestEdge(this.#slices, [rows[row]!], this.second.ns, Infinity);
      if (!edge) continue;
      this.row = row;
      this.open = true;
      this.second = edge;
      return;
    }
  }
}

/** The edge near a time in these rows, else the time itself, rounded to nanoseconds if that is invisible. */
export function snapped(slices: Slices, rows: Iterable<Row>, ns: number, within: number): Edge {
  const edge = nearestEdge(slices, rows, ns, within);
  return edge ?? { ns: within >= 1 ? Math.round(ns) : ns, slice: -1, end: "start" };
}
