import { describe, expect, it } from "vitest";
import { finished, percentiles, valuesAt } from "../../src/timeline/data/quantiles.ts";
import { random } from "./fixture.ts";

const SPREADS = [3, 1000, 70_000, 2 ** 31];

function column(seed: number, count: number, below: number): Uint32Array {
  const next = random(seed);
  return Uint32Array.from({ length: count }, () => next(below));
}

describe("values at places", () => {
  it.each(SPREADS)("equal those of the sorted column, spread %i", (below) => {
    for (const count of [1, 2, 500, 5000]) {
      const whole = column(count, count, below);
      const sorted = Float64Array.from(whole).sort();
      const places = [...new Set([0, count >> 2, count >> 1, count - 1])].sort((a, b) => a - b);
      const expected = places.map((place) => sorted[place]);
      expect(finished(valuesAt(whole, [[0, count]], places))).toEqual(expected);
      const halves = Float64Array.from(whole, (value) => value + 0.5);
      const shifted = expected.map((value) => value! + 0.5);
      expect(finished(valuesAt(halves, [[0, count]], places))).toEqual(shifted);
    }
  });

  it("use only the given ranges", () => {
    const whole = column(7, 9000, 50_000);
    const parts = [
      [10, 20],
      [100, 4100],
      [8000, 9000],
    ] as const;
    const sorted = Float64Array.from(parts.flatMap(([a, b]) => [...whole.subarray(a, b)])).sort();
    for (const values of [whole, Float64Array.from(whole)]) {
      expect(finished(valuesAt(values, parts, [0, 2500, 5009]))).toEqual(
        [0, 2500, 5009].map((place) => sorted[place]),
      );
    }
  });

  it("are correct with many equal values", () => {
    const same = new Float64Array(10_000).fill(1 / 3);
    expect(finished(valuesAt(same, [[0, 10_000]], [0, 5000, 9999]))).toEqual([1 / 3, 1 / 3, 1 / 3]);
  });
});

describe("percentiles", () => {
  it("interpolate between neighbors like numpy", () => {
    // numpy.percentile([1, 2, 4, 8], [0, 10, 50, 90, 100])
    const values = Float64Array.of(8, 1, 4, 2);
    const found = percentiles(values, [[0, 4]], [0, 0.1, 0.5, 0.9, 1]);
    expect(found.map((each) => Number(each.toPrecision(15)))).toEqual([1, 1.3, 3, 6.8, 8]);
  });

  it("are NaN without values", () => {
    expect(percentiles(new Uint32Array(0), [], [0.5])).toEqual([Number.NaN]);
  });
});
