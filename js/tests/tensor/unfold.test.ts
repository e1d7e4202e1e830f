import { describe, expect, it } from "vitest";
import {
  isPadding,
  layoutProblem,
  logicalIndex,
  physicalIndex,
  piecesOf,
  unfolded,
} from "../../src/shared/unfold.ts";

const CASES = [
  ["NCHW", [2, 3, 4, 5], "NCHW", [2, 3, 4, 5]],
  ["NHWC", [2, 4, 5, 3], "NHWC", [2, 4, 5, 3]],
  ["NCHW8c", [1, 2, 3, 4, 8], "NCHW", [1, 16, 3, 4]],
  ["OIHW4i8o", [2, 3, 1, 2, 4, 8], "OIHW", [16, 12, 1, 2]],
  ["OIHW4i2o3i", [2, 2, 1, 1, 4, 2, 3], "OIHW", [4, 24, 1, 1]],
  ["2cCW", [2, 5, 3], "CW", [10, 3]],
] as const;

/** All indices of a shape. */
function* indices(shape: readonly number[]): Generator<number[]> {
  const total = shape.reduce((a, b) => a * b, 1);
  for (let flat = 0; flat < total; flat += 1) {
    let rest = flat;
    yield shape.map((_, axis) => {
      const weight = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
      const at = Math.floor(rest / weight);
      rest -= at * weight;
      return at;
    });
  }
}

describe("the map between logical and stored indices", () => {
  it.each(CASES)("of %s is one to one and covers all", (layout, stored, names, shape) => {
    const found = unfolded(layout, stored)!;
    expect([found.names.join(""), found.shape]).toEqual([names, shape]);
    const view = { layout, axisNames: found.names };
    const seen = new Set<string>();
    for (const logical of indices(found.shape)) {
      const place = physicalIndex(view, logical)!;
      expect(place.every((at, axis) => at >= 0 && at < stored[axis]!)).toBe(true);
      expect(logicalIndex(view, place)).toEqual(logical);
      seen.add(place.join());
    }
    expect(seen.size).toBe((stored as readonly number[]).reduce((a, b) => a * b, 1));
  });

  it("counts the parts of an axis split twice from left to right", () => {
    const view = { layout: "OIHW4i2o3i", axisNames: ["O", "I", "H", "W"] };
    expect(physicalIndex(view, [3, 23, 0, 0])).toEqual([1, 1, 0, 0, 3, 1, 2]);
    expect(logicalIndex(view, [0, 1, 0, 0, 2, 0, 1])).toEqual([0, 19, 0, 0]);
  });

  it("is the index itself without a layout", () => {
    const view = { layout: "", axisNames: [] };
    expect(physicalIndex(view, [1, 2])).toBeNull();
    expect(logicalIndex(view, [1, 2])).toEqual([1, 2]);
  });
});

describe("a layout entered by hand", () => {
  it.each([
    ["", [2], "is not a layout"],
    ["NC HW", [1, 1, 1, 1], "is not a layout"],
    ["NCHWc", [1, 1, 1, 1, 8], "is not a layout"],
    ["NHW8c", [1, 1, 1, 8], "c has no matching C"],
    ["NCHC", [1, 1, 1, 1], "C appears twice"],
    ["NCHW", [1, 1], "has 4 axes"],
    ["NCHW8c", [1, 2, 3, 4, 4], "8c of NCHW8c is axis 4, which has 4"],
  ])("%s over %j is rejected with a reason", (layout, stored, said) => {
    expect(layoutProblem(layout, stored)).toContain(said);
    expect(unfolded(layout, stored)).toBeNull();
  });

  it("accepts only sizes within its blocks", () => {
    const stored = [1, 2, 3, 4, 8];
    expect(layoutProblem("NCHW8c", stored, { C: 12 })).toBe("");
    expect(unfolded("NCHW8c", stored, { C: 12 })!.shape).toEqual([1, 12, 3, 4]);
    expect(layoutProblem("NCHW8c", stored, { C: 17 })).toBe("C must be 1 to 16");
    expect(layoutProblem("NCHW8c", stored, { K: 3 })).toBe("NCHW8c has no axis K");
    expect(typeof piecesOf("NCHW8c")).toBe("object");
  });

  it("reports padding", () => {
    const view = {
      layout: "NCHW8c",
      axisNames: ["N", "C", "H", "W"],
      layouts: [{ layout: "NCHW8c", sizes: { C: 12 } }],
    };
    expect([11, 12].map((c) => isPadding(view, [0, c, 0, 0]))).toEqual([false, true]);
    expect(isPadding({ ...view, layouts: [] }, [0, 15, 0, 0])).toBe(false);
  });
});
