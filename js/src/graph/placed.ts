import type { Rectangle } from "./camera.ts";
import type { Bounds, LayoutResult } from "./layout/types.ts";
import { boxesOf, type Scene } from "./scene.ts";

/** A scene with its layout, indexed so that finding what is on the stage costs no more than what is there. */
export class Placed {
  readonly scene: Scene;
  readonly layout: LayoutResult;
  readonly isStub: Uint8Array;
  readonly isReversed: Uint8Array;
  readonly #along: "x" | "y";
  /** Edges by the bands of the flow they pass; a stub only where its ends are. */
  readonly #bandStart: Int32Array;
  readonly #bandEdges: Int32Array;
  readonly #bandSize: number;
  readonly #origin: number;
  readonly #seen: Int32Array;
  #round = 0;
  #byBox: { start: Int32Array; edges: Int32Array } | null = null;

  constructor(scene: Scene, layout: LayoutResult) {
    this.scene = scene;
    this.layout = layout;
    this.#along = layout.direction === "down" ? "y" : "x";
    const edges = scene.edgeSource.length;
    this.isStub = flags(edges, layout.stubs);
    this.isReversed = flags(edges, layout.reversed);
    this.#seen = new Int32Array(edges);
    const { bounds } = layout;
    this.#origin = this.#along === "y" ? bounds.minY : bounds.minX;
    const length = (this.#along === "y" ? bounds.maxY : bounds.maxX) - this.#origin;
    const bands = Math.max(1, layout.layers);
    this.#bandSize = Math.max(1, length / bands);
    [this.#bandStart, this.#bandEdges] = this.#index(bands);
  }

  /** The first box that shows the node, -1 where none does. */
  boxOf(node: number): number {
    return boxesOf(this.scene, node)[0] ?? -1;
  }

  rectangle(box: number): Rectangle {
    const { width, height } = this.scene;
    const { x, y } = this.layout;
    return {
      x: x[box]! - width[box]! / 2,
      y: y[box]! - height[box]! / 2,
      width: width[box]!,
      height: height[box]!,
    };
  }

  /** What the boxes cover together. */
  bounds(boxes: readonly number[]): Bounds {
    const all = boxes.map((box) => this.rectangle(box));
    return {
      minX: Math.min(...all.map(({ x }) => x)),
      minY: Math.min(...all.map(({ y }) => y)),
      maxX: Math.max(...all.map(({ x, width }) => x + width)),
      maxY: Math.max(...all.map(({ y, height }) => y + height)),
    };
  }

  /** The node whose box is nearest to a point of the graph; null where there is no box. */
  nearest(x: number, y: number): number | null {
    let [best, distance] = [-1, Number.POSITIVE_INFINITY];
    for (let box = 0; box < this.scene.count; box++) {
      const away = Math.hypot(this.layout.x[box]! - x, this.layout.y[box]! - y);
      if (away < distance) [best, distance] = [box, away];
    }
    return best < 0 ? null : this.scene.node[best]!;
  }

  /** First layer that reaches into the view, and the first one beyond it. */
  layers(view: Bounds): [first: number, end: number] {
    const { layerTop, layerBottom, layers } = this.layout;
    const [low, high] = this.#extent(view);
    return [
      search(layers, (layer) => layerBottom[layer]! >= low),
      search(layers, (layer) => layerTop[layer]! > high),
    ];
  }

  /** Calls back with every box that reaches into the view, layer by layer. */
  eachBox(view: Bounds, callback: (box: number) => void): void {
    const { order, layerStart, x, y } = this.layout;
    const { width, height } = this.scene;
    const [first, end] = this.layers(view);
    for (let row = layerStart[first]!; row < (layerStart[end] ?? 0); row++) {
      const box = order[row]!;
      if (Math.abs(x[box]! - (view.minX + view.maxX) / 2) * 2 > width[box]! + view.maxX - view.minX)
        continue;
      if (
        Math.abs(y[box]! - (view.minY + view.maxY) / 2) * 2 >
        height[box]! + view.maxY - view.minY
      )
        continue;
      callback(box);
    }
  }

  /** Calls back once with every edge that passes the part of the flow that is in view. */
  eachEdge(view: Bounds, callback: (edge: number) => void): void {
    const [low, high] = this.#extent(view);
    this.#round += 1;
    const [first, last] = [this.#band(low), this.#band(high)];
    for (let row = this.#bandStart[first]!; row < this.#bandStart[last + 1]!; row++) {
      const edge = this.#bandEdges[row]!;
      if (this.#seen[edge] === this.#round) continue;
      this.#seen[edge] = this.#round;
      callback(edge);
    }
  }

  /** Points of the edge's stroke that are needed in the view: [first, end) in points. */
  pointsInView(edge: number, view: Bounds): [first: number, end: number] {
    const { offsets, points } = this.layout.routes;
    const [start, end] = [offsets[edge]!, offsets[edge + 1]!];
    if (end - start <= 8 || this.isReversed[edge]) return [start, end];
    const axis = this.#along === "y" ? 1 : 0;
    const [low, high] = this.#extent(view);
    const count = end - start;
    const first = search(count, (i) => points[2 * (start + i) + axis]! >= low);
    const beyond = search(count, (i) => points[2 * (start + i) + axis]! > high);
    return [Math.max(start, start + first - 1), Math.min(end, start + beyond + 1)];
  }

  /** Drawn edges into and out of the box. */
  edgesOf(box: number): Int32Array {
    this.#byBox ??= endsByBox(this.scene);
    const { start, edges } = this.#byBox;
    return edges.subarray(start[box]!, start[box + 1]!);
  }

  /** The box at a point of the graph, -1 where there is none. */
  boxAt(x: number, y: number): number {
    let found = -1;
    this.eachBox({ minX: x, maxX: x, minY: y, maxY: y }, (box) => {
      found = box;
    });
    return found;
  }

  #extent(view: Bounds): [number, number] {
    return this.#along === "y" ? [view.minY, view.maxY] : [view.minX, view.maxX];
  }

  #band(at: number): number {
    const last = this.#bandStart.length - 2;
    return Math.min(last, Math.max(0, Math.floor((at - this.#origin) / this.#bandSize)));
  }

  #index(bands: number): [Int32Array, Int32Array] {
    const { offsets, points } = this.layout.routes;
    const axis = this.#along === "y" ? 1 : 0;
    const edges = offsets.length - 1;
    const last = bands - 1;
    const band = (at: number) =>
      Math.min(last, Math.max(0, Math.floor((at - this.#origin) / this.#bandSize)));
    const spans = (edge: number, put: (band: number) => void) => {
      const [start, end] = [offsets[edge]!, offsets[edge + 1]!];
      if (start === end) return;
      const from = band(points[2 * start + axis]!);
      const to = band(points[2 * (end - 1) + axis]!);
      if (this.isStub[edge]) {
        put(from);
        if (to !== from) put(to);
        return;
      }
      let [low, high] = [from, to];
      if (this.isReversed[edge] || to < from) {
        for (let i = start; i < end; i++) {
          const at = band(points[2 * i + axis]!);
          low = Math.min(low, at);
          high = Math.max(high, at);
        }
      }
      for (let each = low; each <= high; each++) put(each);
    };
    const start = new Int32Array(bands + 1);
    for (let edge = 0; edge < edges; edge++) {
      spans(edge, (each) => {
        start[each + 1]!++;
      });
    }
    for (let each = 0; each < bands; each++) start[each + 1]! += start[each]!;
    const next = start.slice();
    const list = new Int32Array(start[bands]!);
    for (let edge = 0; edge < edges; edge++) {
      spans(edge, (each) => {
        list[next[each]!++] = edge;
      });
    }
    return [start, list];
  }
}

/** The first of `count` rows for which `holds`, which stays true from there on; `count` where it never does. */
function search(count: number, holds: (row: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function flags(count: number, set: Int32Array): Uint8Array {
  const flag = new Uint8Array(count);
  for (const each of set) flag[each] = 1;
  return flag;
}

function endsByBox({ count, edgeSource, edgeTarget }: Scene) {
  const start = new Int32Array(count + 1);
  for (const ends of [edgeTarget, edgeSource]) for (const box of ends) start[box + 1]!++;
  for (let box = 0; box < count; box++) start[box + 1]! += start[box]!;
  const next = start.slice();
  const edges = new Int32Array(start[count]!);
  for (const ends of [edgeTarget, edgeSource]) {
    for (let edge = 0; edge < ends.length; edge++) edges[next[ends[edge]!]!++] = edge;
  }
  return { start, edges };
}
