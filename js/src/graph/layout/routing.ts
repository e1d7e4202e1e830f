import { busFinder, type Ports } from "./ports.ts";
import type { ExpandedGraph, Trunks } from "./trunks.ts";
import type { Geometry, Levels } from "./types.ts";

/** A growing list of points that merges points on a straight vertical. */
export class StrokePen {
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

  /** Adds a point that is kept even on a straight line. */
  corner(x: number, y: number): void {
    if (2 * this.count + 2 > this.points.length) this.#grow();
    this.points[2 * this.count] = x;
    this.points[2 * this.count + 1] = y;
    this.count++;
  }

  /** Copies points that continue the current stroke, moved. */
  follow(points: Float64Array, from: number, to: number, x: number, y: number): void {
    for (let p = from; p < to; p++) this.to(x + points[2 * p]!, y + points[2 * p + 1]!);
  }

  #grow(): void {
    const longer = new Float64Array(2 * this.points.length);
    longer.set(this.points);
    this.points = longer;
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

/** Strokes of the level graphs' edges, in the coordinates of their levels. */
export interface Strokes {
  /** Start per edge, in points; empty for a hidden edge. */
  start: Int32Array;
  end: Int32Array;
  pen: StrokePen;
  /** Per edge: the edge whose stroke it leaves; -1 if its own is complete. */
  leaves: Int32Array;
}

/** Returns a function that draws the edges from … to - 1, whose level must have its ports and layers. */
export function strokeDrawer(
  graph: ExpandedGraph,
  trunks: Trunks,
  levels: Levels,
  ports: Ports,
  geometry: Geometry,
): { strokes: Strokes; draw: (from: number, to: number) => void } {
  const { nodes, last, firstPoint, points } = graph;
  const { source, target } = levels;
  const { x, layer, y, height, layerTop, layerBottom } = geometry;
  const { buses, find } = busFinder(graph, trunks, levels, ports, geometry);
  const owner = new Int32Array(trunks.count).fill(-1);
  const start = new Int32Array(source.length);
  const end = new Int32Array(source.length);
  const { leaves } = buses;
  const pen = new StrokePen();
  let longest = 0;
  for (let k = 0; k < points.length; k++) if (points[k]! > longest) longest = points[k]!;
  /** x and y pairs of one stroke: its trunk's, and at most six at its ends. */
  const way = new Float64Array(4 * longest + 12);
  const own = (from: number, to: number) => {
    for (let e = from; e < to; e++) {
      if (last[e]! < nodes || leaves[e]! >= 0) continue;
      const k = trunks.ofEdge[e]!;
      if (owner[k]! < 0 || layer[target[e]!]! > layer[target[owner[k]!]!]!) owner[k] = e;
    }
  };
  const stroke = (e: number) => {
    start[e] = pen.count;
    end[e] = pen.count;
    const above = last[e]!;
    if (above < 0) return;
    const k = trunks.ofEdge[e]!;
    const v = target[e]!;
    const bus = buses.at[e]!;
    const branch = leaves[e]! >= 0;
    let n = 0;
    if (!branch) {
      if (above >= nodes && owner[k] !== e) {
        leaves[e] = owner[k]!;
        way[n++] = x[above]!;
        way[n++] = layerBottom[layer[above]!]!;
      } else {
        const u = source[e]!;
        way[n++] = ports.out[k]!;
        way[n++] = y[u]! + height[u]! / 2;
        way[n++] = ports.out[k]!;
        way[n++] = layerBottom[layer[u]!]!;
        for (let point = firstPoint[k]!; above >= nodes && point <= above; point++) {
          way[n++] = x[point]!;
          way[n++] = layerTop[layer[point]!]!;
          way[n++] = x[point]!;
          way[n++] = layerBottom[layer[point]!]!;
        }
      }
    }
    if (bus >= 0) {
      if (!branch || buses.outer[e]) {
        way[n++] = buses.stem[e]!;
        way[n++] = bus;
      }
      way[n++] = ports.in[e]!;
      way[n++] = bus;
    }
    way[n++] = ports.in[e]!;
    way[n++] = layerTop[layer[v]!]!;
    way[n++] = ports.in[e]!;
    way[n++] = y[v]! - height[v]! / 2;
    pen.begin();
    pen.follow(way, 0, n / 2, 0, 0);
    end[e] = pen.count;
  };
  const draw = (from: number, to: number) => {
    find(from, to);
    own(from, to);
    for (let e = from; e < to; e++) stroke(e);
  };
  return { strokes: { start, end, pen, leaves }, draw };
}
