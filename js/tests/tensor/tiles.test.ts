import { describe, expect, it } from "vitest";
import type { Tile } from "../../src/shared/client/tensor_questions.ts";
import { layoutPlane } from "../../src/tensor/picture/plane_layout.ts";
import { PlaneTiles, serves } from "../../src/tensor/picture/tiles.ts";
import { PlaneViewport } from "../../src/tensor/picture/viewport.ts";

const STAGE = { width: 460, height: 300 };

function tile(more: Partial<Tile>): Tile {
  const made = { row: 0, col: 0, rows: 100, cols: 100, rowStep: 10, colStep: 10, ...more };
  const [minimum, maximum, mean] = [0, 0, 0].map((none) => new Float32Array(none));
  const cells = { minimum, maximum, mean };
  return { ...made, ...cells, planeRows: 1000, planeCols: 1000, exact: true, ...more } as Tile;
}

const whole = layoutPlane(1000, 1000, { zoom: 1, row: 0, col: 0 }, STAGE, 1);
const part = layoutPlane(1000, 1000, { zoom: 10, row: 500, col: 500 }, STAGE, 1);

describe("kept tiles", () => {
  it("serve if they have the visible part at full resolution", () => {
    expect(serves(tile({ rowStep: 4, colStep: 4, rows: 250, cols: 250 }), whole)).toBe(true);
    expect(serves(tile({}), whole)).toBe(false);
    expect(serves(tile({ rowStep: 1, colStep: 1, rows: 400, cols: 400 }), part)).toBe(false);
  });

  it("are drawn below finer ones until one suffices", () => {
    const tiles = new PlaneTiles();
    const coarse = tile({});
    const fine = tile({ row: 480, col: 480, rowStep: 1, colStep: 1, rows: 60, cols: 60 });
    tiles.add("a", fine);
    tiles.add("a", coarse);
    expect(tiles.toDraw("a", part)).toEqual([coarse, fine]);
    expect(tiles.find("a", part)).toBeNull();
    const enough = tile({ row: 400, col: 400, rowStep: 1, colStep: 1, rows: 320, cols: 320 });
    tiles.add("a", enough);
    expect(tiles.toDraw("a", part)).toEqual([enough]);
    expect(tiles.toDraw("b", part)).toEqual([]);
    expect(tiles.whole("a")).toBe(coarse);
  });

  it("are replaced by exact ones of the same cells", () => {
    const tiles = new PlaneTiles();
    tiles.add("a", tile({ exact: false }));
    const bytes = tiles.bytes;
    tiles.add("a", tile({ exact: true }));
    tiles.add("a", tile({ exact: false, rowStep: 5 }));
    expect(tiles.toDraw("a", whole).map(({ exact }) => exact)).toEqual([true, false]);
    expect(tiles.bytes).toBe(2 * bytes);
  });

  it("are evicted by size, least recently used first, never the last of the plane", () => {
    const tiles = new PlaneTiles(2.5 * 100 * 100 * 17);
    for (const plane of ["a", "b"]) tiles.add(plane, tile({}));
    tiles.find("a", whole);
    tiles.add("c", tile({}));
    expect(["a", "b", "c"].map((plane) => tiles.whole(plane) !== null)).toEqual([
      true,
      false,
      true,
    ]);
    tiles.add("d", tile({ rows: 1000, cols: 1000 }));
    expect(tiles.bytes).toBe(1000 * 1000 * 17);
  });
});

describe("cells of one value", () => {
  it("take fewer bytes", () => {
    const mean = new Float32Array(100 * 100);
    const tiles = new PlaneTiles();
    tiles.add("a", tile({ minimum: mean, maximum: mean, mean }));
    expect(tiles.bytes).toBe(100 * 100 * 9);
  });
});

describe("the visible part", () => {
  const viewport = () => {
    const made = new PlaneViewport();
    made.resize(STAGE, 1);
    made.over(1000, 1000);
    return made;
  };

  it("is the whole plane until zoomed, and zooms around the pointer", () => {
    const made = new PlaneViewport();
    made.resize(STAGE, 1);
    made.over(1000, 1600);
    expect([made.region, made.zoomed, made.canZoom]).toEqual([null, false, true]);
    const { plot } = made.layout!;
    const at = { x: plot.x + 0.25 * plot.width, y: plot.y + 0.75 * plot.height };
    for (let k = 0; k < 20; k += 1) made.zoom(1.2, at);
    const { row, col, down, across, plot: now } = made.layout!;
    expect(Math.abs(row + (at.y - now.y) / down - 750)).toBeLessThan(20);
    expect(Math.abs(col + (at.x - now.x) / across - 400)).toBeLessThan(20);
    expect(made.region).not.toBeNull();
    for (let k = 0; k < 20; k += 1) made.zoom(1 / 1.2, at);
    expect([made.region, made.zoomed]).toEqual([null, false]);
  });

  it("moves by pixels and stops at the ends", () => {
    const made = viewport();
    made.zoom(8);
    const [row, col] = made.region!;
    made.pan(-40, -80);
    const { down, across } = made.layout!;
    expect(made.layout!.row).toBeCloseTo(row + 80 / down, -1);
    expect(made.layout!.col).toBeCloseTo(col + 40 / across, -1);
    made.pan(1e6, 1e6);
    expect(made.region!.slice(0, 2)).toEqual([0, 0]);
    made.center(999, 999);
    expect(made.region![0] + made.region![2]).toBe(1000);
    expect(made.reveal({ row: 3, col: 4 })).toBe(true);
    expect(made.region!.slice(0, 2)).toEqual([3, 4]);
    expect(made.reveal({ row: 3, col: 4 })).toBe(false);
  });

  it("survives a resize and is clipped to the plane of an answer", () => {
    const made = viewport();
    made.show([300, 400, 50, 60]);
    expect(made.resize({ width: 800, height: 400 }, 2)).toBe(true);
    expect(made.region).toEqual([300, 400, 50, 60]);
    made.over(1000, 50);
    expect(made.region).toEqual([300, 400, 50, 60]);
    made.over(1000, 430, true);
    expect(made.region).toEqual([300, 400, 50, 30]);
    made.show([5000, 5000, 9, 9]);
    expect([made.region, made.zoomed]).toEqual([[999, 429, 1, 1], true]);
    made.show([0, 0, 5000, 5000]);
    expect([made.region, made.zoomed]).toEqual([null, false]);
    made.resetTo([1, 2, 3, 4]);
    made.over(500, 500);
    expect(made.region).toEqual([1, 2, 3, 4]);
  });
});
