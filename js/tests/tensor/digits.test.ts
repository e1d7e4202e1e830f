import { describe, expect, it } from "vitest";
import { cellText, digitLevels, meanText } from "../../src/tensor/picture/digits.ts";
import { typedIndex } from "../../src/tensor/values/code_text.ts";

describe("digits of a cell", () => {
  it.each([
    [Math.fround(0.1), "float32", "0.1"],
    [Math.fround(-0.30875492), "float32", "−0.30875492"],
    [0.0999755859375, "float16", "0.1"],
    [65504, "float16", "65504"],
    [0.10009765625, "bfloat16", "0.1"],
    [-128, "int8", "−128"],
    [1, "bool", "True"],
    [0, "float32", "0"],
    [Math.fround(1e-7), "float32", "1e−7"],
  ])("start with the shortest round-trip text: %d as %s", (value, dtype, text) => {
    expect(digitLevels(value, dtype)[0]).toBe(text);
  });

  it("lose one digit per level, and mark rounded values", () => {
    const [, ...rounded] = digitLevels(Math.fround(-0.30875492), "float32");
    expect(rounded).toEqual(["≈−0.308755", "≈−0.30875", "≈−0.3088", "≈−0.309", "≈−0.31", "≈−0.3"]);
    expect(digitLevels(0.25, "float32").slice(-3)).toEqual(["0.25", "0.25", "≈0.3"]);
    expect(digitLevels(-40000, "int32").slice(-2)).toEqual(["−4e4", "−4e4"]);
    expect(digitLevels(0, "float32").at(-1)).toBe("0");
  });

  it("are marked as rounded if the picture's number is inexact", () => {
    const levels = digitLevels(Math.fround(2 ** 53 + 1), "int64");
    expect(levels.length).toBe(7);
    expect(levels.every((each) => each[0] === "≈")).toBe(true);
  });
});

describe("numbers of cells", () => {
  it("are written in their dtype, means with six digits", () => {
    expect(cellText(-20, "int32")).toBe("−20");
    expect(cellText(Math.fround(2 ** 31), "int32")).toBe("≈ 2.147e9");
    expect(cellText(20_000_000, "int32")).toBe("≈ 2e7");
    expect(cellText(-4.09375, "bfloat16")).toBe("−4.1");
    expect(cellText(1, "bool")).toBe("True");
    expect(meanText(-24431.994)).toBe("−24432");
  });
});

describe("an index that was typed", () => {
  it.each(["0,3,2,1", "[0, 3, 2, 1]", "(0 3 2 1)", " 0 3 2 1 ", "-2,-2,2,1"])("%s", (text) => {
    expect(typedIndex(text, [2, 5, 24, 32])).toEqual([0, 3, 2, 1]);
  });

  it("gives an error message if it is invalid", () => {
    expect(typedIndex("0,5,2,1", [2, 5, 24, 32])).toBe("axis 1 has indices 0 to 4");
    expect(typedIndex("3", [2, 5])).toBe("the tensor has 2 axes: [2, 5]");
    expect(typedIndex("x", [2])).toBe("expected integers, such as 0,3,2,1");
  });
});
