import { describe, expect, it } from "vitest";
import { layout } from "../../../src/graph/layout/layout.ts";
import { edgePath, type LayoutResult } from "../../../src/graph/layout/types.ts";
import { wrap } from "../../../src/graph/layout/wrap.ts";
import { shown, someGroups } from "./frames.ts";
import { network, scattered } from "./graphs.ts";

const CASES = Array.from({ length: 24 }, (_, i) => {
  const seed = i + 1;
  const graph =
    seed % 3 ? network(150 + 10 * seed, seed) : scattered(120, 150, seed, seed % 2 === 0);
  graph.direction = seed % 4 === 0 ? "right" : "down";
  if (seed % 2) return { seed, input: graph };
  const groups = someGroups(graph.count, seed);
  const cyclic = seed % 3 === 0;
  return { seed, input: cyclic ? graph : shown(graph, groups, new Set(groups.start.keys())).input };
});

function within(result: LayoutResult, c: number, x: number, y: number): boolean {
  const { minX, maxX, minY, maxY } = result.columns;
  return x >= minX[c]! && x <= maxX[c]! && y >= minY[c]! && y <= maxY[c]!;
}

describe.each(CASES)("columns, seed $seed", ({ input }) => {
  const whole = layout(input);
  const result = wrap(whole, input, whole.direction === "down" ? 2 : 0.5);
  const { columns, layer, bounds } = result;
  const count = columns.minX.length;

  it("keeps boxes inside their layer's column and columns apart", () => {
    expect(columns.firstLayer[0]).toBe(0);
    expect(columns.firstLayer[count]).toBe(result.layers);
    for (let v = 0; v < input.count; v++) {
      const c = columns.firstLayer.findLastIndex((first) => first <= layer[v]!);
      const [w, h] = [input.width[v]! / 2, input.height[v]! / 2];
      expect(within(result, c, result.x[v]! - w, result.y[v]! - h)).toBe(true);
      expect(within(result, c, result.x[v]! + w, result.y[v]! + h)).toBe(true);
    }
    const [low, high] =
      whole.direction === "down" ? [columns.minX, columns.maxX] : [columns.minY, columns.maxY];
    for (let c = 1; c < count; c++) expect(low[c]!).toBeGreaterThan(high[c - 1]!);
  });

  it("keeps layers sorted within a column and each frame in one column", () => {
    for (let c = 0; c < count; c++) {
      for (let l = columns.firstLayer[c]! + 1; l < columns.firstLayer[c + 1]!; l++) {
        expect(result.layerTop[l]!).toBeGreaterThanOrEqual(result.layerBottom[l - 1]!);
      }
    }
    const { x, y, width, height } = result.frames;
    for (let f = 0; f < x.length; f++) {
      const c = columns.minX.findIndex((_, at) => within(result, at, x[f]!, y[f]!));
      expect(within(result, c, x[f]! + width[f]!, y[f]! + height[f]!)).toBe(true);
    }
  });

  it("keeps edge ends at their boxes and routes along the axes between columns", () => {
    const stubs = new Set(result.stubs);
    const wrong: object[] = [];
    for (let e = 0; e < input.source.length; e++) {
      const [was, is] = [edgePath(whole, e), edgePath(result, e)];
      const [s, t] = [input.source[e]!, input.target[e]!];
      expect(is[0]! - result.x[s]!).toBeCloseTo(was[0]! - whole.x[s]!, 6);
      expect(is[1]! - result.y[s]!).toBeCloseTo(was[1]! - whole.y[s]!, 6);
      expect(is.at(-1)! - result.y[t]!).toBeCloseTo(was.at(-1)! - whole.y[t]!, 6);
      const cut = layer[s] !== layer[t] && !stubs.has(e);
      for (let i = 2; i < is.length; i += 2) {
        const [x, y] = [is[i]!, is[i + 1]!];
        const isInside =
          x >= bounds.minX && x <= bounds.maxX && y >= bounds.minY && y <= bounds.maxY;
        const same = columns.minX.some(
          (_, c) =>
            within(result, c, is[i - 2]!, is[i - 1]!) && within(result, c, is[i]!, is[i + 1]!),
        );
        // Between columns all lines run along the axes.
        const isAlong = !cut || same || x === is[i - 2] || y === is[i - 1];
        if (!isInside || !isAlong) wrong.push({ edge: e, point: i / 2, isInside, isAlong });
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("wrapping", () => {
  it("wraps a long graph to roughly the requested aspect ratio", () => {
    const input = network(5000, 3);
    const { bounds, columns } = wrap(layout(input), input, 1.6);
    expect(columns.minX.length).toBeGreaterThan(5);
    expect(bounds.maxX / bounds.maxY).toBeGreaterThan(0.8);
    expect(bounds.maxX / bounds.maxY).toBeLessThan(3.2);
  });

  it("returns the same layout if wrapping is not needed", () => {
    const input = network(30, 3);
    const whole = layout(input);
    expect(wrap(whole, input, 0.2)).toBe(whole);
  });

  it("never cuts through a frame", () => {
    const graph = network(300, 4);
    const groups = { start: [0], end: [graph.count], parent: [-1] };
    const { input } = shown(graph, groups, new Set([0]));
    expect(wrap(layout(input), input, 2).columns.minX.length).toBe(1);
  });
});
