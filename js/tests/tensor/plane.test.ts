import { describe, expect, it } from "vitest";
import {
  axisAlong,
  defaultAxes,
  fixedAxes,
  indexAt,
  locate,
  moved,
  planeCols,
  planeOf,
  planeRows,
  samePlane,
  swapped,
  withAxis,
  withIndex,
} from "../../src/tensor/plane.ts";

describe("the axes shown first", () => {
  it.each([
    [[], [null, null]],
    [[5], [null, 0]],
    [
      [3, 4],
      [0, 1],
    ],
    [
      [1, 16, 32, 32],
      [2, 3],
    ],
    [
      [64, 32, 3, 3],
      [0, 1],
    ],
    [
      [32, 3, 7, 7],
      [0, 2],
    ],
    [
      [2, 4, 6, 6, 8],
      [3, 4],
    ],
    [
      [1, 64, 1, 1],
      [0, 1],
    ],
    [
      [16, 1, 1],
      [1, 0],
    ],
    [
      [16, 1],
      [1, 0],
    ],
    [
      [1, 10],
      [0, 1],
    ],
    [
      [3, 3],
      [0, 1],
    ],
    [
      [0, 4],
      [0, 1],
    ],
    [
      [1, 1, 1],
      [0, 1],
    ],
  ])("of %j are %j", (shape, axes) => {
    expect(defaultAxes(shape)).toEqual(axes);
  });
});

describe("a plane", () => {
  const plane = planeOf([2, 5, 6, 7], [1, 3], [1, 0, 4, 0]);

  it("takes the requested plane as far as it fits the shape", () => {
    expect([planeRows(plane), planeCols(plane), fixedAxes(plane)]).toEqual([5, 7, [0, 2]]);
    expect(indexAt(plane, { row: 3, col: 6 })).toEqual([1, 3, 4, 6]);
  });

  it.each([
    [[1, 1], null],
    [[4, 3], null],
    [[1, null], null],
    [[0.5, 3], null],
    [null, [0, 0, 0]],
    [null, null],
  ] as const)("falls back for axes %j and index %j", (axes, index) => {
    const made = planeOf([2, 5, 6, 7], axes, index);
    expect(made.axes).toEqual([2, 3]);
    expect(made.index).toEqual([0, 0, 0, 0]);
  });

  it("keeps indices inside the shape", () => {
    expect(planeOf([2, 5, 6, 7], [1, 3], [9, -4, 99, 0]).index).toEqual([1, 0, 5, 0]);
    expect(withIndex(plane, 2, 1e9).index[2]).toBe(5);
    expect(withIndex(plane, 2, Number.NaN).index[2]).toBe(0);
    expect(moved(plane, { row: 4, col: 0 }, 3, -2)).toEqual({ row: 4, col: 0 });
    expect(moved(plane, { row: 0, col: 0 }, 0, Number.MAX_SAFE_INTEGER).col).toBe(6);
  });

  it("swaps its axes, also when one is set to the other", () => {
    expect(swapped(plane).axes).toEqual([3, 1]);
    expect(withAxis(plane, "down", 3).axes).toEqual([3, 1]);
    expect(withAxis(plane, "across", 1).axes).toEqual([3, 1]);
    expect(withAxis(plane, "down", null).axes).toEqual([null, 3]);
    expect(swapped(planeOf([4], null, null)).axes).toEqual([null, 0]);
  });

  it("is never left with an axis down and none across", () => {
    const line = withAxis(plane, "down", null);
    expect(withAxis(line, "across", 0).axes).toEqual([null, 0]);
    expect(withAxis(line, "down", 3).axes[1]).not.toBeNull();
  });

  it("finds the same value again after a change of axes", () => {
    const index = indexAt(plane, { row: 2, col: 5 });
    const { plane: other, point } = locate(swapped(plane), index);
    expect(indexAt(other, point)).toEqual(index);
    expect(point).toEqual({ row: 5, col: 2 });
  });

  it("is the same where only the indices of its own axes differ", () => {
    expect(samePlane(plane, withIndex(plane, 1, 3))).toBe(true);
    expect(samePlane(plane, withIndex(plane, 2, 3))).toBe(false);
    expect(samePlane(plane, swapped(plane))).toBe(false);
  });
});

describe("axisAlong", () => {
  const answer = { viewShape: [1, 32, 40, 16], along: [3, 2, 1, 0] };

  it("is the first that is not in the pictures", () => {
    expect(axisAlong(answer, [], null)).toBe(3);
    expect(axisAlong(answer, [2, 3], null)).toBe(1);
    expect(axisAlong({ viewShape: [3, 7], along: [1, 0] }, [0, 1], null)).toBeNull();
    expect(axisAlong({ viewShape: [1, 1, 3, 7], along: [3, 2, 0, 1] }, [2, 3], null)).toBeNull();
    expect(axisAlong({ viewShape: [1, 1, 3, 7], along: [1, 3, 2, 0] }, [], null)).toBe(3);
    expect(axisAlong({ viewShape: [10], along: [0] }, [null, 0], null)).toBeNull();
    expect(axisAlong({ viewShape: [], along: [] }, [], null)).toBeNull();
  });

  it("is the wanted one where there is one", () => {
    expect(axisAlong(answer, [], 0)).toBe(0);
    expect(axisAlong(answer, [2, 3], 0)).toBe(1);
    expect(axisAlong(answer, [2, 3], 3)).toBe(1);
    expect(axisAlong(answer, [2, 3], 9)).toBe(1);
  });
});
