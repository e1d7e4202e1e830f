import { describe, expect, it } from "vitest";
import { aboutText, computedText, numberText } from "../../src/shared/number_text.ts";

/** tests/unit/pages/test_stored.py compares many more with Python's. */
describe("the text of a number", () => {
  it("has the fewest digits that round-trip in the dtype", () => {
    const single = (value: number) => numberText(Math.fround(value), "float32");
    expect([0.1, -0, 65504, 1e-5, 1e20, 343126.125, 16777216].map(single)).toEqual([
      "0.1",
      "-0",
      "65504",
      "1e-5",
      "1e20",
      "343126.12",
      "16777216",
    ]);
    expect(
      [0.1, 1e-5, 1.5e300, 123456789.25, Number.NaN, -Infinity].map((x) => numberText(x)),
    ).toEqual(["0.1", "1e-5", "1.5e300", "123456789.25", "nan", "-inf"]);
    // A power of two, where the fewest digits are not those of the nearest decimal.
    expect(numberText(2 ** -96, "float32")).toBe("1.2621775e-29");
    expect(numberText(0.10009765625, "bfloat16")).toBe("0.1");
    expect(numberText(0.0999755859375, "float16x4")).toBe("0.1");
  });

  it("is rounded if the number was computed", () => {
    expect(computedText(54137.60000000009)).toBe("54137.6");
    expect(computedText(0.1000000277068466)).toBe("0.1");
    expect(computedText(2570716.799999996)).toBe("2570717");
  });

  it("is marked ≈ only if it loses digits of the dtype", () => {
    expect(aboutText(Math.fround(0.1), "float32")).toBe("0.1");
    expect(aboutText(Math.fround(0.1))).toBe("≈ 0.1");
    expect(aboutText(Math.fround(0.123456789), "float32")).toBe("≈ 0.1235");
    expect(aboutText(-2)).toBe("−2");
    expect(aboutText(Number.MAX_VALUE)).toBe("≈ 1.798e308");
  });
});
