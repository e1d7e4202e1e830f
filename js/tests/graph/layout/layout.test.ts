import { describe, expect, it } from "vitest";
import { layout } from "../../../src/graph/layout/layout.ts";
import { edgePath, type LayoutInput, type LayoutResult } from "../../../src/graph/layout/types.ts";
import { inputOf, network, random, scattered } from "./graphs.ts";
import { cross, judge, segments } from "./quality.ts";

const SEEDS = Array.from({ length: 60 }, (_, i) => i + 1);

function anyGraph(seed: number): LayoutInput {
  const next = random(seed);
  const size = 1 + Math.floor(next() * 60);
  const input = scattered(size, Math.floor(size * next() * 2.5), seed, seed % 3 === 0);
  for (let v = 0; v < size; v++) input.height[v] = 10 + Math.floor(next() * 80);
  if (seed % 5 === 0) input.direction = "right";
  if (seed % 7 === 0) input.options = { trunkBudget: -1024 / size };
  return input;
}

/** An edge's ends are on the borders of its boxes and its path never turns back. */
function checkPath(input: LayoutInput, result: LayoutResult, e: number) {
  const a = result.direction === "down" ? 0 : 1;
  const [x, y] = a === 0 ? [result.x, result.y] : [result.y, result.x];
  const [width, height] = a === 0 ? [input.width, input.height] : [input.height, input.width];
  const path = edgePath(result, e);
  const against = result.reversed.includes(e);
  const [top, bottom] = against
    ? [input.target[e]!, input.source[e]!]
    : [input.source[e]!, input.target[e]!];
  expect(result.layer[top]!).toBeLessThan(result.layer[bottom]!);
  const first = against ? path.length - 2 : 0;
  const last = against ? 0 : path.length - 2;
  expect(path[first + 1 - a]).toBeCloseTo(y[top]! + height[top]! / 2, 9);
  expect(path[last + 1 - a]).toBeCloseTo(y[bottom]! - height[bottom]! / 2, 9);
  expect(Math.abs(path[first + a]! - x[top]!)).toBeLessThanOrEqual(width[top]! / 2);
  expect(Math.abs(path[last + a]! - x[bottom]!)).toBeLessThanOrEqual(width[bottom]! / 2);
  for (let i = 2; i < path.length; i += 2) {
    const step = path[i + 1 - a]! - path[i - 1 - a]!;
    expect(against ? -step : step).toBeGreaterThanOrEqual(0);
  }
}

function boxesMeet(input: LayoutInput, result: LayoutResult): number {
  let meet = 0;
  for (let u = 0; u < input.count; u++) {
    for (let v = u + 1; v < input.count; v++) {
      const dx = Math.abs(result.x[u]! - result.x[v]!);
      const dy = Math.abs(result.y[u]! - result.y[v]!);
      const apart =
        dx >= (input.width[u]! + input.width[v]!) / 2 ||
        dy >= (input.height[u]! + input.height[v]!) / 2;
      if (!apart) meet++;
    }
  }
  return meet;
}

function strokesOverBoxes(input: LayoutInput, result: LayoutResult): number {
  const transposed = result.direction === "right";
  let hits = 0;
  for (const { edge, x0, y0, x1, y1 } of segments(result)) {
    for (let v = 0; v < input.count; v++) {
      if (v === input.source[edge] || v === input.target[edge]) continue;
      const [cx, cy, w, h] = transposed
        ? [result.y[v]!, result.x[v]!, input.height[v]!, input.width[v]!]
        : [result.x[v]!, result.y[v]!, input.width[v]!, input.height[v]!];
      let from = 0;
      let to = 1;
      for (const [start, delta, center, size] of [
        [x0, x1 - x0, cx, w],
        [y0, y1 - y0, cy, h],
      ] as const) {
        const [low, high] = [center - size / 2 - start, center + size / 2 - start];
        if (delta === 0) {
          if (low >= 0 || high <= 0) to = -1;
        } else {
          from = Math.max(from, Math.min(low / delta, high / delta));
          to = Math.min(to, Math.max(low / delta, high / delta));
        }
      }
      if (from < to) hits++;
    }
  }
  return hits;
}

