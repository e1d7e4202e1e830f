import { expect, it } from "vitest";
import type { TileColumns } from "../../src/tuning/client.ts";
import { TilesScene } from "../../src/tuning/tiles_scene.ts";

const tiles: TileColumns = {
  info: { axes: ["i.1", "i.2"], note: "" },
  rows: Int32Array.of(4, 7, 9),
  values: Float32Array.of(1, 8, 2, 4, 4, 2),
  costs: Float64Array.of(1e-3, 4e-3, Number.NaN),
};

function scene(): TilesScene {
  const made = new TilesScene(tiles);
  [made.width, made.height] = [400, 200];
  return made;
}

it("ranks trials by cost, without failed ones", () => {
  const made = scene();
  expect(made.rank(0)).toBe(0);
  expect(made.rank(1)).toBe(1);
  expect(made.rank(2)).toBeNaN();
});

it("puts the largest tile at the top, and failed trials below the scale of costs", () => {
  const made = scene();
  expect(made.y(0, 1)).toBeCloseTo(made.top);
  expect(made.y(0, 2)).toBeCloseTo(made.top);
  expect(made.y(2, 2)).toBeGreaterThan(made.bottom);
});

it("finds the line under the pointer", () => {
  const made = scene();
  for (const at of [0, 1, 2]) {
    const x = (made.x(0) + made.x(1)) / 2;
    expect(made.hit(x, (made.y(at, 0) + made.y(at, 1)) / 2)).toBe(at);
  }
  expect(made.hit(made.x(0), 0)).toBe(-1);
});
