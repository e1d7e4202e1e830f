import { describe, expect, it } from "vitest";
import { layout } from "../../../src/graph/layout/layout.ts";
import { edgePath, type LayoutResult } from "../../../src/graph/layout/types.ts";
import { type Groups, type Shown, shown, someGroups } from "./frames.ts";
import { network, random, scattered } from "./graphs.ts";
import { type Segment, segments } from "./quality.ts";

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1);

function anyGraph(seed: number) {
  const graph = seed % 2 ? network(60 + (seed % 9) * 10, seed) : scattered(50, 20 + 2 * seed, seed);
  graph.direction = seed % 5 === 0 ? "right" : "down";
  return { graph, groups: someGroups(graph.count, seed) };
}

/** All groups but some, with all that are in these. */
function someOpen(groups: Groups, seed: number): Set<number> {
  const next = random(seed);
  return new Set(groups.start.map((_, g) => g).filter(() => next() < 0.7));
}

interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** In "down" coordinates. */
function boxesOf({ input }: Shown, result: LayoutResult): Box[] {
  const down = result.direction === "down";
  const [x, y] = down ? [result.x, result.y] : [result.y, result.x];
  const [w, h] = down ? [input.width, input.height] : [input.height, input.width];
  return Array.from(x, (_, v) => ({
    x0: x[v]! - w[v]! / 2,
    x1: x[v]! + w[v]! / 2,
    y0: y[v]! - h[v]! / 2,
    y1: y[v]! + h[v]! / 2,
  }));
}

function framesOf(result: LayoutResult): Box[] {
  const { frames } = result;
  const down = result.direction === "down";
  const [x, y] = down ? [frames.x, frames.y] : [frames.y, frames.x];
  const [w, h] = down ? [frames.width, frames.height] : [frames.height, frames.width];
  return Array.from(x, (_, f) => ({ x0: x[f]!, x1: x[f]! + w[f]!, y0: y[f]!, y1: y[f]! + h[f]! }));
}

const meet = (a: Box, b: Box) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
const holds = (a: Box, b: Box) => a.x0 <= b.x0 && a.y0 <= b.y0 && a.x1 >= b.x1 && a.y1 >= b.y1;

/** Whether a stroke runs through the inside of a rectangle. */
function through({ x0, y0, x1, y1 }: Segment, box: Box): boolean {
  let [from, to] = [0, 1];
  for (const [start, delta, low, high] of [
    [x0, x1 - x0, box.x0, box.x1],
    [y0, y1 - y0, box.y0, box.y1],
  ] as const) {
    if (delta === 0) {
      if (start <= low || start >= high) return false;
    } else {
      const [a, b] = [(low - start) / delta, (high - start) / delta];
      from = Math.max(from, Math.min(a, b));
      to = Math.min(to, Math.max(a, b));
    }
  }
  return to - from > 1e-9;
}

function around(input: Shown["input"], box: number): Set<number> {
  const all = new Set<number>();
  for (let f = input.frameOf[box]!; f >= 0; f = input.frames.parent[f]!) all.add(f);
  return all;
}