describe.each(SEEDS)("layout of a random graph, seed %i", (seed) => {
  const input = anyGraph(seed);
  const result = layout(input);

  it("keeps boxes apart and lines off unrelated boxes", () => {
    expect(boxesMeet(input, result)).toBe(0);
    expect(strokesOverBoxes(input, result)).toBe(0);
    const quality = judge(input, result);
    expect(quality.overlaps).toBe(0);
    expect(quality.overNodes).toBe(0);
  });

  it("has the same crossing count as a pairwise comparison", () => {
    const drawn = segments(result).filter(({ edge }) => input.source[edge] !== input.target[edge]);
    const stubs = new Set(result.stubs);
    let pairs = 0;
    if (stubs.size > 0) return;
    for (let i = 0; i < drawn.length; i++) {
      for (let j = 0; j < i; j++) if (cross(drawn[i]!, drawn[j]!)) pairs++;
    }
    expect(judge(input, result).crossings).toBe(pairs);
  });

  it("routes every edge between box borders in flow direction", () => {
    for (let e = 0; e < input.source.length; e++) {
      if (input.source[e] !== input.target[e]) checkPath(input, result, e);
    }
  });

  it("keeps everything within its bounds and its layers sorted", () => {
    const { bounds, routes, layerTop, layerBottom, order } = result;
    for (let v = 0; v < input.count; v++) {
      expect(result.x[v]! - input.width[v]! / 2).toBeGreaterThanOrEqual(bounds.minX);
      expect(result.y[v]! + input.height[v]! / 2).toBeLessThanOrEqual(bounds.maxY);
    }
    for (let i = 0; i < routes.points.length; i += 2) {
      expect(routes.points[i]!).toBeGreaterThanOrEqual(bounds.minX);
      expect(routes.points[i]!).toBeLessThanOrEqual(bounds.maxX);
    }
    for (let l = 1; l < result.layers; l++)
      expect(layerTop[l]!).toBeGreaterThan(layerBottom[l - 1]!);
    expect([...order].sort((a, b) => a - b)).toEqual(
      Array.from({ length: input.count }, (_, v) => v),
    );
  });

  it("is deterministic and does not modify its input", () => {
    const copy = structuredClone(input);
    const again = layout(input);
    expect(again).toEqual(result);
    expect(input).toEqual(copy);
  });
});

describe("shape", () => {
  it("draws a chain as one vertical line", () => {
    const source = Array.from({ length: 49 }, (_, i) => i);
    const widths = Array.from({ length: 50 }, (_, i) => 90 + (i % 7) * 13);
    const result = layout(
      inputOf(
        widths,
        source,
        source.map((v) => v + 1),
      ),
    );
    expect(new Set(result.x).size).toBe(1);
    for (let e = 0; e < 49; e++) {
      expect(result.routes.offsets[e + 1]! - result.routes.offsets[e]!).toBe(2);
    }
  });

  it("keeps the main line of residual blocks vertical and bends the shortcut round it", () => {
    const source: number[] = [];
    const target: number[] = [];
    for (let block = 0; block < 20; block++) {
      const x = 4 * block;
      source.push(x, x + 1, x + 2, x + 3, x);
      target.push(x + 1, x + 2, x + 3, x + 4, x + 4);
    }
    const input = inputOf(
      Array.from({ length: 81 }, (_, i) => 90 + ((i * 37) % 90)),
      source,
      target,
    );
    const result = layout(input);
    expect(new Set(result.x).size).toBe(1);
    expect(judge(input, result)).toMatchObject({ crossings: 0, overNodes: 0 });
    for (let e = 4; e < 100; e += 5) expect(edgePath(result, e).length).toBe(8);
  });

  it("keeps operands in their order", () => {
    const result = layout(inputOf([80, 80, 80, 80], [2, 0, 1], [3, 3, 3]));
    expect(result.x[2]!).toBeLessThan(result.x[0]!);
    expect(result.x[0]!).toBeLessThan(result.x[1]!);
  });

  it("draws a tensor with many readers as one trunk with branches", () => {
    const source = Array.from({ length: 30 }, (_, i) => i);
    const target = source.map((v) => v + 1);
    for (let v = 2; v <= 30; v++) {
      source.push(0);
      target.push(v);
    }
    const input = inputOf(new Array(31).fill(100), source, target);
    const result = layout(input);
    const { trunk } = result.routes;
    const owner = source.length - 1;
    for (let e = 30; e < owner; e++) expect(trunk[e]).toBe(owner);
    expect(trunk[owner]).toBe(-1);
    expect(judge(input, result).crossings).toBe(0);
    const separate = layout({
      ...input,
      sourceSlot: Int32Array.from(source, (_, e) => (e < 30 ? 0 : e)),
    });
    expect(judge(input, separate).ink).toBeGreaterThan(3 * judge(input, result).ink);
  });

  it("reverses one edge of a cycle and reports self loops", () => {
    const result = layout(inputOf([80, 80, 80], [0, 1, 2, 1], [1, 2, 0, 1]));
    expect([...result.reversed]).toEqual([2, 3]);
    expect(result.layers).toBe(3);
    const { offsets } = result.routes;
    expect(offsets[4]! - offsets[3]!).toBe(4);
  });

  it("transposes the layout for direction right", () => {
    const input = network(120, 5);
    const right = layout({
      ...input,
      width: input.height,
      height: input.width,
      direction: "right",
    });
    const down = layout(input);
    expect(right.x).toEqual(down.y);
    expect(right.y).toEqual(down.x);
    expect(right.bounds.maxX).toBe(down.bounds.maxY);
  });

  it("keeps its guarantees when nodes are renumbered", () => {
    const input = network(200, 2);
    const next = random(9);
    const name = Array.from({ length: input.count }, (_, v) => v);
    for (let i = name.length - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1));
      [name[i], name[j]] = [name[j]!, name[i]!];
    }
    const renamed: LayoutInput = {
      ...input,
      width: new Float64Array(input.count),
      source: input.source.map((v) => name[v]!),
      target: input.target.map((v) => name[v]!),
    };
    for (let v = 0; v < input.count; v++) renamed.width[name[v]!] = input.width[v]!;
    const result = layout(renamed);
    expect(result.reversed.length).toBe(0);
    expect(judge(renamed, result)).toMatchObject({ overNodes: 0, overlaps: 0 });
    expect(result.layers).toBe(layout(input).layers);
  });

  it("packs components and isolated nodes compactly", () => {
    const result = layout(inputOf(new Array(400).fill(100), [], []));
    const { maxX, maxY } = result.bounds;
    expect(result.components).toBe(400);
    expect(maxX / maxY).toBeGreaterThan(0.5);
    expect(maxX / maxY).toBeLessThan(4);
    expect(boxesMeet(inputOf(new Array(400).fill(100), [], []), result)).toBe(0);
  });

  it("lays out an empty graph and a single node", () => {
    expect(layout(inputOf([], [], [])).bounds).toEqual({ minX: 0, minY: 0, maxX: 0, maxY: 0 });
    expect(layout(inputOf([80], [], [])).bounds).toEqual({
      minX: -40,
      minY: 0,
      maxX: 40,
      maxY: 36,
    });
  });

  it("throws on invalid input", () => {
    expect(() => layout(inputOf([80], [0], [1]))).toThrow(/edge 0 runs from 0 to 1/);
    expect(() => layout(inputOf([Number.NaN], [], []))).toThrow(/node 0/);
    expect(() => layout({ ...inputOf([80], [], []), count: 2 })).toThrow(RangeError);
  });
});

