import { type CompressedRows, neighbors } from "./adjacency.ts";
import type { Layering, Levels } from "./types.ts";

/** Edges of one tensor, (source, slot), share a trunk: one line down to the farthest reader. */
export interface Trunks {
  count: number;
  source: Int32Array;
  /** Per edge; -1 for a self loop. */
  ofEdge: Int32Array;
  /** Trunk count + 1; trunks are sorted by source, then slot. */
  edges: CompressedRows;
}

/** The graph with a point for every row a trunk passes: items 0 … nodes - 1 are nodes, the rest are points. */
export interface ExpandedGraph {
  nodes: number;
  count: number;
  row: Int32Array;
  rows: number;
  /** First point and number of points per trunk. */
  firstPoint: Int32Array;
  points: Int32Array;
  /** Per node: ENTRY or EXIT for the port of a frame, else 0. */
  port: Uint8Array;
  /** The item above the target by edge, -1 for stubs and self loops. */
  last: Int32Array;
  down: CompressedRows;
  up: CompressedRows;
}

export function findTrunks(
  source: Int32Array,
  outgoing: CompressedRows,
  slot: Int32Array,
  flipped: Uint8Array,
): Trunks {
  const nodes = outgoing.start.length - 1;
  const edges = outgoing.item;
  const key = (e: number): number => (flipped[e] ? 2 ** 32 + e : slot[e]!);
  const ofEdge = new Int32Array(source.length).fill(-1);
  const trunkSource = new Int32Array(edges.length);
  const start = new Int32Array(edges.length + 1);
  let count = 0;
  for (let v = 0; v < nodes; v++) {
    const a = outgoing.start[v]!;
    const b = outgoing.start[v + 1]!;
    if (b - a > 1) sortEdges(edges, a, b, key);
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

function sortEdges(edges: Int32Array, from: number, to: number, key: (e: number) => number): void {
  let sorted = true;
  for (let k = from + 1; k < to && sorted; k++) sorted = key(edges[k - 1]!) <= key(edges[k]!);
  if (!sorted) edges.subarray(from, to).sort((p, q) => key(p) - key(q) || p - q);
}

/** The greatest number of rows a line may pass so that all points together stay within the budget. */
function affordableReach(spans: Int32Array, budget: number) {
  let longest = 1;
  for (let k = 0; k < spans.length; k++) if (spans[k]! > longest) longest = spans[k]!;
  const ending = new Int32Array(longest + 1);
  for (let k = 0; k < spans.length; k++) ending[spans[k]!]!++;
  let alive = spans.length;
  let used = 0;
  for (let span = 1; span < longest; span++) {
    alive -= ending[span]!;
    if (used + alive > budget) return span;
    used += alive;
  }
  return longest;
}

/** Number of readers from which distant readers of a tensor get stubs. */
const FAN_OUT = 4;
/** Rows without a reader of the tensor (several screens) that make the next reader distant. */
const FAR = 40;

/** Edges drawn as two ends: to readers beyond many rows without any, or beyond the budget of points. */
export function findStubs(
  { row }: Layering,
  trunks: Trunks,
  { source, target }: Levels,
  budget: number,
): Uint8Array {
  const stub = new Uint8Array(source.length);
  const { start, item } = trunks.edges;
  const span = new Int32Array(item.length);
  const longest = new Int32Array(trunks.count);
  for (let k = 0; k < trunks.count; k++) {
    for (let i = start[k]!; i < start[k + 1]!; i++) {
      span[i] = row[target[item[i]!]!]! - row[source[item[i]!]!]!;
      if (span[i]! > longest[k]!) longest[k] = span[i]!;
    }
  }
  const affordable = affordableReach(longest, budget);
  for (let k = 0; k < trunks.count; k++) {
    if (longest[k]! <= Math.min(affordable, FAR)) continue;
    const fan = start[k + 1]! - start[k]! >= FAN_OUT;
    const reach = Math.min(
      affordable,
      fan ? nearReach(span.slice(start[k], start[k + 1])) : affordable,
    );
    for (let i = start[k]!; i < start[k + 1]!; i++) if (span[i]! > reach) stub[item[i]!] = 1;
  }
  return stub;
}

/** Rows from a tensor to its last reader before the first wide gap. */
function nearReach(spans: Int32Array): number {
  let last = 0;
  for (const span of spans.sort()) {
    if (span - last > FAR) break;
    last = span;
  }
  return Math.max(1, last);
}

/**
 * Input edges that are stubs, no part of which is drawn through frames, and the level edges that only these need. An
 * edge that closes a cycle of frames, but none of boxes, is a stub too.
 */
export function spreadStubs({ chainStart, chain, flipped }: Levels, far: Uint8Array) {
  const stub = new Uint8Array(chainStart.length - 1);
  const hidden = new Uint8Array(far.length).fill(1);
  for (let e = 0; e < stub.length; e++) {
    const links = chain.subarray(chainStart[e]!, chainStart[e + 1]!);
    if (links.some((link) => far[link] || flipped[link])) stub[e] = 1;
    else for (const link of links) hidden[link] = 0;
  }
  return { stub, hidden };
}

export function expand(
  layering: Layering,
  trunks: Trunks,
  { source, target, port }: Levels,
  hidden: Uint8Array,
): ExpandedGraph {
  const nodes = layering.row.length;
  const rowOf = layering.row;
  const spanOf = (e: number) => rowOf[target[e]!]! - rowOf[source[e]!]!;
  const firstPoint = new Int32Array(trunks.count);
  const points = new Int32Array(trunks.count);
  let count = nodes;
  let drawn = 0;
  for (let k = 0; k < trunks.count; k++) {
    let longest = 1;
    for (let i = trunks.edges.start[k]!; i < trunks.edges.start[k + 1]!; i++) {
      if (hidden[trunks.edges.item[i]!]) continue;
      drawn++;
      const span = spanOf(trunks.edges.item[i]!);
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
    if (k < 0 || hidden[e]) continue;
    const span = spanOf(e);
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
    port,
    last,
    down: neighbors(count, from, to),
    up: neighbors(count, to, from),
  };
}

/** Left-to-right order of the items of every row. */
export interface RowOrder {
  /** Items by row; row r is item[start[r]] … item[start[r + 1] - 1]. */
  item: Int32Array;
  start: Int32Array;
  position: Int32Array;
}

export function initialOrder(graph: ExpandedGraph): RowOrder {
  const { count, rows, row, up, down } = graph;
  const start = new Int32Array(rows + 1);
  for (let v = 0; v < count; v++) start[row[v]! + 1]!++;
  for (let r = 0; r < rows; r++) start[r + 1]! += start[r]!;
  const fill = start.slice(0, rows);
  const item = new Int32Array(count);
  const position = new Int32Array(count);
  const seen = new Uint8Array(count);
  const stack = new Int32Array(up.item.length + 1);
  for (let sink = 0; sink < count; sink++) {
    if (down.start[sink] !== down.start[sink + 1]) continue;
    let depth = 0;
    stack[depth++] = sink;
    while (depth > 0) {
      const v = stack[--depth]!;
      if (seen[v]) continue;
      seen[v] = 1;
      const r = row[v]!;
      position[v] = fill[r]! - start[r]!;
      item[fill[r]!++] = v;
      for (let k = up.start[v + 1]! - 1; k >= up.start[v]!; k--) {
        if (!seen[up.item[k]!]) stack[depth++] = up.item[k]!;
      }
    }
  }
  return { item, start, position };
}

/** Weight of the line between two ports of a frame: it comes before all others. */
const PORT = 2 ** 20;

/** Number of boxes on the longest unbroken run of single-row edges that ends (up) or starts (down) at an item. */
export function runs(
  graph: ExpandedGraph,
  order: RowOrder,
  lists: CompressedRows,
  topFirst: boolean,
): Int32Array {
  const run = new Int32Array(graph.count);
  const { item } = order;
  for (let i = 0; i < item.length; i++) {
    const v = item[topFirst ? i : item.length - 1 - i]!;
    if (v >= graph.nodes) continue;
    let longest = 0;
    for (let k = lists.start[v]!; k < lists.start[v + 1]!; k++) {
      longest = Math.max(longest, run[lists.item[k]!]!);
    }
    run[v] = longest + (graph.port[v] === 0 ? 1 : PORT);
  }
  return run;
}

/** Per item: the middle one of the neighbors with the longest run; -1 without neighbors. */
export function bestNeighbors(
  graph: ExpandedGraph,
  lists: CompressedRows,
  run: Int32Array,
): Int32Array {
  const best = new Int32Array(graph.count).fill(-1);
  for (let v = 0; v < graph.count; v++) {
    const first = lists.start[v]!;
    const end = lists.start[v + 1]!;
    if (first === end) continue;
    let longest = -1;
    let ties = 0;
    for (let k = first; k < end; k++) {
      const length = run[lists.item[k]!]!;
      if (length > longest) {
        longest = length;
        ties = 0;
      }
      if (length === longest) ties++;
    }
    let skip = (ties - 1) >> 1;
    for (let k = first; k < end; k++) {
      if (run[lists.item[k]!] !== longest || skip-- > 0) continue;
      best[v] = lists.item[k]!;
      break;
    }
  }
  return best;
}

/** Lines to be kept straight: along a trunk, and between boxes that are mutually best neighbors. */
export interface StraightLines {
  /** The items straight above and below; -1 for none. */
  up: Int32Array;
  down: Int32Array;
}

export function findLines(graph: ExpandedGraph, order: RowOrder): StraightLines {
  const { count, nodes, up, down, firstPoint, points } = graph;
  const bestUp = bestNeighbors(graph, up, runs(graph, order, up, true));
  const bestDown = bestNeighbors(graph, down, runs(graph, order, down, false));
  const lines = { up: new Int32Array(count).fill(-1), down: new Int32Array(count).fill(-1) };
  const join = (u: number, v: number) => {
    lines.down[u] = v;
    lines.up[v] = u;
  };
  for (let u = 0; u < nodes; u++) {
    const v = bestDown[u]!;
    if (v >= 0 && v < nodes && bestUp[v] === u) join(u, v);
  }
  for (let k = 0; k < points.length; k++) {
    for (let i = 1; i < points[k]!; i++) join(firstPoint[k]! + i - 1, firstPoint[k]! + i);
  }
  return lines;
}
