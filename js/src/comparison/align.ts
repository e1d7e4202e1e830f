import { PlacedScene } from "../graph/layout/placed_scene.ts";
import type { LayoutResult } from "../graph/layout/types.ts";
import type { GraphHost } from "../graph/parts.ts";
import { finished, lowerBound } from "../shared/many.ts";
import { type ComparisonData, OTHER, type Side } from "./data.ts";

type Both<T> = [T, T];
/** Layers of two layouts that shall begin at the same position. */
type Rung = readonly [layerA: number, layerB: number];

/** Shifts two layouts of one column so that matching boxes (`pairs`) are level, unless matches would cross. */
export function aligned(
  layouts: Both<LayoutResult>,
  pairs: readonly (readonly [a: number, b: number])[],
): Both<LayoutResult> {
  const shifts: Both<Float64Array> = [
    new Float64Array(layouts[0].layers),
    new Float64Array(layouts[1].layers),
  ];
  const shift: Both<number> = [0, 0];
  const next: Both<number> = [0, 0];
  for (const rung of rungs(layouts, pairs)) {
    const top = (side: 0 | 1) => layouts[side].layerTop[rung[side]]! + shift[side];
    const lower = Math.max(top(0), top(1));
    for (const side of [0, 1] as const) {
      shifts[side].fill(shift[side], next[side], rung[side]);
      shift[side] += lower - top(side);
      next[side] = rung[side];
    }
  }
  shifts[0].fill(shift[0], next[0]);
  shifts[1].fill(shift[1], next[1]);
  return [moved(layouts[0], shifts[0]), moved(layouts[1], shifts[1])];
}

/** Matching layers of both, as many as keep the order of both. */
function rungs(
  [a, b]: Both<LayoutResult>,
  pairs: readonly (readonly [a: number, b: number])[],
): Rung[] {
  const first = new Map<number, number>();
  for (const [boxA, boxB] of pairs) {
    const [layerA, layerB] = [a.layer[boxA]!, b.layer[boxB]!];
    first.set(layerA, Math.min(layerB, first.get(layerA) ?? layerB));
  }
  return longestRising([...first].sort(([one], [two]) => one - two));
}

function longestRising(all: readonly Rung[]): Rung[] {
  const ends: number[] = [];
  const before = new Int32Array(all.length).fill(-1);
  for (const [row, [, layer]] of all.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[ends[middle]!]![1] < layer) low = middle + 1;
      else high = middle;
    }
    before[row] = low > 0 ? ends[low - 1]! : -1;
    ends[low] = row;
  }
  const chain: Rung[] = [];
  for (let row = ends.at(-1) ?? -1; row >= 0; row = before[row]!) chain.push(all[row]!);
  return chain.reverse();
}

/** The layout with its layers shifted along the flow; lines and frames between them are stretched. */
function moved(layout: LayoutResult, shift: Float64Array): LayoutResult {
  const { layerTop, layerBottom, layers, frames, routes, bounds, columns } = layout;
  if (layers === 0) return layout;
  const down = layout.direction === "down";
  const [axis, start, length, end] = down
    ? ([1, "y", "height", "maxY"] as const)
    : ([0, "x", "width", "maxX"] as const);
  const layerFrom = (at: number) => lowerBound(layerBottom, at);
  const place = (at: number) => {
    const layer = Math.min(layers - 1, layerFrom(at));
    const [top, own] = [layerTop[layer]!, shift[layer]!];
    if (at >= top || layer === 0) return at + own;
    const [bottom, before] = [layerBottom[layer - 1]!, shift[layer - 1]!];
    return at + before + ((own - before) * (at - bottom)) / Math.max(1e-9, top - bottom);
  };
  const by = (places: Float64Array) => places.map((at, layer) => at + shift[layer]!);
  const points = routes.points.map((at, i) => (i % 2 === axis ? place(at) : at));
  const starts = frames[start].map((at) => at + shift[Math.min(layers - 1, layerFrom(at))]!);
  const lengths = frames[length].map((long, frame) => {
    const until = frames[start][frame]! + long;
    const last = Math.max(0, lowerBound(layerTop, until) - 1);
    return until + shift[last]! - starts[frame]!;
  });
  const more = shift[layers - 1]!;
  return {
    ...layout,
    [start]: layout[start].map((at, box) => at + shift[layout.layer[box]!]!),
    layerTop: by(layerTop),
    layerBottom: by(layerBottom),
    bounds: { ...bounds, [end]: bounds[end] + more },
    frames: { ...frames, [start]: starts, [length]: lengths },
    columns: { ...columns, [end]: columns[end].map((at) => at + more) },
    routes: { ...routes, points },
  };
}

/** Number of boxes above which graphs are not aligned: it would take too long at every change. */
const MOST_BOXES = 20_000;

/** Aligns both graphs by rows whenever one of them is laid out. */
export class RowAligner {
  readonly #data: ComparisonData;
  /** Layouts of both sides before alignment. */
  readonly #own: [PlacedScene | null, PlacedScene | null] = [null, null];
  readonly #views: [GraphHost | null, GraphHost | null] = [null, null];

  #isAligned = false;

  constructor(data: ComparisonData) {
    this.#data = data;
  }

  /** Aligned layout of one side; the other side is re-placed. */
  place(side: Side, placed: PlacedScene, view: GraphHost): PlacedScene {
    this.#own[side] = placed;
    this.#views[side] = view;
    const [a, b] = this.#own;
    if (!a || !b || !canAlign(a, b)) {
      if (this.#isAligned) this.#views[OTHER[side]]?.replace(this.#own[OTHER[side]]!);
      this.#isAligned = false;
      return placed;
    }
    this.#isAligned = true;
    const layouts = aligned([a.layout, b.layout], this.#pairs(a, b));
    const both = [a, b].map(({ scene }, at) => finished(PlacedScene.steps(scene, layouts[at]!)));
    this.#views[OTHER[side]]!.replace(both[OTHER[side]]!);
    return both[side]!;
  }

  #pairs(a: PlacedScene, b: PlacedScene): [number, number][] {
    const pairs: [number, number][] = [];
    for (let box = 0; box < a.scene.count; box++) {
      const partner = this.#data.partner(0, a.scene.node[box]!);
      const other = partner === null ? -1 : b.boxOf(partner);
      if (other >= 0) pairs.push([box, other]);
    }
    return pairs;
  }
}

function canAlign(a: PlacedScene, b: PlacedScene): boolean {
  const isOne = a.columns === 1 && b.columns === 1;
  const isSmall = a.scene.count + b.scene.count <= MOST_BOXES;
  return isOne && isSmall && a.layout.direction === b.layout.direction;
}