declare const process: { cpuUsage(before?: object): { user: number } };

describe("size", { timeout: 60_000 }, () => {
  const timed = (input: LayoutInput, seconds: number): LayoutResult => {
    const started = process.cpuUsage(); // what others make the machine do does not count
    const result = layout(input);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(seconds);
    expect(result.routes.points.length).toBeLessThan(40 * (input.count + input.source.length));
    expect(judge(input, result, false)).toMatchObject({ overlaps: 0, overNodes: 0 });
    return result;
  };

  it("lays out a network of 30,000 nodes within 5 s of CPU time", () => {
    timed(network(30_000), 5);
  });

  it("lays out a hub with 100,000 readers and 1,000 other sources", () => {
    const count = 101_001;
    const source: number[] = [];
    const target: number[] = [];
    for (let v = 1001; v < count; v++) {
      source.push(0);
      target.push(v);
      if (v % 3 === 0) {
        source.push(1 + ((v * 7919) % 1000));
        target.push(v);
      }
    }
    timed(inputOf(new Array(count).fill(80), source, target), 10);
  });

  it("lays out 1,000 parallel branches and one node that reads them all", () => {
    const source: number[] = [];
    const target: number[] = [];
    for (let b = 0; b < 1000; b++) {
      const first = 1 + 20 * b;
      source.push(0);
      target.push(first);
      for (let k = 1; k < 20; k++) {
        source.push(first + k - 1);
        target.push(first + k);
      }
      source.push(first + 19);
      target.push(20_001);
    }
    const result = timed(inputOf(new Array(20_002).fill(80), source, target), 8);
    expect(result.stubs.length).toBe(0);
  });

  it("lays out a chain of 100,000 layers with a mask read by every tenth", () => {
    const source = Array.from({ length: 100_000 }, (_, i) => i);
    const target = source.map((v) => v + 1);
    for (let v = 10; v <= 100_000; v += 10) {
      source.push(100_001);
      target.push(v);
    }
    timed(inputOf(new Array(100_002).fill(80), source, target), 10);
  });

  it("draws stubs if every node reads all previous nodes", () => {
    const source: number[] = [];
    const target: number[] = [];
    for (let v = 1; v < 700; v++) {
      for (let u = 0; u < v; u++) {
        source.push(u);
        target.push(v);
      }
    }
    const result = timed(inputOf(new Array(700).fill(80), source, target), 10);
    expect(result.stubs.length).toBeGreaterThan(0);
  });

  it("lays out 100,000 isolated nodes", () => {
    timed(inputOf(new Array(100_000).fill(80), [], []), 8);
  });
});
