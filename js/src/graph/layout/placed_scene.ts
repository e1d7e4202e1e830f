import type { Rectangle } from "../../shared/drawing/canvas.ts";
import { largest, smallest } from "../../shared/many.ts";
import { groupBy } from "./adjacency.ts";
import { boxesOf, type GraphScene } from "./scene.ts";
import type { Bounds, LayoutResult } from "./types.ts";

/** Edges by the bands of the flow that they pass, column by column; stubs only at their ends. */
interface Bands {
  /** First band by column, and the number of bands. */
  first: Int32Array;
  start: Int32Array;
  edges: Int32Array;
}

/** A scene with its layout and an index that finds the visible items in time proportional to their number. */
export class PlacedScene {
  readonly isStub: Uint8Array;
  readonly isReversed: Uint8Array;
  /** Number of columns of a wrapped layout, and their total length. */
  readonly columns: number;
  readonly length: number;
  readonly #along: "x" | "y";
  readonly #isCut: Uint8Array;
  /** By column: start along the flow, length, and length of all columns before it. */
  readonly #low: Float64Array;
  readonly #size: Float64Array;
  readonly #before: Float64Array;
  /** Ends of the columns across the flow: half way to the next. */
  readonly #until: Float64Array;
  readonly #seen: Int32Array;
  #bands: Bands = { first: new Int32Array(2), start: new Int32Array(2), edges: new Int32Array(0) };
  #round = 0;
  #byBox: { start: Int32Array; edges: Int32Array } | null = null;
  #frameEnd: Int32Array | null = null;

