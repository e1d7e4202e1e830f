import { describe, expect, it } from "vitest";
import { outward, percentName, percentText } from "../../src/tensor/distribution/statistics.ts";
import { random } from "../timeline/fixture.ts";

const number = (value: number, text = String(value)) => ({ text, value });

describe("a percentile", () => {
  it.each([1, 2, 3])("keeps its bounds on both sides when they are shortened (seed %i)", (seed) => {
    const next = random(seed);
    for (let k = 0; k < 500; k += 1) {
      const value = (next(2 ** 30) / 2 ** 30 - 0.5) * 10 ** (next(600) - 300);
      const [low, high] = [outward(value, -1), outward(value, 1)].map(Number);
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThanOrEqual(value);
      expect(high! - low!).toBeLessThanOrEqual(Math.abs(value) * 1e-3);
    }
  });

  it("is written as a number or as a range", () => {
    expect(percentText({ percent: 50, low: number(0.1), high: number(0.1) })).toBe("0.1");
    const loose = { percent: 50, low: number(0.0038452148437), high: number(0.0038604733999) };
    expect(percentText(loose)).toBe("0.0038452 … 0.0038605");
    expect([percentName(50), percentName(99)]).toEqual(["median", "p99"]);
    expect([outward(0, 1), outward(1, -1), outward(-2.5, 1)]).toEqual(["0", "1", "-2.5"]);
  });
});
