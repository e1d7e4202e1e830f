import { describe, expect, it } from "vitest";
import golden from "../../../tests/data/wire/columns.json";
import {
  aligned,
  type ColumnHeader,
  StringColumn,
  unpack,
} from "../../src/shared/client/columns.ts";
import { stringColumn } from "./string_column.ts";

const headers = golden.headers as ColumnHeader[];
const expectedValues = golden.values as Record<string, (number | string)[]>;
const bytes = Uint8Array.from(atob(golden.buffer), (letter) => letter.charCodeAt(0));

function at(offset: number, after = 0): DataView {
  const buffer = new ArrayBuffer(offset + bytes.length + after);
  new Uint8Array(buffer, offset).set(bytes);
  return new DataView(buffer, offset, bytes.length);
}

const numbers: Record<string, number> = { nan: Number.NaN, inf: Infinity, "-inf": -Infinity };

describe("columns written by Python", () => {
  it.each([0, 1, 3, 4, 7, 8])("are decoded at buffer offset %i", (offset) => {
    const found = unpack(headers, at(offset, 5));
    expect([...found.keys()]).toEqual(Object.keys(expectedValues));
    for (const [name, expected] of Object.entries(expectedValues)) {
      const column = found.get(name)!;
      const values =
        column instanceof StringColumn
          ? Array.from({ length: column.length }, (_, row) => column.at(row))
          : Array.from(column);
      const wanted =
        column instanceof StringColumn
          ? expected
          : expected.map((each) => numbers[each] ?? Number(each));
      const narrow =
        column instanceof Float32Array ? wanted.map((each) => Math.fround(+each)) : wanted;
      expect(values, name).toEqual(narrow);
    }
  });

  it("keep each distinct text once", () => {
    const names = unpack(headers, at(0)).get("names") as StringColumn;
    expect(names.unique).toHaveLength(new Set(expectedValues.names).size);
    expect(names.at(-1)).toBe("");
    expect(names.at(names.length)).toBe("");
  });

  it("reject a truncated buffer", () => {
    for (const length of [0, 8, bytes.length - 1]) {
      expect(() => unpack(headers, new DataView(at(0).buffer, 0, length))).toThrow(RangeError);
    }
  });

  it("are copied unless they fill an aligned buffer", () => {
    const view = at(0);
    expect(aligned(view)).toBe(view.buffer);
    expect(aligned(at(0, 3))).not.toBe(view.buffer);
  });
});

describe("a column of strings", () => {
  it("gives equal strings the same code", () => {
    const column = stringColumn(["a", "b", "a"]);
    expect(Array.from(column.codes)).toEqual([0, 1, 0]);
    expect(column.unique).toEqual(["a", "b"]);
  });
});
