import { expect, it } from "vitest";
import { type FieldRow, hexLines, runsOf } from "../../src/engine/byte_map.ts";

function field(depth: number, offset: number, size: number): FieldRow {
  const words = { name: "", kind: "number", value: "", note: "", hex: "" } as const;
  return { ...words, depth, offset, size };
}

it("groups adjacent bytes of the innermost field into a run", () => {
  const rows = [field(0, 0, 8), field(1, 2, 4), field(2, 4, 1)];
  expect(runsOf(rows, { offset: 1, size: 9, left_out: 0 })).toEqual([
    { row: 0, first: 0, end: 1 },
    { row: 1, first: 1, end: 3 },
    { row: 2, first: 3, end: 4 },
    { row: 1, first: 4, end: 5 },
    { row: 0, first: 5, end: 7 },
    { row: -1, first: 7, end: 9 },
  ]);
  expect(runsOf(rows, { offset: 1, size: 0, left_out: 0 })).toEqual([]);
});

it("shows the beginning of a long field, and at most 40 lines", () => {
  const rows = [field(0, 0, 1000), field(1, 900, 20), field(1, 4, 500)];
  expect(hexLines(rows, 910, 16)).toEqual([
    { offset: 0, size: 16, left_out: 0 },
    { offset: 16, size: 16, left_out: 0 },
    { offset: 32, size: 16, left_out: 0 },
    { offset: 896, size: 14, left_out: 848 },
  ]);
  const many = Array.from({ length: 60 }, (_, at) => field(1, 32 * at, 1));
  expect(hexLines(many, 9999, 16)).toHaveLength(40);
  expect(hexLines([field(0, 0, 0)], 0, 16)).toEqual([]);
});
