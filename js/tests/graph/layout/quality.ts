// Judges a layout by what is drawn: crossings of strokes, strokes over boxes, ink, area.
import type { LayoutInput, LayoutResult } from "../../../src/graph/layout/types.ts";

export interface Quality {
  crossings: number;
  overNodes: number;
  overlaps: number;
  bends: number;
  /** Total length of the strokes, px. */
  ink: number;
  /** Area of the picture, px². */
  area: number;
}

export interface Segment {
  edge: number;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** What is drawn, one entry per straight piece, in "down" coordinates; the gap of a stub is left out. */
export function segments(result: LayoutResult): Segment[] {
  const { offsets, points } = result.routes;
  const stub = new Set(result.stubs);
  const a = result.direction === "down" ? 0 : 1;
  const drawn: Segment[] = [];
  for (let edge = 0; edge + 1 < offsets.length; edge++) {
    for (let i = offsets[edge]!; i + 1 < offsets[edge + 1]!; i++) {
      if (stub.has(edge) && i === offsets[edge]! + 1) continue;
      let [x0, y0, x1, y1] = [
        points[2 * i + a]!,
        points[2 * i + 1 - a]!,
        points[2 * i + 2 + a]!,
        points[2 * i + 3 - a]!,
      ];
      if (y0 > y1) [x0, y0, x1, y1] = [x1, y1, x0, y0];
      drawn.push({ edge, x0, y0, x1, y1 });
    }
  }
  return drawn;
}

/** First l with end[l] > y. */
function firstAbove(end: Float64Array, y: number): number {
  let low = 0;
  let high = end.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (end[mid]! > y) high = mid;
    else low = mid + 1;
  }
  return low;
}

/** Height of the bands in which pieces are compared, px. */
const BAND = 60;

/** Whether two pieces cross, in the inside of both. */
export function cross(p: Segment, q: Segment): boolean {
  const side = (s: Segment, x: number, y: number) =>
    Math.sign((s.x1 - s.x0) * (y - s.y0) - (s.y1 - s.y0) * (x - s.x0));
  return (
    side(p, q.x0, q.y0) * side(p, q.x1, q.y1) < 0 && side(q, p.x0, p.y0) * side(q, p.x1, p.y1) < 0
  );
}

/** Pairs of pieces that cross. */
function countCrossings(drawn: Segment[]): number {
  const bands = new Map<number, Segment[]>();
  for (const piece of drawn) {
    for (let b = Math.floor(piece.y0 / BAND); b <= Math.floor(piece.y1 / BAND); b++) {
      const members = bands.get(b);
      if (members) members.push(piece);
      else bands.set(b, [piece]);
    }
  }
  const left = ({ x0, x1 }: Segment) => Math.min(x0, x1);
  let crossings = 0;
  for (const [band, members] of bands) {
    members.sort((p, q) => left(p) - left(q));
    members.forEach((p, i) => {
      for (let j = i + 1; j < members.length && left(members[j]!) <= Math.max(p.x0, p.x1); j++) {
        const q = members[j]!;
        if (Math.floor(Math.max(p.y0, q.y0) / BAND) === band && cross(p, q)) crossings++;
      }
    });
  }
  return crossings;
}

function countOverNodes(input: LayoutInput, result: LayoutResult, drawn: Segment[]): number {
  const down = result.direction === "down";
  const [x, y] = down ? [result.x, result.y] : [result.y, result.x];
  const [width, height] = down ? [input.width, input.height] : [input.height, input.width];
  const { order, layerStart, layerTop, layerBottom, layers } = result;
  let hits = 0;
  for (const { edge, x0, y0, x1, y1 } of drawn) {
    const at = (v: number) => (y1 === y0 ? x0 : x0 + ((x1 - x0) * (v - y0)) / (y1 - y0));
    for (let l = firstAbove(layerBottom, y0); l < layers && layerTop[l]! < y1; l++) {
      const a = at(Math.max(y0, layerTop[l]!));
      const b = at(Math.min(y1, layerBottom[l]!));
      let low = layerStart[l]!;
      let high = layerStart[l + 1]!;
      while (low < high) {
        const mid = (low + high) >> 1;
        if (x[order[mid]!]! + width[order[mid]!]! / 2 > Math.min(a, b)) high = mid;
        else low = mid + 1;
      }
      for (let i = low; i < layerStart[l + 1]!; i++) {
        const v = order[i]!;
        if (x[v]! - width[v]! / 2 >= Math.max(a, b)) break;
        if (v === input.source[edge] || v === input.target[edge]) continue;
        const from = Math.max(y0, y[v]! - height[v]! / 2);
        const to = Math.min(y1, y[v]! + height[v]! / 2);
        if (from >= to) continue;
        const left = Math.min(at(from), at(to));
        const right = Math.max(at(from), at(to));
        if (right > x[v]! - width[v]! / 2 && left < x[v]! + width[v]! / 2) hits++;
      }
    }
  }
  return hits;
}

function countOverlaps(input: LayoutInput, result: LayoutResult): number {
  const down = result.direction === "down";
  const x = down ? result.x : result.y;
  const width = down ? input.width : input.height;
  let overlaps = 0;
  for (let l = 0; l < result.layers; l++) {
    if (l > 0 && result.layerTop[l]! < result.layerBottom[l - 1]!) overlaps++;
    for (let i = result.layerStart[l]! + 1; i < result.layerStart[l + 1]!; i++) {
      const u = result.order[i - 1]!;
      const v = result.order[i]!;
      if (x[v]! - width[v]! / 2 < x[u]! + width[u]! / 2) overlaps++;
    }
  }
  return overlaps;
}

/** Counting the crossings takes long where very many lines run side by side. */
export function judge(input: LayoutInput, result: LayoutResult, crossings = true): Quality {
  const drawn = segments(result);
  let ink = 0;
  for (const { x0, y0, x1, y1 } of drawn) ink += Math.hypot(x1 - x0, y1 - y0);
  const { offsets } = result.routes;
  let bends = 0;
  for (let e = 0; e + 1 < offsets.length; e++) {
    bends += Math.max(0, offsets[e + 1]! - offsets[e]! - 2);
  }
  const { minX, minY, maxX, maxY } = result.bounds;
  return {
    crossings: crossings ? countCrossings(drawn) : Number.NaN,
    overNodes: countOverNodes(input, result, drawn),
    overlaps: countOverlaps(input, result),
    bends,
    ink: Math.round(ink),
    area: Math.round((maxX - minX) * (maxY - minY)),
  };
}
