import { describe, expect, it } from "vitest";
import { nextSpecial } from "../../src/tensor/picture/crosshair.ts";

function tile(flags: number[], cols: number, rowStep = 1, colStep = 1) {
  const values = new Float32Array(flags.length);
  const rows = flags.length / cols;
  return {
    ...{ row: 0, col: 0, exact: true },
    ...{ rows, cols, rowStep, colStep, planeRows: rows * rowStep, planeCols: cols * colStep },
    ...{ minimum: values, maximum: values, mean: values, flags: Uint8Array.from(flags) },
  };
}

describe("the next cell that is not finite", () => {
  it("is the first one if nothing is marked yet, even at the origin", () => {
    expect(nextSpecial(tile([1, 0, 0, 2], 2), null)).toEqual({ row: 0, col: 0 });
  });

  it("follows the marked one, wrapping around", () => {
    const picture = tile([0, 1, 0, 0, 4, 0], 3);
    expect(nextSpecial(picture, { row: 0, col: 1 })).toEqual({ row: 1, col: 1 });
    expect(nextSpecial(picture, { row: 1, col: 1 })).toEqual({ row: 0, col: 1 });
  });

  it("is a value index in cells of several values", () => {
    expect(nextSpecial(tile([0, 0, 0, 1], 2, 4, 8), { row: 3, col: 7 })).toEqual({
      row: 4,
      col: 8,
    });
  });

  it("is null if all cells are finite", () => {
    expect(nextSpecial(tile([0, 0], 2), null)).toBeNull();
  });
});
