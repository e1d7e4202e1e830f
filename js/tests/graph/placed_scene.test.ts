import { describe, expect, it } from "vitest";
import { Camera } from "../../src/graph/camera.ts";
import { Walk } from "../../src/graph/data/walk.ts";
import type { Bounds } from "../../src/graph/layout/types.ts";
import type { GraphColumns } from "../../src/shared/client/answers.ts";
import { columns, type NodeSpec, residual } from "./fixture.ts";
import { place } from "./place.ts";

/** Nodes that read one to three of those before them, near ones rather than far ones. */
function random(count: number, seed: number): GraphColumns {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
  const nodes: NodeSpec[] = [{}];
  while (nodes.length < count) {
    const here = nodes.length;
    const reach = () => Math.max(0, here - 1 - (next(10) === 0 ? next(here) : next(4)));
    nodes.push({ inputs: Array.from({ length: 1 + next(3) }, () => [reach()] as const) });
  }
  return columns(nodes);
}

const meets = (a: Bounds, b: Bounds) =>
  a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;

describe("PlacedScene", () => {
  for (const direction of ["down", "right"] as const) {
    it(`finds the same boxes as a linear search (${direction})`, () => {
      const placed = place(random(300, 5), direction);
      const { minX, minY, maxX, maxY } = placed.layout.bounds;
      for (let i = 0; i < 60; i++) {
        const [x, y] = [minX + ((maxX - minX) * i) / 60, minY + ((maxY - minY) * (59 - i)) / 60];
        const view = { minX: x, minY: y, maxX: x + 40 * (i % 9), maxY: y + 90 * (i % 5) };
        const found: number[] = [];
        placed.eachBox(view, (box) => found.push(box));
        const wanted = Array.from({ length: placed.scene.count }, (_, box) => box).filter((box) => {
          const { x, y, width, height } = placed.rectangle(box);
          return meets({ minX: x, minY: y, maxX: x + width, maxY: y + height }, view);
        });
        expect(found.sort((a, b) => a - b)).toEqual(wanted);
      }
    });

    it(`finds every routed edge across the view, without duplicates (${direction})`, () => {
      const placed = place(random(300, 11), direction);
      const { routes, bounds } = placed.layout;
      const along = direction === "down" ? 1 : 0;
      const [low, high] = along === 1 ? [bounds.minY, bounds.maxY] : [bounds.minX, bounds.maxX];
      for (let i = 0; i < 40; i++) {
        const [from, to] = [low + ((high - low) * i) / 40, low + ((high - low) * (i + 1)) / 40];
        const view =
          along === 1 ? { ...bounds, minY: from, maxY: to } : { ...bounds, minX: from, maxX: to };
        const found: number[] = [];
        placed.eachEdge(view, (edge) => found.push(edge));
        expect(new Set(found).size).toBe(found.length);
        for (let edge = 0; edge < placed.scene.edgeSource.length; edge++) {
          const [start, end] = [routes.offsets[edge]!, routes.offsets[edge + 1]!];
          const at = Array.from({ length: end - start }, (_, p) => {
            return routes.points[2 * (start + p) + along]!;
          });
          if (placed.isStub[edge] || at.length === 0) continue;
          if (Math.min(...at) <= to && Math.max(...at) >= from) expect(found).toContain(edge);
        }
      }
    });
  }

  it("includes all points of a stroke inside the view", () => {
    const chain: NodeSpec[] = [{}];
    for (let node = 1; node < 60; node++) {
      chain.push({ inputs: node % 2 ? [[node - 1]] : [[node - 1], [0]] });
    }
    const placed = place(columns(chain));
    const { routes, bounds } = placed.layout;
    const middle = (bounds.minY + bounds.maxY) / 2;
    const view = { ...bounds, minY: middle, maxY: middle + 50 };
    for (let edge = 0; edge < placed.scene.edgeSource.length; edge++) {
      const [first, end] = placed.pointsInView(edge, view);
      for (let point = routes.offsets[edge]!; point < routes.offsets[edge + 1]!; point++) {
        const y = routes.points[2 * point + 1]!;
        if (y >= view.minY && y <= view.maxY) {
          expect(point).toBeGreaterThanOrEqual(first);
          expect(point).toBeLessThan(end);
        }
      }
    }
  });

  it("finds the box at a point, or -1 if there is none", () => {
    const placed = place(residual());
    for (let box = 0; box < placed.scene.count; box++) {
      expect(placed.boxAt(placed.layout.x[box]!, placed.layout.y[box]!)).toBe(box);
    }
    expect(placed.boxAt(placed.layout.bounds.maxX + 50, placed.layout.bounds.maxY + 50)).toBe(-1);
  });
});

describe("Walk", () => {
  const placed = place(residual());
  const node = (box: number | null) => (box === null ? null : placed.scene.node[box]!);
  const box = (id: number) => placed.boxOf(id);

  it("goes down to the nearest consumer and up to the nearest producer", () => {
    const walk = new Walk(placed);
    expect(node(walk.step(box(2), "down"))).toBe(4);
    expect(node(walk.step(box(5), "up"))).toBe(4);
    expect(walk.step(box(0), "up")).toBeNull();
    expect(walk.step(box(6), "down")).toBeNull();
  });

  it("steps sideways among operands and back down to the consumer", () => {
    const wide = place(columns([{}, { inputs: [[0]] }, { inputs: [[0]] }, { inputs: [[1], [2]] }]));
    const walk = new Walk(wide);
    const first = walk.step(wide.boxOf(3), "up")!;
    const side = walk.step(first, "left") ?? walk.step(first, "right");
    expect(new Set([first, side])).toEqual(new Set([wide.boxOf(1), wide.boxOf(2)]));
    expect(walk.step(side!, "down")).toBe(wide.boxOf(3));
  });

  it("steps sideways to the consumer's other operand from a box alone in its layer", () => {
    const walk = new Walk(placed);
    const to = [walk.step(box(4), "left"), walk.step(box(4), "right")].filter((at) => at !== null);
    expect(to.map(node)).toEqual([2]);
  });
});

describe("Camera", () => {
  it("keeps the point under the pointer in place while it zooms", () => {
    const camera = new Camera();
    camera.resize(600, 400);
    [camera.x, camera.y] = [1000, -50];
    const before = [camera.worldX(123), camera.worldY(77)];
    camera.zoomAt(1.7, 123, 77);
    expect(camera.worldX(123)).toBeCloseTo(before[0]!, 9);
    expect(camera.worldY(77)).toBeCloseTo(before[1]!, 9);
    camera.zoomAt(1e9, 0, 0);
    expect(camera.scale).toBeLessThanOrEqual(3);
  });

  it("fits bounds into the stage and clamps the camera to the graph", () => {
    const camera = new Camera();
    camera.resize(600, 400);
    const bounds = { minX: 0, minY: 0, maxX: 100, maxY: 4000 };
    camera.fit(bounds);
    expect(camera.screenY(0)).toBeGreaterThanOrEqual(0);
    expect(camera.screenY(4000)).toBeLessThanOrEqual(400);
    camera.scale = 1;
    camera.y = 99_999;
    camera.clamp(bounds);
    expect(camera.screenY(4000)).toBeCloseTo(400 - 10, 6);
  });
});
