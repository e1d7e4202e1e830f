import { identity } from "./acyclic.ts";
import type { Origins } from "./assemble.ts";
import type { Order } from "./initial.ts";
import type { Packing } from "./pack.ts";
import { sortByKey } from "./sort.ts";
import type { Expanded } from "./trunks.ts";
import type { Bounds, Frames, Geometry, Layering, LayoutResult, Levels, Routes } from "./types.ts";

type Layers = Pick<
  LayoutResult,
  "layer" | "layers" | "layerTop" | "layerBottom" | "order" | "layerStart"
>;

/** The rows of a graph without frames; the nodes by layer, then from left to right. */
export function layersOfRows(
  graph: Expanded,
  rows: Order,
  layering: Layering,
  packing: Packing,
  geometry: Geometry,
  nodeOf: Int32Array,
): Layers {
  const { layers } = packing;
  const layer = new Int32Array(graph.nodes);
  const layerStart = new Int32Array(layers + 1);
  for (let v = 0; v < graph.nodes; v++) {
    layer[nodeOf[v]!] = geometry.layer[v]!;
    layerStart[geometry.layer[v]! + 1]!++;
  }
  for (let l = 0; l < layers; l++) layerStart[l + 1]! += layerStart[l]!;
  const fill = layerStart.slice(0, layers);
  const order = new Int32Array(graph.nodes);
  for (const c of packing.sequence) {
    const from = rows.start[layering.rowStart[c]!]!;
    const to = rows.start[layering.rowStart[c + 1]!]!;
    for (let i = from; i < to; i++) {
      const v = rows.item[i]!;
      if (v < graph.nodes) order[fill[geometry.layer[v]!]!++] = nodeOf[v]!;
    }
  }
  const layerTop = geometry.layerTop.slice(0, layers);
  const layerBottom = geometry.layerBottom.slice(0, layers);
  return { layer, layers, layerTop, layerBottom, order, layerStart };
}

/** Clusters of boxes whose extents along the flow overlap; x and y in the direction "down". */
export function layersOfBoxes(x: Float64Array, y: Float64Array, height: ArrayLike<number>): Layers {
  const count = x.length;
  const order = identity(count);
  const key = new Float64Array(count);
  for (let v = 0; v < count; v++) key[v] = y[v]! - height[v]! / 2;
  sortByKey(order, key, count);
  const layer = new Int32Array(count);
  const start: number[] = [];
  const top: number[] = [];
  const bottom: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const v = order[i]!;
    if (key[i]! >= end) {
      start.push(i);
      top.push(key[i]!);
      bottom.push(end);
      end = key[i]!;
    }
    end = Math.max(end, y[v]! + height[v]! / 2);
    layer[v] = start.length - 1;
  }
  bottom.push(end);
  for (let l = 0; l < start.length; l++) {
    const members = order.subarray(start[l]!, start[l + 1] ?? count);
    for (let i = 0; i < members.length; i++) key[i] = x[members[i]!]!;
    sortByKey(members, key, members.length);
  }
  return {
    layer,
    layers: start.length,
    layerTop: Float64Array.from(top),
    layerBottom: Float64Array.from(bottom.slice(1)),
    order,
    layerStart: Int32Array.from([...start, count]),
  };
}

/** Centers of the boxes by their names in the input. */
export function placeBoxes(
  itemOfBox: Int32Array,
  nodeOf: Int32Array,
  { levelOf }: Levels,
  geometry: Geometry,
  origins: Origins,
): { x: Float64Array; y: Float64Array } {
  const x = new Float64Array(nodeOf.length);
  const y = new Float64Array(nodeOf.length);
  for (let b = 0; b < nodeOf.length; b++) {
    const v = itemOfBox[b]!;
    const l = levelOf[v]!;
    x[nodeOf[b]!] = origins.x[l]! + geometry.x[v]!;
    y[nodeOf[b]!] = origins.y[l]! + geometry.y[v]!;
  }
  return { x, y };
}

export function placeFrames(
  { itemOfFrame, levelOf }: Levels,
  { x, y, left, right, height }: Geometry,
  origins: Origins,
): Frames {
  const each = (measure: (item: number, level: number) => number) =>
    Float64Array.from(itemOfFrame, (v) => measure(v, levelOf[v]!));
  return {
    x: each((v, l) => origins.x[l]! + x[v]! - left[v]!),
    y: each((v, l) => origins.y[l]! + y[v]! - height[v]! / 2),
    width: each((v) => left[v]! + right[v]!),
    height: each((v) => height[v]!),
  };
}

/** What boxes, frames and strokes cover; x and y in the direction "down". */
export function boundsOf(
  x: Float64Array,
  width: ArrayLike<number>,
  frames: Frames,
  { points }: Routes,
  bottom: number,
): Bounds {
  let left = x.length === 0 ? 0 : Number.POSITIVE_INFINITY;
  let right = x.length === 0 ? 0 : Number.NEGATIVE_INFINITY;
  for (let v = 0; v < x.length; v++) {
    left = Math.min(left, x[v]! - width[v]! / 2);
    right = Math.max(right, x[v]! + width[v]! / 2);
  }
  for (let f = 0; f < frames.x.length; f++) {
    left = Math.min(left, frames.x[f]!);
    right = Math.max(right, frames.x[f]! + frames.width[f]!);
  }
  for (let i = 0; i < points.length; i += 2) {
    left = Math.min(left, points[i]!);
    right = Math.max(right, points[i]!);
  }
  return { minX: left, minY: 0, maxX: right, maxY: bottom };
}

/** Turned for the direction "right", in place where that can be. */
export function transpose<
  T extends { x: Float64Array; y: Float64Array; frames: Frames; bounds: Bounds; routes: Routes },
>(result: T): T {
  const { points } = result.routes;
  for (let i = 0; i < points.length; i += 2) {
    const t = points[i]!;
    points[i] = points[i + 1]!;
    points[i + 1] = t;
  }
  const { x, y, width, height } = result.frames;
  const { minX, minY, maxX, maxY } = result.bounds;
  return {
    ...result,
    x: result.y,
    y: result.x,
    frames: { x: y, y: x, width: height, height: width },
    bounds: { minX: minY, minY: minX, maxX: maxY, maxY: maxX },
  };
}