describe.each(SEEDS)("frames, seed %i", (seed) => {
  const { graph, groups } = anyGraph(seed);
  const scene = shown(graph, groups, someOpen(groups, seed));
  const { input } = scene;
  const result = layout(input);
  const boxes = boxesOf(scene, result);
  const frames = framesOf(result);

  it("keeps boxes and frames inside their frame and clear of all others", () => {
    const wrong: object[] = [];
    const check = (isInside: boolean, frame: number, box: Box, where: object) => {
      if (isInside ? !holds(frames[frame]!, box) : meet(frames[frame]!, box)) wrong.push(where);
    };
    for (let v = 0; v < boxes.length; v++) {
      const inside = around(input, v);
      for (let f = 0; f < frames.length; f++)
        check(inside.has(f), f, boxes[v]!, { frame: f, box: v });
      for (let u = 0; u < v; u++) if (meet(boxes[u]!, boxes[v]!)) wrong.push({ boxes: [u, v] });
    }
    const { parent } = input.frames;
    for (let f = 0; f < frames.length; f++) {
      const outer = new Set<number>();
      for (let p = parent[f]!; p >= 0; p = parent[p]!) outer.add(p);
      for (let g = 0; g < f; g++) check(outer.has(g), g, frames[f]!, { frames: [g, f] });
    }
    expect(wrong).toEqual([]);
  });

  it("routes no line over an unrelated box or frame", () => {
    const crossed: object[] = [];
    for (const segment of segments(result)) {
      const { edge } = segment;
      const own = new Set([
        ...around(input, input.source[edge]!),
        ...around(input, input.target[edge]!),
      ]);
      for (let v = 0; v < boxes.length; v++) {
        if (v === input.source[edge] || v === input.target[edge]) continue;
        if (through(segment, boxes[v]!)) crossed.push({ edge, box: v });
      }
      for (let f = 0; f < frames.length; f++) {
        if (!own.has(f) && through(segment, frames[f]!)) crossed.push({ edge, frame: f });
      }
    }
    expect(crossed).toEqual([]);
  });

  it("routes every edge between box borders in flow direction", () => {
    const a = result.direction === "down" ? 0 : 1;
    for (let e = 0; e < input.source.length; e++) {
      const path = edgePath(result, e);
      const [s, t] = [boxes[input.source[e]!]!, boxes[input.target[e]!]!];
      expect(path[1 - a]).toBeCloseTo(s.y1, 9);
      expect(path[path.length - 1 - a]).toBeCloseTo(t.y0, 9);
      for (let i = 2; i < path.length; i += 2) {
        expect(path[i + 1 - a]!).toBeGreaterThanOrEqual(path[i - 1 - a]!);
      }
    }
  });

  it("sorts the boxes into layers that do not overlap", () => {
    const { layerTop, layerBottom, layerStart, order, layer, layers } = result;
    expect([...order].sort((u, v) => u - v)).toEqual(boxes.map((_, v) => v));
    for (let l = 0; l < layers; l++) {
      if (l > 0) expect(layerTop[l]!).toBeGreaterThanOrEqual(layerBottom[l - 1]!);
      for (let i = layerStart[l]!; i < layerStart[l + 1]!; i++) {
        const v = order[i]!;
        expect(layer[v]).toBe(l);
        expect(boxes[v]!.y0).toBeGreaterThanOrEqual(layerTop[l]!);
        expect(boxes[v]!.y1).toBeLessThanOrEqual(layerBottom[l]!);
      }
    }
  });

  it("keeps everything within its bounds", () => {
    const { bounds, routes } = result;
    for (let i = 0; i < routes.points.length; i += 2) {
      expect(routes.points[i]!).toBeGreaterThanOrEqual(bounds.minX);
      expect(routes.points[i]!).toBeLessThanOrEqual(bounds.maxX);
      expect(routes.points[i + 1]!).toBeGreaterThanOrEqual(bounds.minY);
      expect(routes.points[i + 1]!).toBeLessThanOrEqual(bounds.maxY);
    }
    for (let f = 0; f < result.frames.x.length; f++) {
      expect(result.frames.x[f]!).toBeGreaterThanOrEqual(bounds.minX);
      expect(result.frames.y[f]! + result.frames.height[f]!).toBeLessThanOrEqual(bounds.maxY);
    }
  });

  it("moves all boxes below an opened group by one amount, and none above", () => {
    const open = someOpen(groups, seed);
    const opened = groups.start
      .map((_, g) => g)
      .find(
        (g) => !open.has(g) && (groups.parent[g]! < 0 || scene.groupOf.includes(groups.parent[g]!)),
      );
    if (opened === undefined || result.components > 1) return;
    const after = shown(graph, groups, new Set([...open, opened]));
    const moved = layout(after.input);
    const others = boxesOf(after, moved);
    const now = new Map(after.what.map((what, v) => [what, others[v]!]));
    const closed = boxes[scene.what.indexOf(-1 - opened)]!;
    const frame = scene.input.frameOf[scene.what.indexOf(-1 - opened)] ?? -1;
    let below = Number.NaN;
    for (let v = 0; v < boxes.length; v++) {
      const [was, is] = [boxes[v]!, now.get(scene.what[v]!)];
      if (!is || scene.what[v] === -1 - opened) continue;
      if (was.y1 <= closed.y0 && (scene.input.frameOf[v] ?? -1) === frame) {
        expect([is.x0, is.y0]).toEqual([was.x0, was.y0]);
      }
      if (was.y0 < closed.y1 || (scene.input.frameOf[v] ?? -1) !== frame) continue;
      expect(is.x0).toBe(was.x0);
      if (Number.isNaN(below)) below = is.y0 - was.y0;
      expect(is.y0 - was.y0).toBeCloseTo(below, 9);
      expect(below).toBeGreaterThanOrEqual(0);
    }
  });
});
