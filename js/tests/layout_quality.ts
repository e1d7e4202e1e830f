// Judges a layout by what is drawn: crossings of strokes, strokes over boxes, ink, area.
import type { LayoutInput, LayoutResult } from "../src/graph/layout/types.ts";

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

/** Pairs of strokes that run through the same channel and change sides in it. */
function countCrossings(result: LayoutResult, drawn: Segment[]): number {
  const { layerTop, layerBottom, layers } = result;
  const channels: [number, number][][] = Array.from({ length: layers }, () => []);
  for (const { x0, y0, x1, y1 } of drawn) {
    for (let l = firstAbove(layerTop, y0) - 1; l + 1 < layers; l++) {
      if (l < 0) continue;
      const from = Math.max(y0, layerBottom[l]!);
      const to = Math.min(y1, layerTop[l + 1]!);
      if (from < to) channels[l]!.push([x0, x1]);
      if (y1 <= layerTop[l + 1]!) break;
    }
  }
  let crossings = 0;
  for (const pieces of channels) {
    pieces.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    const ends = [...new Set(pieces.map((p) => p[1]))].sort((p, q) => p - q);
    const rank = new Map(ends.map((x, i) => [x, i + 1]));
    const tree = new Int32Array(ends.length + 1);
    let seen = 0;
    for (let i = 0; i < pieces.length; ) {
      let j = i;
      while (j < pieces.length && pieces[j]![0] === pieces[i]![0]) j++;
      for (let k = i; k < j; k++) {
        let notRight = 0;
        for (let r = rank.get(pieces[k]![1])!; r > 0; r -= r & -r) notRight += tree[r]!;
        crossings += seen - notRight;
      }
      for (let k = i; k < j; k++) {
        for (let r = rank.get(pieces[k]![1])!; r < tree.length; r += r & -r) tree[r]!++;
        seen++;
      }
      i = j;
    }
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

export function judge(input: LayoutInput, result: LayoutResult): Quality {
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
    crossings: countCrossings(result, drawn),
    overNodes: countOverNodes(input, result, drawn),
    overlaps: countOverlaps(input, result),
    bends,
    ink: Math.round(ink),
    area: Math.round((maxX - minX) * (maxY - minY)),
  };
}
