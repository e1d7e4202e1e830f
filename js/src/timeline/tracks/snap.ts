import type { Row, Slices } from "../data/slices.ts";

/** Where a slice starts or ends. */
export interface Edge {
  ns: number;
  /** -1: a time that no slice starts or ends at. */
  slice: number;
  end: "start" | "end";
}

/** A time beside every edge. */
export function freely(ns: number): Edge {
  return { ns, slice: -1, end: "start" };
}

export function startEdge(slices: Slices, slice: number): Edge {
  return { ns: slices.startOf(slice), slice, end: "start" };
}

export function endEdge(slices: Slices, slice: number): Edge {
  return { ns: slices.endOf(slice), slice, end: "end" };
}

/** The edge of these rows that is nearest to a time and at most `within` from it; of equals that of the first row. */
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
