import { busFinder } from "./bus.ts";
import type { Levels } from "./levels.ts";
import type { Geometry } from "./place.ts";
import type { Ports } from "./ports.ts";
import type { Expanded, Trunks } from "./trunks.ts";

/** A growing list of points that swallows points on a straight vertical. */
export class Pen {
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

/** The strokes of the level graphs' edges, each in the coordinates of its level. */
export interface Strokes {
  /** Per edge, in points; none for an edge that is hidden. */
  start: Int32Array;
  end: Int32Array;
  pen: Pen;
  /** Per edge: the one whose stroke it leaves; -1 where its own is whole. */
  leaves: Int32Array;
}

/** Answers a function that draws the edges from … to - 1, whose level must have its ports and layers. */
export function strokeDrawer(
  graph: Expanded,
  trunks: Trunks,
  levels: Levels,
  ports: Ports,
  geometry: Geometry,
): { strokes: Strokes; draw: (from: number, to: number) => void } {
  const { nodes, last, firstPoint } = graph;
  const { source, target } = levels;
  const { x, layer, y, height, layerTop, layerBottom } = geometry;
  const { buses, find } = busFinder(graph, trunks, levels, ports, geometry);
  const owner = new Int32Array(trunks.count).fill(-1);
  const start = new Int32Array(source.length);
  const end = new Int32Array(source.length);
  const { leaves } = buses;
  const pen = new Pen();
  const draw = (from: number, to: number) => {
    find(from, to);
    for (let e = from; e < to; e++) {
      const k = trunks.ofEdge[e]!;
      if (k < 0 || last[e]! < nodes || leaves[e]! >= 0) continue;
      if (owner[k]! < 0 || layer[target[e]!]! > layer[target[owner[k]!]!]!) owner[k] = e;
    }
    for (let e = from; e < to; e++) {
      start[e] = pen.count;
      end[e] = pen.count;
      if (last[e]! < 0) continue;
      pen.begin();
      const k = trunks.ofEdge[e]!;
      const u = source[e]!;
      const v = target[e]!;
      const above = last[e]!;
      if (leaves[e]! < 0) {
        if (above >= nodes && owner[k] !== e) {
          leaves[e] = owner[k]!;
          pen.to(x[above]!, layerBottom[layer[above]!]!);
        } else {
          pen.to(ports.out[k]!, y[u]! + height[u]! / 2);
          pen.to(ports.out[k]!, layerBottom[layer[u]!]!);
          for (let point = firstPoint[k]!; above >= nodes && point <= above; point++) {
            pen.to(x[point]!, layerTop[layer[point]!]!);
            pen.to(x[point]!, layerBottom[layer[point]!]!);
          }
        }
        if (buses.at[e]! >= 0) pen.to(buses.stem[e]!, buses.at[e]!);
      } else if (buses.outer[e]) pen.to(buses.stem[e]!, buses.at[e]!);
      if (buses.at[e]! >= 0) pen.to(ports.in[e]!, buses.at[e]!);
      pen.to(ports.in[e]!, layerTop[layer[v]!]!);
      pen.to(ports.in[e]!, y[v]! - height[v]! / 2);
      end[e] = pen.count;
    }
  };
  return { strokes: { start, end, pen, leaves }, draw };
}
