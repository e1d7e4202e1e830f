import { describe, expect, it } from "vitest";
import {
  bytesInRow,
  joined,
  placeRows,
  rowSpaces,
  type Section,
  type StructPart,
  segmentsOf,
} from "../../src/engine/struct_grid.ts";
import { HALF_EM } from "../engine/widths.ts";

function part(offset: number, size: number, more: Partial<StructPart> = {}): StructPart {
  const words = { name: "lanes", path: "lanes", type: "uint16_t", short: "u16" };
  const facts = { color: 0, mark: "", value: "", problem: "" };
  return { ...words, ...facts, offset, size, ...more };
}

function segments(parts: readonly StructPart[], cell = 40) {
  return segmentsOf({ size: 16, parts, frames: [] }, cell, 2, HALF_EM);
}

describe("the bytes of a value", () => {
  it("span one or more rows, with the name in the row that has most of them", () => {
    expect(segments([part(4, 4)]).map(({ row, first, end }) => [row, first, end])).toEqual([
      [0, 4, 8],
    ]);
    const split = segments([part(6, 8)]);
    expect(split.map(({ row, first, end, isNamed }) => [row, first, end, isNamed])).toEqual([
      [0, 6, 8, false],
      [1, 0, 6, true],
    ]);
  });

  it("shorten or drop labels where space is tight", () => {
    const [wide] = segments([part(0, 4, { mark: "+2" })]);
    expect(wide!.words).toMatchObject({ name: "lanes", aside: "uint16_t", mark: "+2", type: "" });
    const [narrow] = segments([part(0, 1, { mark: "+2", value: "2 (float)" })]);
    expect(narrow!.words).toMatchObject({ name: "lanes", type: "u16", mark: "", value: "2" });
    expect(narrow!.words.isCut).toBe(true);
    const [pad] = segments([part(0, 1, { name: "padding", path: "" })]);
    expect(pad!.words.name).toBe("pad");
  });
});

describe("rows", () => {
  const section: Section = {
    size: 16,
    parts: [part(0, 8, { type: "t" }), part(8, 1, { value: "1" }), part(9, 7)],
    frames: [{ name: "dtype", type: "DLDataType", offset: 8, size: 4, depth: 0 }],
  };

  it("reserve height for labels and for structs that begin there", () => {
    const spaces = rowSpaces(section, segmentsOf(section, 40, 2, HALF_EM));
    expect(spaces).toEqual([
      { frames: 0, words: 1 },
      { frames: 1, words: 3 },
    ]);
    const [first, second] = placeRows(spaces, 13);
    expect(second!.top).toBeGreaterThan(first!.bottom);
    expect(second!.bytes).toBeGreaterThan(second!.top);
    expect(second!.bottom - second!.bytes).toBeGreaterThan(first!.bottom - first!.bytes);
  });

  it("take the larger height when two layouts are joined", () => {
    const [one, two] = [
      [{ frames: 0, words: 3 }],
      [
        { frames: 1, words: 1 },
        { frames: 0, words: 1 },
      ],
    ];
    expect(joined(one, two)).toEqual([
      { frames: 1, words: 3 },
      { frames: 0, words: 1 },
    ]);
  });

  it("split the bytes of a struct at row boundaries", () => {
    const frame = { name: "dtype", type: "DLDataType", offset: 6, size: 4, depth: 0 };
    expect([0, 1, 2].map((row) => bytesInRow(frame, row))).toEqual([[6, 8], [0, 2], null]);
  });
});
