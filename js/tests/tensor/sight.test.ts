import { describe, expect, it } from "vitest";
import { placeAt } from "../../src/tensor/picture/layout.ts";
import { Sight } from "../../src/tensor/picture/sight.ts";

function sightOf(rows: number, cols: number, width = 900, height = 400): Sight {
  const sight = new Sight();
  sight.resize({ width, height }, 1);
  sight.over(rows, cols);
  return sight;
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
    "keeps the value of %i x %i that is there (at %d)",
    (rows, cols, share) => {
      const sight = sightOf(rows, cols);
      const { plot } = sight.layout!;
      const [x, y] = [plot.x + share * plot.width, plot.y + share * plot.height];
      const before = placeAt(sight.layout!, x, y);
      const zooms: number[] = [];
      const expectKept = () => {
        const { row, col } = placeAt(sight.layout!, x, y);
        const { rowStep, colStep, down, across } = sight.layout!;
        expect(Math.abs(row - before.row)).toBeLessThanOrEqual(Math.max(rowStep, 1.5 / down));
        expect(Math.abs(col - before.col)).toBeLessThanOrEqual(Math.max(colStep, 1.5 / across));
      };
      for (let i = 0; i < 12 && sight.zoom(1.4, { x, y }); i++) {
        zooms.push(sight.layout!.across);
        expectKept();
      }
      while (sight.zoom(1 / 1.4, { x, y })) expectKept();
      expect([sight.region, sight.layout!.row, sight.layout!.col]).toEqual([null, 0, 0]);
      expect(zooms.length > 0).toBe(sight.canZoom);
    },
  );

  it("keeps it wherever the pointer went meanwhile", () => {
    const sight = sightOf(2000, 512);
    for (const share of [0.9, 0.3, 0.6, 0.95]) {
      const { plot } = sight.layout!;
      const at = { x: plot.x + share * plot.width, y: plot.y + share * plot.height };
      const before = placeAt(sight.layout!, at.x, at.y);
      sight.zoom(1.5, at);
      const after = placeAt(sight.layout!, at.x, at.y);
      expect(Math.abs(after.col - before.col)).toBeLessThan(2 / sight.layout!.across);
      expect(Math.abs(after.row - before.row)).toBeLessThan(2 / sight.layout!.down);
    }
  });

  it("leaves no room empty that was filled before, and shows no more than there is", () => {
    const sight = sightOf(2000, 512);
    const whole = sight.layout!.plot;
    for (const [factor, share] of [
      [1.6, 0.95],
      [2, 0.5],
      [0.7, 0.02],
      [1.2, 0.4],
      [0.6, 0.01],
    ] as const) {
      const { plot } = sight.layout!;
      sight.zoom(factor, { x: plot.x + share * plot.width, y: plot.y + share * plot.height });
      const { col, across, planeCols, plot: now } = sight.layout!;
      expect(now.width).toBeGreaterThanOrEqual(whole.width - 1);
      expect(col + now.width / across).toBeLessThanOrEqual(planeCols + 1e-6);
    }
    sight.pan(-10_000, 0);
    expect(sight.layout!.plot.width).toBeGreaterThanOrEqual(whole.width - 1);
    sight.pan(10_000, 0);
    expect(sight.layout!.col).toBe(0);
  });
});
