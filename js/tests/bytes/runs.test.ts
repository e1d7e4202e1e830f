import { expect, it } from "vitest";
import { runsOf } from "../../src/engine/byte_map.ts";

it("groups adjacent bytes of one field into a run", () => {
  const owners = Int32Array.of(9, 1, 1, -1, 2, 1, 9);
  expect(runsOf(owners, 1, 5)).toEqual([
    { row: 1, first: 0, end: 2 },
    { row: -1, first: 2, end: 3 },
    { row: 2, first: 3, end: 4 },
    { row: 1, first: 4, end: 5 },
  ]);
  expect(runsOf(owners, 0, 0)).toEqual([]);
});
