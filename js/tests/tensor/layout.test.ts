import { describe, expect, it } from "vitest";
import {
  axisTicks,
  cameraOn,
  cellBox,
  cellOf,
  inSight,
  isWhole,
  layoutPlane,
  maxZoom,
  type PlaneCamera,
  type PlaneLayout,
  pointAt,
} from "../../src/tensor/picture/plane_layout.ts";
import { wantedFor } from "../../src/tensor/picture/tiles.ts";

const WHOLE: PlaneCamera = { zoom: 1, row: 0, col: 0 };

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

/** The cells of the tile that answers what is wanted. */
function gridOf(layout: PlaneLayout) {
  const { part, rows, cols } = wantedFor(layout);
  const { rowStep, colStep } = layout;
  return { row: part?.[0] ?? 0, col: part?.[1] ?? 0, rows, cols, rowStep, colStep };
}

describe("the picture of a plane", () => {
  it.each(CASES)("%i x %i fits a stage of %i x %i", (rows, cols, width, height) => {
    const { plot } = layoutPlane(rows, cols, WHOLE, { width, height }, 1);
    expect(plot.x).toBeGreaterThan(0);
    expect(plot.x + plot.width).toBeLessThanOrEqual(width + 1e-6);
    expect(plot.y + plot.height).toBeLessThanOrEqual(height + 1e-6);
    expect(plot.width).toBeGreaterThan(0);
    expect(plot.height).toBeGreaterThan(0);
  });

  it.each(CASES)(
    "%i x %i in %i x %i requests at most a mebibyte, and no cell below a pixel",
    (rows, cols, width, height) => {
      for (const ratio of [1, 2]) {
        const layout = layoutPlane(rows, cols, WHOLE, { width, height }, ratio);
        const wanted = wantedFor(layout);
        expect(wanted.part).toBeNull();
        expect(wanted.rows * wanted.cols * 13).toBeLessThanOrEqual(1 << 20);
        expect(Math.min(wanted.rows, wanted.cols)).toBeGreaterThanOrEqual(1);
        expect(Math.ceil(rows / wanted.rows)).toBe(layout.rowStep);
        expect(layout.colStep * layout.across * ratio).toBeGreaterThanOrEqual(0.99);
      }
    },
  );

  it.each(CASES)(
    "%i x %i in %i x %i finds each value at its drawn position",
    (rows, cols, width, height) => {
      const layout = layoutPlane(rows, cols, WHOLE, { width, height }, 2);
      const grid = gridOf(layout);
      for (const row of [0, Math.floor(rows / 2), rows - 1]) {
        for (const col of [0, Math.floor(cols / 3), cols - 1]) {
          const box = cellBox(layout, row, col)!;
          const found = pointAt(layout, box.x + box.width / 2, box.y + box.height / 2)!;
          expect(found).not.toBeNull();
          expect(cellOf(grid, found.row, found.col)).toBe(cellOf(grid, row, col));
        }
      }
      expect(pointAt(layout, layout.plot.x - 1, layout.plot.y + 1)).toBeNull();
      expect(pointAt(layout, layout.plot.x + layout.plot.width + 1, layout.plot.y + 1)).toBeNull();
    },
  );

  it("has square cells of integer pixels if both sides are visible", () => {
    const { down, across } = layoutPlane(32, 32, WHOLE, { width: 360, height: 270 }, 1);
    expect(across).toBe(down);
    expect(Number.isInteger(across)).toBe(true);
    expect(across).toBeGreaterThanOrEqual(6);
  });

  it("gives thin planes rows of at least 20 pixels", () => {
    expect(
      layoutPlane(3, 20_000, WHOLE, { width: 360, height: 270 }, 1).down,
    ).toBeGreaterThanOrEqual(20);
  });
});

describe("a part of a plane", () => {
  const stage = { width: 460, height: 300 };

  it.each([
    [1200, 2000, [300, 700, 40, 60]],
    [10_240, 10_240, [5000, 5000, 900, 1000]],
    [1, 100_000, [0, 400, 1, 50]],
    [100_000, 40, [99_000, 3, 20, 5]],
    [2000, 3000, [1990, 2950, 10, 50]],
  ] as const)("of %i x %i shows %j and little more", (rows, cols, region) => {
    const camera = cameraOn(region, rows, cols, stage);
    const layout = layoutPlane(rows, cols, camera, stage, 1);
    const [row, col, seenRows, seenCols] = inSight(layout);
    expect(row).toBeLessThanOrEqual(region[0]);
    expect(col).toBeLessThanOrEqual(region[1]);
    expect(row + seenRows).toBeGreaterThanOrEqual(region[0] + region[2]);
    expect(col + seenCols).toBeGreaterThanOrEqual(region[1] + region[3]);
    expect(isWhole(layout)).toBe(false);
    const wider = [seenRows / region[2], seenCols / region[3]];
    expect(Math.min(...wider)).toBeLessThan(1.6);
  });

  it("is requested on the grid of its steps, with a margin", () => {
    const layout = layoutPlane(10_240, 10_240, { zoom: 5, row: 3001, col: 4003 }, stage, 1);
    const { part, rows, cols } = wantedFor(layout);
    const { rowStep, colStep } = layout;
    const [row, col, seenRows, seenCols] = inSight(layout);
    expect(part![0] % rowStep).toBe(0);
    expect(part![1] % colStep).toBe(0);
    expect(part![0]).toBeLessThan(row);
    expect(part![1]).toBeLessThan(col);
    expect(part![0] + part![2]).toBeGreaterThan(row + seenRows);
    expect(part![1] + part![3]).toBeGreaterThan(col + seenCols);
    expect([Math.ceil(part![2] / rows), Math.ceil(part![3] / cols)]).toEqual([rowStep, colStep]);
  });

  it("ends where the plane ends", () => {
    const layout = layoutPlane(1001, 777, { zoom: 6, row: 5000, col: -40 }, stage, 1);
    const [row, col, rows] = inSight(layout);
    expect([row + rows, col]).toEqual([1001, 0]);
    const { part } = wantedFor(layout);
    expect(part![0] + part![2]).toBe(1001);
  });

  it("has at least legible cells", () => {
    const most = maxZoom(1200, 2000, stage);
    const layout = layoutPlane(1200, 2000, { zoom: most, row: 0, col: 0 }, stage, 1);
    expect([layout.across, layout.rowStep, layout.colStep]).toEqual([56, 1, 1]);
    expect(maxZoom(3, 4, stage)).toBe(1);
  });

  it("labels the axes with its own indices", () => {
    const ticks = axisTicks(1007.5, 300, 10, 5000, 30);
    expect(ticks.map(({ index }) => index)).toEqual([1010, 1015, 1020, 1025, 1030, 1035]);
    expect(ticks[0]!.at).toBe(30);
  });
});
