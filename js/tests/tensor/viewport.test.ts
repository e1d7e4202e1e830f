import { describe, expect, it } from "vitest";
import { placeAt } from "../../src/tensor/picture/plane_layout.ts";
import { PlaneViewport } from "../../src/tensor/picture/viewport.ts";

function viewportOf(rows: number, cols: number, width = 900, height = 400): PlaneViewport {
  const viewport = new PlaneViewport();
  viewport.resize({ width, height }, 1);
  viewport.over(rows, cols);
  return viewport;
}

const PLANES = [
  [512, 512],
  [2000, 512],
  [300, 2000],
  [64, 64],
  [40, 3000],
  [3000, 40],
] as const;

describe("zooming at a place", () => {
  it.each(PLANES.flatMap((plane) => [0.2, 0.7, 0.98].map((share) => [...plane, share] as const)))(
    "keeps the value of %i x %i under the pointer (at %d)",
    (rows, cols, share) => {
      const viewport = viewportOf(rows, cols);
      const { plot } = viewport.layout!;
      const [x, y] = [plot.x + share * plot.width, plot.y + share * plot.height];
      const before = placeAt(viewport.layout!, x, y);
      const zooms: number[] = [];
      const expectKept = () => {
        const { row, col } = placeAt(viewport.layout!, x, y);
        const { rowStep, colStep, down, across } = viewport.layout!;
        expect(Math.abs(row - before.row)).toBeLessThanOrEqual(Math.max(rowStep, 1.5 / down));
        expect(Math.abs(col - before.col)).toBeLessThanOrEqual(Math.max(colStep, 1.5 / across));
      };
      for (let i = 0; i < 12 && viewport.zoom(1.4, { x, y }); i++) {
        zooms.push(viewport.layout!.across);
        expectKept();
      }
      while (viewport.zoom(1 / 1.4, { x, y })) expectKept();
      expect([viewport.region, viewport.layout!.row, viewport.layout!.col]).toEqual([null, 0, 0]);
      expect(zooms.length > 0).toBe(viewport.canZoom);
    },
  );

  it("keeps the value under a pointer that moves", () => {
    const viewport = viewportOf(2000, 512);
    for (const share of [0.9, 0.3, 0.6, 0.95]) {
      const { plot } = viewport.layout!;
      const at = { x: plot.x + share * plot.width, y: plot.y + share * plot.height };
      const before = placeAt(viewport.layout!, at.x, at.y);
      viewport.zoom(1.5, at);
      const after = placeAt(viewport.layout!, at.x, at.y);
      expect(Math.abs(after.col - before.col)).toBeLessThan(2 / viewport.layout!.across);
      expect(Math.abs(after.row - before.row)).toBeLessThan(2 / viewport.layout!.down);
    }
  });

  it("keeps the stage filled and stays within the plane", () => {
    const viewport = viewportOf(2000, 512);
    const whole = viewport.layout!.plot;
    for (const [factor, share] of [
      [1.6, 0.95],
      [2, 0.5],
      [0.7, 0.02],
      [1.2, 0.4],
      [0.6, 0.01],
    ] as const) {
      const { plot } = viewport.layout!;
      viewport.zoom(factor, { x: plot.x + share * plot.width, y: plot.y + share * plot.height });
      const { col, across, planeCols, plot: now } = viewport.layout!;
      expect(now.width).toBeGreaterThanOrEqual(whole.width - 1);
      expect(col + now.width / across).toBeLessThanOrEqual(planeCols + 1e-6);
    }
    viewport.pan(-10_000, 0);
    expect(viewport.layout!.plot.width).toBeGreaterThanOrEqual(whole.width - 1);
    viewport.pan(10_000, 0);
    expect(viewport.layout!.col).toBe(0);
  });
});
