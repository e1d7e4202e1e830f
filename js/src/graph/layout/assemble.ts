import type { Acyclic } from "./acyclic.ts";
import { ENTRY } from "./levels.ts";
import type { Placement } from "./placement.ts";
import { Pen } from "./routing.ts";
import type { Expanded, Trunks } from "./trunks.ts";
import type { Geometry, Levels, Routes } from "./types.ts";

const STUB = 0.35;
const LOOP = 6;

/** Where each level's main line and first layer are in the whole picture. */
export interface Origins {
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

/** Joins the strokes of all levels to one an edge of the input, and draws stubs and self loops. */
export function joinStrokes(
  graph: Expanded,
  trunks: Trunks,
  edgeAt: Int32Array,
  acyclic: Acyclic,
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
  const { points } = strokes.pen;
  /** Of an edge whose level is laid out in another's place. */
  const leavesOf = (e: number): number => {
    const at = edgeAt[e]!;
    const left = strokes.leaves[at]!;
    return left < 0 ? -1 : left + e - at;
  };

  /** The stroke a whole line through a port goes on in. */
  const onward = new Int32Array(levels.count).fill(-1);
  for (let e = 0; e < source.length; e++) {
    if (last[edgeAt[e]!]! < 0) continue;
    const at = outPort[e]! >= 0 ? outPort[e]! : source[e]!;
    if (outPort[e]! < 0 && port[at] !== ENTRY) continue;
    if (onward[at]! < 0 && leavesOf(e) < 0) onward[at] = e;
  }
  const edgeOf = new Int32Array(source.length).fill(-1);
  for (let e = 0; e < edges; e++) {
    if (chainStart[e]! < chainStart[e + 1]!) edgeOf[chain[chainStart[e + 1]! - 1]!] = e;
  }
  /** The edge of the input that has a whole line's stroke. */
  const holder = (link: number): number => {
    let at = link;
    while (edgeOf[at]! < 0) at = onward[inPort[at]! >= 0 ? inPort[at]! : target[at]!]!;
    return edgeOf[at]!;
  };

  const offsets = new Int32Array(edges + 1);
  const trunk = new Int32Array(edges).fill(-1);
  const stubs: number[] = [];
  const pen = new Pen();
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
    const outX = origins.x[levelOf[u]!]! + ports.out[trunks.ofEdge[edgeAt[a]!]!]!;
    const inX = origins.x[levelOf[v]!]! + ports.in[edgeAt[b]!]!;
    const below = layerTop[lu + 1]! - layerBottom[lu]!;
    const above = layerTop[lv]! - layerBottom[lv - 1]!;
    pen.corner(outX, oy + y[u]! + height[u]! / 2);
    pen.corner(outX, oy + layerBottom[lu]! + STUB * below);
    pen.corner(inX, ty + layerTop[lv]! - STUB * above);
    pen.corner(inX, ty + y[v]! - height[v]! / 2);
    stubs.push(e);
  };
  const alone = levels.itemStart.length === 2;
  const line = (e: number) => {
    const first = chainStart[e]!;
    const end = chainStart[e + 1]!;
    let i = end - 1;
    while (i > first && leavesOf(chain[i]!) < 0 && holder(chain[i - 1]!) === e) i--;
    const left = leavesOf(chain[i]!);
    if (left >= 0) trunk[e] = holder(left);
    else if (i > first) trunk[e] = holder(chain[i - 1]!);
    for (; i < end; i++) {
      const link = chain[i]!;
      const l = levelOf[target[link]!]!;
      const from = strokes.start[edgeAt[link]!]!;
      const to = strokes.end[edgeAt[link]!]!;
      if (alone) pen.copy(points, from, to, origins.x[l]!, origins.y[l]!);
      else pen.follow(points, from, to, origins.x[l]!, origins.y[l]!);
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
