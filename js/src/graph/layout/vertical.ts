import type { Order } from "./initial.ts";
import type { Expanded } from "./trunks.ts";
import type { Geometry, LevelGraphs } from "./types.ts";

/** Height a channel gains per pixel its widest edge runs sideways, and at most. */
const SLANT = 0.06;
const MOST = 1;

/**
 * Stacks the layers of a level from its top, those of the rows from … to - 1: each as tall as its tallest box, the channels
 * as tall as their edges need to be readable; what open frames push aside below a channel does not count, so that opening
 * one moves nothing above it. Frames hang from the top of their layer, and where there are some, boxes do
 * too; but what has no inputs stands at the foot, by its readers.
 */
export function stackLayers(
  graph: Expanded,
  levels: LevelGraphs,
  order: Order,
  geometry: Geometry,
  rows: readonly [from: number, to: number],
  edges: readonly [from: number, to: number],
  layerGap: number,
): number {
  const { nodes, down, up, last } = graph;
  const { frame, outPort, target } = levels;
  const { x, nominal, y, height, layer, layerTop, layerBottom } = geometry;
  const items = order.item.subarray(order.start[rows[0]]!, order.start[rows[1]]!);
  const count = rows[1] - rows[0];
  const tall = new Float64Array(count);
  const plain = new Float64Array(count);
  const reach = new Float64Array(count);
  let layers = 0;
  for (const v of items) {
    const l = layer[v]! - rows[0];
    layers = Math.max(layers, l + 1);
    if (v < nodes) {
      tall[l] = Math.max(tall[l]!, height[v]!);
      if (frame[v]! < 0) plain[l] = Math.max(plain[l]!, height[v]!);
    }
    for (let k = down.start[v]!; k < down.start[v + 1]!; k++) {
      reach[l] = Math.max(reach[l]!, Math.abs(nominal[down.item[k]!]! - x[v]!));
    }
  }
  for (let e = edges[0]; e < edges[1]; e++) {
    const v = last[e]!;
    if (v < 0 || v >= nodes || outPort[e]! < 0) continue;
    const sideways = Math.abs(nominal[target[e]!]! - x[v]! - x[outPort[e]!]!);
    const l = layer[v]! - rows[0];
    reach[l] = Math.max(reach[l]!, sideways);
  }
  let top = 0;
  let bottom = 0;
  for (let l = 0; l < layers; l++) {
    bottom = top + tall[l]!;
    layerTop[rows[0] + l] = top;
    layerBottom[rows[0] + l] = bottom;
    top += tall[l]! + layerGap + Math.min(MOST * layerGap, Math.floor(SLANT * reach[l]!));
  }
  for (const v of items) {
    if (v >= nodes) continue;
    const l = layer[v]! - rows[0];
    const own = frame[v]! < 0 ? plain[l]! : height[v]!;
    const source = own < tall[l]! && up.start[v] === up.start[v + 1];
    const from = source ? layerBottom[layer[v]!]! - own : layerTop[layer[v]!]!;
    y[v] = (from + (from + own)) / 2;
  }
  return bottom;
}
