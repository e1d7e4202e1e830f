import type { Rows } from "./adjacency.ts";
import type { Order } from "./initial.ts";
import type { Expanded } from "./trunks.ts";

/** The line between two ports of a frame goes before all others. */
const PORT = 2 ** 20;

/** Number of boxes on the longest unbroken run of single-row edges that ends (up) or starts (down) at each item. */
export function runs(graph: Expanded, order: Order, lists: Rows, topFirst: boolean): Int32Array {
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

/** Of the neighbors with the longest run the middle one; -1 without neighbors. */
export function bestNeighbors(graph: Expanded, lists: Rows, run: Int32Array): Int32Array {
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

/** Lines that shall be straight: along a trunk, and between boxes that are each other's best neighbor. */
export interface Lines {
  /** The item straight above and below; -1 without. */
  up: Int32Array;
  down: Int32Array;
}

export function findLines(graph: Expanded, order: Order): Lines {
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
