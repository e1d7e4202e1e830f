import { describe, expect, it } from "vitest";
import { append, largest, ofBytes, smallest } from "../../src/shared/many.ts";

describe("any number of values", () => {
  const many = Float64Array.from({ length: 1_000_000 }, (_, at) => (at * 7919) % 1_000_003);

  it("has a largest and a smallest", () => {
    expect([largest(many), smallest(many)]).toEqual([many.reduce((a, b) => Math.max(a, b)), 0]);
    expect([largest([]), smallest([]), largest([], 0), smallest([5], 2)]).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      0,
      2,
    ]);
    expect([largest([1, Number.NaN]), smallest([Number.NaN, 1])]).toEqual([Number.NaN, Number.NaN]);
  });

  it("is added to an array, and written as text", () => {
    const found = [1];
    append(found, many);
    expect(found.length).toBe(1 + many.length);
    expect(ofBytes(Uint8Array.from({ length: 100_000 }, () => 65))).toBe("A".repeat(100_000));
  });
});
