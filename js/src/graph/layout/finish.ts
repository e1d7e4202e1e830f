import type { Order } from "./initial.ts";
import type { Layering } from "./layering.ts";
import type { Packing } from "./pack.ts";
import type { Placed } from "./routing.ts";
import type { Expanded } from "./trunks.ts";
import type { Bounds, Direction, Routes } from "./types.ts";

/** The nodes by layer, then from left to right. */
export function sortNodes(
  graph: Expanded,
  rows: Order,
  layering: Layering,
  packing: Packing,
  layer: Int32Array,
  nodeOf: Int32Array,
): { order: Int32Array; layerStart: Int32Array } {
  const layerStart = new Int32Array(packing.layers + 1);
  for (let v = 0; v < graph.nodes; v++) layerStart[layer[v]! + 1]!++;
  for (let l = 0; l < packing.layers; l++) layerStart[l + 1]! += layerStart[l]!;
  const fill = layerStart.slice(0, packing.layers);
  const order = new Int32Array(graph.nodes);
  for (const c of packing.sequence) {
    const from = rows.start[layering.rowStart[c]!]!;
    const to = rows.start[layering.rowStart[c + 1]!]!;
    for (let i = from; i < to; i++) {
      const v = rows.item[i]!;
      if (v < graph.nodes) order[fill[layer[v]!]!++] = nodeOf[v]!;
    }
  }
  return { order, layerStart };
}

function swapAxes(points: Float64Array): void {
  for (let i = 0; i < points.length; i += 2) {
    const t = points[i]!;
    points[i] = points[i + 1]!;
    points[i + 1] = t;
  }
}

/** Back to the names of the input, turned into the direction asked for; turns `routes` in place. */
export function finish(
  nodeOf: Int32Array,
  placed: Placed,
  routes: Routes,
  direction: Direction,
): { x: Float64Array; y: Float64Array; layer: Int32Array; bounds: Bounds } {
  const count = nodeOf.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const layer = new Int32Array(count);
  let left = count === 0 ? 0 : Number.POSITIVE_INFINITY;
  let right = count === 0 ? 0 : Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const v = nodeOf[i]!;
    x[v] = placed.x[i]!;
    y[v] = placed.y[i]!;
    layer[v] = placed.layer[i]!;
    left = Math.min(left, placed.x[i]! - placed.width[i]! / 2);
    right = Math.max(right, placed.x[i]! + placed.width[i]! / 2);
  }
  const { points } = routes;
  for (let i = 0; i < points.length; i += 2) {
    left = Math.min(left, points[i]!);
    right = Math.max(right, points[i]!);
  }
  const bottom = placed.layerBottom.length === 0 ? 0 : placed.layerBottom.at(-1)!;
  if (direction === "right") {
    swapAxes(points);
    const bounds = { minX: 0, minY: left, maxX: bottom, maxY: right };
    return { x: y, y: x, layer, bounds };
  }
  return { x, y, layer, bounds: { minX: left, minY: 0, maxX: right, maxY: bottom } };
}
