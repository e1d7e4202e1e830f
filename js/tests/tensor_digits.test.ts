import { describe, expect, it } from "vitest";
import { digitTexts } from "../src/tensor/digit_text.ts";
import { typedIndex } from "../src/tensor/typed_index.ts";

describe("digits of a cell", () => {
  it.each([
    [Math.fround(0.1), "float32", "0.1"],
    [Math.fround(-0.30875492), "float32", "−0.30875492"],
    [0.0999755859375, "float16", "0.1"],
    [65504, "float16", "65504"],
    [0.10009765625, "bfloat16", "0.1"],
    [-128, "int8", "−128"],
    [1, "bool", "1"],
    [0, "float32", "0"],
    [Math.fround(1e-7), "float32", "1e−7"],
  ])("begin with the shortest that reads back: %d as %s", (value, dtype, text) => {
    expect(digitTexts(value, dtype)[0]).toBe(text);
  });

  it("get shorter and say that they are rounded", () => {
    const [, ...rounded] = digitTexts(Math.fround(-0.30875492), "float32");
    expect(rounded.every((text) => text.startsWith("≈"))).toBe(true);
    expect(rounded.at(-1)).toBe("≈−0.3");
    expect(rounded.every((text, i) => i === 0 || text.length < rounded[i - 1]!.length)).toBe(true);
  });

  it("are never called exact where the picture has rounded them", () => {
    expect(digitTexts(Math.fround(2 ** 53 + 1), "int64").every((each) => each[0] === "≈")).toBe(
      true,
    );
  });
});

describe("an index that was typed", () => {
  it.each(["0,3,2,1", "[0, 3, 2, 1]", "(0 3 2 1)", " 0 3 2 1 ", "-2,-2,2,1"])("%s", (text) => {
    expect(typedIndex(text, [2, 5, 24, 32])).toEqual([0, 3, 2, 1]);
  });

  it("is told why it is none", () => {
    expect(typedIndex("0,5,2,1", [2, 5, 24, 32])).toBe("axis 1 has indices 0 to 4");
    expect(typedIndex("3", [2, 5])).toBe("the tensor has 2 axes: [2, 5]");
    expect(typedIndex("x", [2])).toBe("an index is whole numbers: 0,3,2,1");
  });
});
