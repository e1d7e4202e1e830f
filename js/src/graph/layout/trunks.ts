import { neighbours, type Rows } from "./adjacency.ts";
import type { Layering } from "./layering.ts";

/** Edges of one tensor, (source, slot), share a trunk: one line down to the farthest reader. */
export interface Trunks {
  count: number;
  source: Int32Array;
  /** Per edge; -1 for a self loop. */
  ofEdge: Int32Array;
  /** Trunk count + 1; trunks are sorted by source, then slot. */
  edges: Rows;
}

/** The graph with a point for every row a trunk passes: items 0 … nodes - 1 are nodes, the rest are points. */
export interface Expanded {
  nodes: number;
  count: number;
  row: Int32Array;
  rows: number;
  /** First point and number of points per trunk. */
  firstPoint: Int32Array;
  points: Int32Array;
  /** Readers farther than this many rows are stubs. */
  reach: number;
  /** The item above the target on each edge, -1 for stubs and self loops. */
  last: Int32Array;
  down: Rows;
  up: Rows;
}

export function findTrunks(
  source: Int32Array,
  outgoing: Rows,
  slot: Int32Array | undefined,
  flipped: Uint8Array,
): Trunks {
  const nodes = outgoing.start.length - 1;
  const edges = outgoing.item;
  const key = (e: number): number => (flipped[e] ? 2 ** 32 + e : slot ? slot[e]! : 0);
  const ofEdge = new Int32Array(source.length).fill(-1);
  const trunkSource = new Int32Array(edges.length);
  const start = new Int32Array(edges.length + 1);
  let count = 0;
  for (let v = 0; v < nodes; v++) {
    const a = outgoing.start[v]!;
    const b = outgoing.start[v + 1]!;
    let sorted = true;
    for (let k = a + 1; k < b && sorted; k++) sorted = key(edges[k - 1]!) <= key(edges[k]!);
    if (!sorted) edges.subarray(a, b).sort((p, q) => key(p) - key(q) || p - q);
    for (let k = a; k < b; k++) {
      const e = edges[k]!;
      if (k === a || key(edges[k - 1]!) !== key(e)) {
        trunkSource[count] = v;
        start[count++] = k;
      }
      ofEdge[e] = count - 1;
    }
  }
  start[count] = edges.length;
  return {
    count,
    source: trunkSource.subarray(0, count),
    ofEdge,
    edges: { start: start.subarray(0, count + 1), item: edges },
  };
}

/** The greatest number of rows a line may pass so that all points together stay within the budget. */
function affordableReach(trunks: Trunks, spanOf: (e: number) => number, budget: number) {
  const { start, item } = trunks.edges;
  const spans = new Int32Array(trunks.count);
  let longest = 1;
  for (let k = 0; k < trunks.count; k++) {
    for (let i = start[k]!; i < start[k + 1]!; i++)
      spans[k] = Math.max(spans[k]!, spanOf(item[i]!));
    longest = Math.max(longest, spans[k]!);
  }
  const ending = new Int32Array(longest + 1);
  for (let k = 0; k < trunks.count; k++) ending[spans[k]!]!++;
  let alive = trunks.count;
  let used = 0;
  for (let span = 1; span < longest; span++) {
    alive -= ending[span]!;
    if (used + alive > budget) return span;
    used += alive;
  }
  return longest;
}

export function expand(
  layering: Layering,
  trunks: Trunks,
  source: Int32Array,
  target: Int32Array,
  budget: number,
): Expanded {
  const nodes = layering.row.length;
  const rowOf = layering.row;
  const spanOf = (e: number) => rowOf[target[e]!]! - rowOf[source[e]!]!;
  const reach = affordableReach(trunks, spanOf, budget);
  const firstPoint = new Int32Array(trunks.count);
  const points = new Int32Array(trunks.count);
  let count = nodes;
  let drawn = 0;
  for (let k = 0; k < trunks.count; k++) {
    let longest = 1;
    for (let i = trunks.edges.start[k]!; i < trunks.edges.start[k + 1]!; i++) {
      const span = spanOf(trunks.edges.item[i]!);
      if (span > reach) continue;
      drawn++;
      if (span > longest) longest = span;
    }
    firstPoint[k] = count;
    points[k] = longest - 1;
    count += longest - 1;
  }
  const row = new Int32Array(count);
  row.set(rowOf);
  const from = new Int32Array(drawn + count - nodes);
  const to = new Int32Array(drawn + count - nodes);
  let links = 0;
  for (let k = 0; k < trunks.count; k++) {
    let above = trunks.source[k]!;
    for (let i = 0; i < points[k]!; i++) {
      const point = firstPoint[k]! + i;
      row[point] = row[above]! + 1;
      from[links] = above;
      to[links++] = point;
      above = point;
    }
  }
  const last = new Int32Array(source.length).fill(-1);
  for (let e = 0; e < source.length; e++) {
    const k = trunks.ofEdge[e]!;
    if (k < 0) continue;
    const span = spanOf(e);
    if (span > reach) continue;
    const above = span === 1 ? source[e]! : firstPoint[k]! + span - 2;
    last[e] = above;
    from[links] = above;
    to[links++] = target[e]!;
  }
  return {
    nodes,
    count,
    row,
    rows: layering.rows,
    firstPoint,
    points,
    reach,
    last,
    down: neighbours(count, from, to),
    up: neighbours(count, to, from),
  };
}
