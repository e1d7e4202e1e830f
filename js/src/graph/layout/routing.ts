import type { Acyclic } from "./acyclic.ts";
import type { Ports } from "./ports.ts";
import type { Expanded, Trunks } from "./trunks.ts";
import type { Routes } from "./types.ts";

const STUB = 0.35;

/** A growing list of points that swallows points on a straight vertical. */
class Pen {
  points = new Float64Array(4096);
  count = 0;
  #start = 0;

  begin(): void {
    this.#start = this.count;
  }

  to(x: number, y: number): void {
    const p = this.points;
    const n = this.count;
    const inStroke = n - this.#start;
    if (inStroke > 0 && p[2 * n - 2] === x) {
      if (p[2 * n - 1] === y) return;
      if (inStroke > 1 && p[2 * n - 4] === x) {
        p[2 * n - 1] = y;
        return;
      }
    }
    this.corner(x, y);
  }

  /** A point that is kept even on a straight line. */
  corner(x: number, y: number): void {
    if (2 * this.count + 2 > this.points.length) {
      const longer = new Float64Array(2 * this.points.length);
      longer.set(this.points);
      this.points = longer;
    }
    this.points[2 * this.count] = x;
    this.points[2 * this.count + 1] = y;
    this.count++;
  }

  turnRound(): void {
    const p = this.points;
    for (let i = this.#start, j = this.count - 1; i < j; i++, j--) {
      for (let axis = 0; axis < 2; axis++) {
        const t = p[2 * i + axis]!;
        p[2 * i + axis] = p[2 * j + axis]!;
        p[2 * j + axis] = t;
      }
    }
  }
}

export interface Placed {
  /** Per item. */
  x: Float64Array;
  layer: Int32Array;
  /** Per node. */
  y: Float64Array;
  height: Float64Array;
  width: Float64Array;
  layerTop: Float64Array;
  layerBottom: Float64Array;
}

export function routeEdges(
  graph: Expanded,
  trunks: Trunks,
  acyclic: Acyclic,
  ports: Ports,
  placed: Placed,
): { routes: Routes; stubs: Int32Array } {
  const { x, layer, y, height, width, layerTop, layerBottom } = placed;
  const { source, target, flipped } = acyclic;
  const edges = source.length;
  const offsets = new Int32Array(edges + 1);
  const owner = new Int32Array(trunks.count).fill(-1);
  for (let e = 0; e < edges; e++) {
    const k = trunks.ofEdge[e]!;
    if (k < 0 || graph.last[e]! < graph.nodes) continue;
    if (owner[k]! < 0 || layer[target[e]!]! > layer[target[owner[k]!]!]!) owner[k] = e;
  }
  const trunk = new Int32Array(edges).fill(-1);
  const stubs: number[] = [];
  const pen = new Pen();
  const enter = (e: number) => {
    const v = target[e]!;
    pen.to(ports.in[e]!, layerTop[layer[v]!]!);
    pen.to(ports.in[e]!, y[v]! - height[v]! / 2);
  };
  for (let e = 0; e < edges; e++) {
    pen.begin();
    const k = trunks.ofEdge[e]!;
    if (k < 0) {
      const v = acyclic.loop.get(e)!;
      const right = x[v]! + width[v]! / 2;
      pen.corner(right, y[v]! - height[v]! / 4);
      pen.corner(right + 6, y[v]! - height[v]! / 4);
      pen.corner(right + 6, y[v]! + height[v]! / 4);
      pen.corner(right, y[v]! + height[v]! / 4);
      offsets[e + 1] = pen.count;
      continue;
    }
    const u = source[e]!;
    const v = target[e]!;
    const l = layer[u]!;
    if (graph.last[e]! < 0) {
      const outX = ports.out[k]!;
      const below = layerTop[l + 1]! - layerBottom[l]!;
      const above = layerTop[layer[v]!]! - layerBottom[layer[v]! - 1]!;
      pen.corner(outX, y[u]! + height[u]! / 2);
      pen.corner(outX, layerBottom[l]! + STUB * below);
      pen.corner(ports.in[e]!, layerTop[layer[v]!]! - STUB * above);
      pen.corner(ports.in[e]!, y[v]! - height[v]! / 2);
      stubs.push(e);
    } else if (graph.last[e]! >= graph.nodes && owner[k] !== e) {
      const point = graph.last[e]!;
      trunk[e] = owner[k]!;
      pen.to(x[point]!, layerBottom[layer[point]!]!);
      enter(e);
    } else {
      pen.to(ports.out[k]!, y[u]! + height[u]! / 2);
      pen.to(ports.out[k]!, layerBottom[l]!);
      const passed = graph.last[e]! >= graph.nodes ? graph.last[e]! - graph.firstPoint[k]! + 1 : 0;
      for (let i = 0; i < passed; i++) {
        const point = graph.firstPoint[k]! + i;
        pen.to(x[point]!, layerTop[layer[point]!]!);
        pen.to(x[point]!, layerBottom[layer[point]!]!);
      }
      enter(e);
    }
    if (flipped[e]) pen.turnRound();
    offsets[e + 1] = pen.count;
  }
  const points = pen.points.slice(0, 2 * pen.count);
  return { routes: { offsets, points, trunk }, stubs: Int32Array.from(stubs) };
}
