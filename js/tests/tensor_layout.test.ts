import { describe, expect, it } from "vitest";
import { cellBox, cellOf, layoutTile, pointAt, tileBudget } from "../src/tensor/layout.ts";

/** The tile that answers a budget, as the Python side makes it. */
function tileFor(planeRows: number, planeCols: number, width: number, height: number) {
  const { rows, cols } = tileBudget(planeRows, planeCols, width, height);
  const [rowStep, colStep] = [Math.ceil(planeRows / rows), Math.ceil(planeCols / cols)];
  return {
    rows: Math.ceil(planeRows / rowStep),
    cols: Math.ceil(planeCols / colStep),
    rowStep,
    colStep,
    planeRows,
    planeCols,
  };
}

const PLANES = [
  [1, 1],
  [2, 6],
  [32, 32],
  [224, 224],
  [1, 10],
  [1, 1_000_000],
  [1_000_000, 1],
  [20_000, 3],
  [3, 20_000],
  [2000, 3000],
  [10_240, 10_240],
  [7, 500],
] as const;
const STAGES = [
  [244, 240],
  [360, 270],
  [900, 360],
] as const;
const CASES = PLANES.flatMap((plane) => STAGES.map((stage) => [...plane, ...stage] as const));

describe("the picture of a plane", () => {
  it.each(CASES)("%i x %i fits a stage of %i x %i", (rows, cols, width, height) => {
    const layout = layoutTile(tileFor(rows, cols, width, height), width, height, 1);
    const { plot } = layout;
    expect(plot.x).toBeGreaterThan(0);
    expect(plot.x + plot.width).toBeLessThanOrEqual(width);
    expect(plot.y + plot.height).toBeLessThanOrEqual(height);
    expect(plot.width).toBeGreaterThan(0);
    expect(plot.height).toBeGreaterThan(0);
  });

  it.each(CASES)(
    "%i x %i in %i x %i asks for about a megabyte at most",
    (rows, cols, width, height) => {
      const budget = tileBudget(rows, cols, width, height);
      expect(budget.rows * budget.cols * 13).toBeLessThanOrEqual(1 << 20);
      expect(Math.min(budget.rows, budget.cols)).toBeGreaterThanOrEqual(1);
    },
  );

  it.each(CASES)(
    "%i x %i in %i x %i finds each value where it drew it",
    (rows, cols, width, height) => {
      const layout = layoutTile(tileFor(rows, cols, width, height), width, height, 2);
      for (const row of [0, Math.floor(rows / 2), rows - 1]) {
        for (const col of [0, Math.floor(cols / 3), cols - 1]) {
          const box = cellBox(layout, row, col);
          const found = pointAt(layout, box.x + box.width / 2, box.y + box.height / 2)!;
          expect(found).not.toBeNull();
          expect(cellOf(layout.tile, found.row, found.col)).toBe(cellOf(layout.tile, row, col));
        }
      }
      expect(pointAt(layout, layout.plot.x - 1, layout.plot.y + 1)).toBeNull();
      expect(pointAt(layout, layout.plot.x + layout.plot.width + 1, layout.plot.y + 1)).toBeNull();
    },
  );

  it("has square cells of whole pixels where both sides can be seen", () => {
    const layout = layoutTile(tileFor(32, 32, 360, 270), 360, 270, 1);
    expect(layout.cellWidth).toBe(layout.cellHeight);
    expect(Number.isInteger(layout.cellWidth)).toBe(true);
    expect(layout.cellWidth).toBeGreaterThanOrEqual(6);
  });

  it("gives thin planes rows that can be pointed at", () => {
    const layout = layoutTile(tileFor(3, 20_000, 360, 270), 360, 270, 1);
    expect(layout.cellHeight).toBeGreaterThanOrEqual(20);
  });
});
