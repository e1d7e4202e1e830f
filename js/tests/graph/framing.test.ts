import { describe, expect, it } from "vitest";
import { Camera, LEGIBLE_SCALE } from "../../src/graph/camera.ts";
import { opening } from "../../src/graph/framing.ts";
import type { PlacedScene } from "../../src/graph/layout/placed_scene.ts";
import { columns, grouped, type NodeSpec, WORDS } from "./fixture.ts";
import { place } from "./place.ts";

/** A chain of boxes of unlike widths; `aside`: as many inputs that only the last of it reads. */
function chain(count: number, aside = 0): PlacedScene {
  const last = aside + count - 1;
  const nodes = Array.from({ length: aside + count }, (_, node): NodeSpec => {
    if (node <= aside) return {};
    const inputs = [[node - 1] as const];
    if (node === last) for (let each = 0; each < aside; each++) inputs.push([each] as const);
    return { inputs };
  });
  return place(columns(nodes), "down", null, {
    ...WORDS,
    width: (node) => 120 + ((node * 37) % 90),
  });
}

function camera(width: number, height: number): Camera {
  return Object.assign(new Camera(), { width, height });
}

/** The boxes that are partly on the stage, and those that are wholly there. */
function seen(placed: PlacedScene, at: Camera): { cut: number[]; whole: number[] } {
  const [cut, whole]: [number[], number[]] = [[], []];
  placed.eachBox(at.view(), (box) => {
    (at.shows(placed.rectangle(box), 0) ? whole : cut).push(box);
  });
  return { cut, whole };
}

describe("opening", () => {
  for (const [width, height] of [
    [330, 300],
    [700, 360],
    [1500, 800],
  ] as const) {
    it(`shows the wanted box whole and legible, and cuts off no box (${width} × ${height})`, () => {
      const placed = chain(200);
      for (const wanted of [0, 1, 57, 120, 198, 199]) {
        const at = opening(placed, camera(width, height), wanted);
        const { cut, whole } = seen(placed, at);
        expect(whole).toContain(wanted);
        expect(cut).toEqual([]);
        expect(at.scale).toBeGreaterThanOrEqual(LEGIBLE_SCALE);
      }
    });
  }

  it("shows all boxes of a small graph", () => {
    const placed = chain(6);
    expect(seen(placed, opening(placed, camera(700, 600), 3)).whole).toHaveLength(6);
  });

  it("shows the first layer if no box is wanted", () => {
    const placed = chain(300, 40);
    const { layout: placedAt } = placed;
    const first = placedAt.y.indexOf(Math.min(...placedAt.y));
    expect(first).toBeGreaterThanOrEqual(40);
    const { whole } = seen(placed, opening(placed, camera(420, 360), -1));
    expect(whole).toContain(first);
    expect(whole.length).toBeGreaterThan(2);
  });

  it("makes boxes of a wide layer a little smaller rather than cutting one off", () => {
    const reads = { inputs: [[0] as const] };
    const placed = place(columns([{}, ...Array.from({ length: 60 }, () => reads)]), "down", null, {
      ...WORDS,
      width: () => 226,
    });
    const whole = placed.rectangle(0);
    for (const room of [2.8, 2.9]) {
      const at = opening(placed, camera(room * (whole.width + 24), 300), -1);
      expect(seen(placed, at).cut).toEqual([]);
      expect(at.scale).toBeLessThan(1);
      expect(at.scale).toBeGreaterThanOrEqual(LEGIBLE_SCALE);
    }
  });

  it("shows the start of a frame that is wider than the stage, and cuts off no box", () => {
    const nodes = [{}, ...Array.from({ length: 5 }, () => ({ inputs: [[0] as const] }))];
    const placed = place(grouped(columns(nodes), [{ start: 0, end: 6 }]), "down", Uint8Array.of(1));
    const { x } = placed.frame(0);
    const leftmost = [1, 2, 3, 4, 5].sort((a, b) => placed.layout.x[a]! - placed.layout.x[b]!);
    for (const wanted of leftmost.slice(0, 2)) {
      const at = opening(placed, camera(330, 200), wanted);
      expect(placed.frame(0).width * at.scale).toBeGreaterThan(330);
      expect(at.view().minX).toBeLessThanOrEqual(x);
      expect(seen(placed, at).whole).toContain(wanted);
    }
  });
});