  private constructor(
    readonly scene: GraphScene,
    readonly layout: LayoutResult,
  ) {
    const { columns, direction } = layout;
    const down = direction === "down";
    this.#along = down ? "y" : "x";
    const edges = scene.edgeSource.length;
    this.isStub = flags(edges, layout.stubs);
    this.isReversed = flags(edges, layout.reversed);
    this.#isCut = flags(edges, columns.cut);
    this.#seen = new Int32Array(edges);
    this.columns = columns.firstLayer.length - 1;
    this.#low = down ? columns.minY : columns.minX;
    const high = down ? columns.maxY : columns.maxX;
    this.#size = this.#low.map((low, column) => Math.max(1, high[column]! - low));
    this.#before = new Float64Array(this.columns + 1);
    for (let column = 0; column < this.columns; column++) {
      this.#before[column + 1] = this.#before[column]! + this.#size[column]!;
    }
    this.length = this.#before[this.columns]!;
    const [left, right] = down ? [columns.minX, columns.maxX] : [columns.minY, columns.maxY];
    this.#until = right.map((end, column) =>
      column + 1 < this.columns ? (end + left[column + 1]!) / 2 : Number.POSITIVE_INFINITY,
    );
  }

  static *steps(scene: GraphScene, layout: LayoutResult): Generator<void, PlacedScene> {
    const placed = new PlacedScene(scene, layout);
    yield;
    placed.#bands = yield* placed.#index();
    return placed;
  }

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

  placeOfNode(node: number | null): { x: number; y: number } | null {
    const box = node === null ? -1 : this.boxOf(node);
    return box < 0 ? null : { x: this.layout.x[box]!, y: this.layout.y[box]! };
  }

  /** Entry of the flow into a group: the middle of the upper (or left) side of its box or frame. */
  placeOfGroup(group: number): { x: number; y: number } | null {
    const { boxOfGroup, frameOfGroup } = this.scene;
    const [box, frame] = [boxOfGroup[group]!, frameOfGroup[group]!];
    if (box < 0 && frame < 0) return null;
    const { x, y, width, height } = box >= 0 ? this.rectangle(box) : this.frame(frame);
    return this.#along === "y" ? { x: x + width / 2, y } : { x, y: y + height / 2 };
  }

  bounds(boxes: readonly number[]): Bounds {
    const all = boxes.map((box) => this.rectangle(box));
    return {
      minX: smallest(all.map(({ x }) => x)),
      minY: smallest(all.map(({ y }) => y)),
      maxX: largest(all.map(({ x, width }) => x + width)),
      maxY: largest(all.map(({ y, height }) => y + height)),
    };
  }

  /** Node of the box nearest to a point of the graph; null without boxes. */
  nearest(x: number, y: number): number | null {
    let [best, distance] = [-1, Number.POSITIVE_INFINITY];
    for (let box = 0; box < this.scene.count; box++) {
      const away = Math.hypot(this.layout.x[box]! - x, this.layout.y[box]! - y);
      if (away < distance) [best, distance] = [box, away];
    }
    return best < 0 ? null : this.scene.node[best]!;
  }

  /** Calls back with the range of visible layers of every column. */
  eachStretch(view: Bounds, callback: (first: number, end: number) => void): void {
    const { layerTop, layerBottom, columns } = this.layout;
    const [low, high] = this.#extent(view);
    const [from, to] = this.#columnsIn(view);
    for (let column = from; column <= to; column++) {
      const start = columns.firstLayer[column]!;
      const count = columns.firstLayer[column + 1]! - start;
      const first = start + search(count, (row) => layerBottom[start + row]! >= low);
      const end = start + search(count, (row) => layerTop[start + row]! > high);
      if (first < end) callback(first, end);
    }
  }

  /** Calls back with every visible box, layer by layer. */
  eachBox(view: Bounds, callback: (box: number) => void): void {
    const { order, layerStart, x, y } = this.layout;
    const { width, height } = this.scene;
    const [middleX, middleY] = [(view.minX + view.maxX) / 2, (view.minY + view.maxY) / 2];
    const [wide, high] = [view.maxX - view.minX, view.maxY - view.minY];
    this.eachStretch(view, (first, end) => {
      for (let row = layerStart[first]!; row < layerStart[end]!; row++) {
        const box = order[row]!;
        if (Math.abs(x[box]! - middleX) * 2 > width[box]! + wide) continue;
        if (Math.abs(y[box]! - middleY) * 2 > height[box]! + high) continue;
        callback(box);
      }
    });
  }

  /** Calls back with every visible frame of at least this height, graph px: outer ones first. */
  eachFrame(view: Bounds, callback: (frame: number) => void, least = 0): void {
    const { parent } = this.scene.frames;
    const { x, y, width, height } = this.layout.frames;
    this.#frameEnd ??= subtreeEnds(parent);
    for (let frame = 0; frame < x.length; ) {
      const isOut =
        height[frame]! < least ||
        x[frame]! > view.maxX ||
        y[frame]! > view.maxY ||
        x[frame]! + width[frame]! < view.minX ||
        y[frame]! + height[frame]! < view.minY;
      if (!isOut) callback(frame);
      frame = isOut ? this.#frameEnd[frame]! : frame + 1;
    }
  }

  /** The innermost frame at a point of the graph, or -1. */
  frameAt(x: number, y: number): number {
    let frameAt = -1;
    this.eachFrame({ minX: x, maxX: x, minY: y, maxY: y }, (frame) => {
      frameAt = frame;
    });
    return frameAt;
  }

  frame(frame: number): Rectangle {
    const { x, y, width, height } = this.layout.frames;
    return { x: x[frame]!, y: y[frame]!, width: width[frame]!, height: height[frame]! };
  }

  /** Calls back once with every edge that passes the visible part of the flow. */
  eachEdge(view: Bounds, callback: (edge: number) => void): void {
    const [low, high] = this.#extent(view);
    this.#round += 1;
    const { start, edges } = this.#bands;
    const [from, to] = this.#columnsIn(view);
    for (let column = from; column <= to; column++) {
      const [first, last] = [this.#band(column, low), this.#band(column, high)];
      for (let row = start[first]!; row < start[last + 1]!; row++) {
        const edge = edges[row]!;
        if (this.#seen[edge] === this.#round) continue;
        this.#seen[edge] = this.#round;
        callback(edge);
      }
    }
  }

  /** Position of a point along the flow, with the columns laid end to end: 0 … `length`. */
  flow(x: number, y: number): number {
    const [along, across] = this.#along === "y" ? [y, x] : [x, y];
    const column = this.#columnAt(across);
    const within = Math.min(this.#size[column]!, Math.max(0, along - this.#low[column]!));
    return this.#before[column]! + within;
  }

  columnOf(box: number): number {
    const { x, y } = this.layout;
    return this.#columnAt(this.#along === "y" ? x[box]! : y[box]!);
  }

  /** Column and position in it at a distance along the flow. */
  atFlow(flow: number): { column: number; along: number } {
    const column = Math.max(
      0,
      search(this.columns, (column) => this.#before[column + 1]! > flow) -
        (flow >= this.length ? 1 : 0),
    );
    return { column, along: this.#low[column]! + flow - this.#before[column]! };
  }

  /** Calls back with the visible part of every column along the flow, in the units of `flow`. */
  eachPart(view: Bounds, callback: (from: number, to: number, column: number) => void): void {
    const [low, high] = this.#extent(view);
    const [first, last] = this.#columnsIn(view);
    for (let column = first; column <= last; column++) {
      const within = (at: number) =>
        this.#before[column]! + Math.min(this.#size[column]!, Math.max(0, at - this.#low[column]!));
      callback(within(low), within(high), column);
    }
  }

  pointsInView(edge: number, view: Bounds): [first: number, end: number] {
    const { offsets, points } = this.layout.routes;
    const [start, end] = [offsets[edge]!, offsets[edge + 1]!];
    if (end - start <= 8 || this.isReversed[edge] || this.#isCut[edge]) return [start, end];
    const axis = this.#along === "y" ? 1 : 0;
    const [low, high] = this.#extent(view);
    const count = end - start;
    const first = search(count, (i) => points[2 * (start + i) + axis]! >= low);
    const beyond = search(count, (i) => points[2 * (start + i) + axis]! > high);
    return [Math.max(start, start + first - 1), Math.min(end, start + beyond + 1)];
  }

  edgesOf(box: number): Int32Array {
    this.#byBox ??= endsByBox(this.scene);
    const { start, edges } = this.#byBox;
    return edges.subarray(start[box]!, start[box + 1]!);
  }

  boxAt(x: number, y: number): number {
    let boxNear = -1;
    this.eachBox({ minX: x, maxX: x, minY: y, maxY: y }, (box) => {
      boxNear = box;
    });
    return boxNear;
  }

  #extent(view: Bounds): [number, number] {
    return this.#along === "y" ? [view.minY, view.maxY] : [view.minX, view.maxX];
  }

  #columnAt(across: number): number {
    return search(this.columns - 1, (column) => this.#until[column]! >= across);
  }

  #columnsIn({ minX, maxX, minY, maxY }: Bounds): [first: number, last: number] {
    const [low, high] = this.#along === "y" ? [minX, maxX] : [minY, maxY];
    return [this.#columnAt(low), this.#columnAt(high)];
  }

  #band(column: number, at: number): number {
    const { first } = this.#bands;
    const count = first[column + 1]! - first[column]!;
    const share = (at - this.#low[column]!) / this.#size[column]!;
    return first[column]! + Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  }

  *#index(): Generator<void, Bands> {
    const { routes, columns } = this.layout;
    const first = columns.firstLayer.map((layer, column) => layer + column);
    this.#bands = { ...this.#bands, first };
    const bands = first[this.columns]!;
    const edges = routes.offsets.length - 1;
    const start = new Int32Array(bands + 1);
    for (let edge = 0; edge < edges; edge++) {
      if (edge % STRIDE === 0) yield;
      this.#spans(edge, (from, to) => {
        for (let band = from; band <= to; band++) start[band + 1]! += 1;
      });
    }
    for (let band = 0; band < bands; band++) start[band + 1]! += start[band]!;
    const next = start.slice();
    const list = new Int32Array(start[bands]!);
    for (let edge = 0; edge < edges; edge++) {
      if (edge % STRIDE === 0) yield;
      this.#spans(edge, (from, to) => {
        for (let band = from; band <= to; band++) list[next[band]!++] = edge;
      });
    }
    return { first, start, edges: list };
  }

  /** Calls back with the first and last bands of the parts of an edge's stroke. */
  #spans(edge: number, put: (from: number, to: number) => void): void {
    const { offsets, points } = this.layout.routes;
    const [start, end] = [offsets[edge]!, offsets[edge + 1]!];
    if (start === end) return;
    const [along, across] = this.#along === "y" ? [1, 0] : [0, 1];
    const at = (point: number, axis: number) => points[2 * point + axis]!;
    const band = (point: number) => this.#band(this.#columnAt(at(point, across)), at(point, along));
    if (this.isStub[edge]) {
      put(band(start), band(start));
      put(band(end - 1), band(end - 1));
    } else if (this.#isCut[edge]) {
      for (let point = start; point + 1 < end; point++) {
        const [x, y] = [at(point, across), at(point + 1, across)];
        const [from, to] = [this.#columnAt(Math.min(x, y)), this.#columnAt(Math.max(x, y))];
        const [low, high] = [at(point, along), at(point + 1, along)];
        for (let column = from; column <= to; column++) {
          put(this.#band(column, Math.min(low, high)), this.#band(column, Math.max(low, high)));
        }
      }
    } else {
      const column = this.#columnAt(at(end - 1, across));
      let [low, high] = [at(start, along), at(end - 1, along)];
      if (this.isReversed[edge] || high < low) {
        for (let point = start; point < end; point++) {
          low = Math.min(low, at(point, along));
          high = Math.max(high, at(point, along));
        }
      }
      put(this.#band(column, low), this.#band(column, high));
    }
  }
}

/** Edges between two pauses. */
const STRIDE = 4096;

/** The first of `count` rows for which the monotone `holds` is true; else `count`. */
function search(count: number, holds: (row: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** By row of a forest in pre-order: the first row after its subtree. */
function subtreeEnds(parent: Int32Array): Int32Array {
  const end = Int32Array.from(parent.keys(), (row) => row + 1);
  for (let row = parent.length - 1; row >= 0; row--) {
    const around = parent[row]!;
    if (around >= 0) end[around] = Math.max(end[around]!, end[row]!);
  }
  return end;
}

function flags(count: number, set: Int32Array): Uint8Array {
  const flag = new Uint8Array(count);
  for (const item of set) flag[item] = 1;
  return flag;
}

/** Edges into every box, then those out of it. */
function endsByBox({ count, edgeSource, edgeTarget }: GraphScene) {
  const edges = edgeSource.length;
  const ends = new Int32Array(2 * edges);
  ends.set(edgeTarget);
  ends.set(edgeSource, edges);
  const { start, item } = groupBy(count, ends);
  return { start, edges: item.map((end) => (end < edges ? end : end - edges)) };
}
