import { sortByKey } from "./adjacency.ts";
import { type AcyclicGraph, ENTRY, identity } from "./layering.ts";
import type { Placement } from "./placement.ts";
import { StrokePen } from "./routing.ts";
import type { ExpandedGraph, Trunks } from "./trunks.ts";
import type { Bounds, Frames, Geometry, LayoutResult, Levels, Routes } from "./types.ts";

const STUB = 0.35;
const LOOP = 6;

/** Positions of the levels' main lines and first layers in the final picture. */
interface Origins {
  x: Float64Array;
  y: Float64Array;
}

export function originsOf(
  { levelOf, itemOfFrame }: Levels,
  { x, y, height, above }: Geometry,
): Origins {
  const origins = { x: new Float64Array(above.length), y: new Float64Array(above.length) };
  for (let l = 1; l < above.length; l++) {
    const item = itemOfFrame[l - 1]!;
    const outer = levelOf[item]!;
    origins.x[l] = origins.x[outer]! + x[item]!;
    origins.y[l] = origins.y[outer]! + y[item]! - height[item]! / 2 + above[l]!;
  }
  return origins;
}

/** Joins the strokes of all levels to one per input edge, and draws stubs and self loops. */
export function joinStrokes(
  graph: ExpandedGraph,
  trunks: Trunks,
  acyclic: AcyclicGraph,
  levels: Levels,
  itemOfBox: Int32Array,
  geometry: Geometry,
  origins: Origins,
  { ports, strokes }: Placement,
  stub: Uint8Array,
): { routes: Routes; stubs: Int32Array } {
  const { levelOf, source, target, inPort, outPort, port, chainStart, chain } = levels;
  const { x, y, right, height, layer, layerTop, layerBottom } = geometry;
  const { last } = graph;
  const edges = acyclic.source.length;
  const { pen: own, start, end, leaves } = strokes;
  /** Continuation of a complete line beyond a port. */
  const onward = new Int32Array(levels.count).fill(-1);
  for (let e = 0; e < source.length; e++) {
    if (last[e]! < 0) continue;
    const at = outPort[e]! >= 0 ? outPort[e]! : source[e]!;
    if (outPort[e]! < 0 && port[at] !== ENTRY) continue;
    if (onward[at]! < 0 && leaves[e]! < 0) onward[at] = e;
  }
  const edgeOf = new Int32Array(source.length).fill(-1);
  for (let e = 0; e < edges; e++) {
    if (chainStart[e]! < chainStart[e + 1]!) edgeOf[chain[chainStart[e + 1]! - 1]!] = e;
  }
  const holder = (link: number): number => {
    let at = link;
    while (edgeOf[at]! < 0) at = onward[inPort[at]! >= 0 ? inPort[at]! : target[at]!]!;
    return edgeOf[at]!;
  };

  const offsets = new Int32Array(edges + 1);
  const trunk = new Int32Array(edges).fill(-1);
  const stubs: number[] = [];
  const pen = new StrokePen();
  const loop = (e: number) => {
    const v = itemOfBox[acyclic.loop.get(e)!]!;
    const border = origins.x[levelOf[v]!]! + x[v]! + right[v]!;
    const middle = origins.y[levelOf[v]!]! + y[v]!;
    pen.corner(border, middle - height[v]! / 4);
    pen.corner(border + LOOP, middle - height[v]! / 4);
    pen.corner(border + LOOP, middle + height[v]! / 4);
    pen.corner(border, middle + height[v]! / 4);
  };
  const ends = (e: number) => {
    const a = chain[chainStart[e]!]!;
    const b = chain[chainStart[e + 1]! - 1]!;
    const u = source[a]!;
    const v = target[b]!;
    const lu = layer[u]!;
    const lv = layer[v]!;
    const oy = origins.y[levelOf[u]!]!;
    const ty = origins.y[levelOf[v]!]!;
    const outX = origins.x[levelOf[u]!]! + ports.out[trunks.ofEdge[a]!]!;
    const inX = origins.x[levelOf[v]!]! + ports.in[b]!;
    const below = layerTop[lu + 1]! - layerBottom[lu]!;
    const above = layerTop[lv]! - layerBottom[lv - 1]!;
    pen.corner(outX, oy + y[u]! + height[u]! / 2);
    pen.corner(outX, oy + layerBottom[lu]! + STUB * below);
    pen.corner(inX, ty + layerTop[lv]! - STUB * above);
    pen.corner(inX, ty + y[v]! - height[v]! / 2);
    stubs.push(e);
  };
  const line = (e: number) => {
    const first = chainStart[e]!;
    const beyond = chainStart[e + 1]!;
    let i = beyond - 1;
    while (i > first && leaves[chain[i]!]! < 0 && holder(chain[i - 1]!) === e) i--;
    const left = leaves[chain[i]!]!;
    if (left >= 0) trunk[e] = holder(left);
    else if (i > first) trunk[e] = holder(chain[i - 1]!);
    for (; i < beyond; i++) {
      const link = chain[i]!;
      const l = levelOf[target[link]!]!;
      pen.follow(own.points, start[link]!, end[link]!, origins.x[l]!, origins.y[l]!);
    }
  };
  for (let e = 0; e < edges; e++) {
    pen.begin();
    if (acyclic.source[e]! < 0) loop(e);
    else if (stub[e]) ends(e);
    else line(e);
    if (acyclic.flipped[e]) pen.turnRound();
    offsets[e + 1] = pen.count;
  }
  return {
    routes: { offsets, points: pen.points.slice(0, 2 * pen.count), trunk },
    stubs: Int32Array.from(stubs),
  };
}

type Layers = Pick<
  LayoutResult,
  "layer" | "layers" | "layerTop" | "layerBottom" | "order" | "layerStart"
>;

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

/** Centers of the boxes by input node. */
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
  const extent = (measure: (item: number, level: number) => number) =>
    Float64Array.from(itemOfFrame, (v) => measure(v, levelOf[v]!));
  return {
    x: extent((v, l) => origins.x[l]! + x[v]! - left[v]!),
    y: extent((v, l) => origins.y[l]! + y[v]! - height[v]! / 2),
    width: extent((v) => left[v]! + right[v]!),
    height: extent((v) => height[v]!),
  };
}

/** Bounds of boxes, frames and strokes; x and y in the direction "down". */
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
