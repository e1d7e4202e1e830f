import { describe, expect, it } from "vitest";
import { isPadding, laidOut, logicalIndex, storedIndex } from "../../src/shared/unfold.ts";

const CASES = [
  [{ N: [0], C: [1], H: [2], W: [3] }, [2, 3, 4, 5], [2, 3, 4, 5]],
  [{ N: [0], C: [1, 4], H: [2], W: [3] }, [1, 2, 3, 4, 8], [1, 16, 3, 4]],
  [{ O: [0, 5], I: [1, 4], H: [2], W: [3] }, [2, 3, 1, 2, 4, 8], [16, 12, 1, 2]],
  [{ O: [0, 5], I: [1, 4, 6], H: [2], W: [3] }, [2, 2, 1, 1, 4, 2, 3], [4, 24, 1, 1]],
  [{ C: [1, 0], W: [2] }, [2, 5, 3], [10, 3]],
  [null, [2, 3], [2, 3]],
] as [Record<string, number[]> | null, number[], number[]][];

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
  it.each(CASES)("of %j over %j is one to one and covers all", (axes, stored, shape) => {
    const view = laidOut(stored, axes, {});
    expect([view.axisNames, view.viewShape]).toEqual([Object.keys(axes ?? {}), shape]);
    const seen = new Set<string>();
    for (const logical of indices(shape)) {
      const place = storedIndex(view, logical);
      expect(place.every((at, axis) => at >= 0 && at < stored[axis]!)).toBe(true);
      expect(logicalIndex(view, place)).toEqual(logical);
      seen.add(place.join());
    }
    expect(seen.size).toBe(stored.reduce((a, b) => a * b, 1));
  });

  it("counts the parts of an axis split twice from left to right", () => {
    const view = laidOut([2, 2, 1, 1, 4, 2, 3], CASES[3]![0], {});
    expect(storedIndex(view, [3, 23, 0, 0])).toEqual([1, 1, 0, 0, 3, 1, 2]);
    expect(logicalIndex(view, [0, 1, 0, 0, 2, 0, 1])).toEqual([0, 19, 0, 0]);
  });

  it("hides padding", () => {
    expect(laidOut([1, 2, 3, 4, 8], CASES[1]![0], { C: 12 }).viewShape).toEqual([1, 12, 3, 4]);
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
