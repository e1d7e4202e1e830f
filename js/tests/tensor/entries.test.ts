import { describe, expect, it } from "vitest";
import type { GraphColumns, TensorColumns } from "../../src/shared/client/answers.ts";
import type { Entry } from "../../src/shared/client/tensor_questions.ts";
import { nodeTitle } from "../../src/shared/format.ts";
import { missingWords } from "../../src/tensor/descriptions.ts";
import { Entries } from "../../src/tensor/entries.ts";
import { stringColumn } from "../shared/string_column.ts";

const ROWS = [
  [0, 0, "data", "float32", [1, 3, 32, 32]],
  [1, 0, "p0", "float32", [16, 3, 3, 3]],
  [2, 0, "fused_conv2d", "float16", [1, 16, 32, 32]],
  [3, 0, "split", "float32", [2, 2]],
  [3, 1, "split", "float32", [2, 4]],
  [16, 0, "softmax", "float32", [1, 10]],
] as const;

const offsets = [0];
for (const row of ROWS) offsets.push(offsets.at(-1)! + row[4].length);
const columns: TensorColumns = {
  node: Int32Array.from(ROWS, ([node]) => node),
  output: Int32Array.from(ROWS, ([, output]) => output),
  names: stringColumn(ROWS.map(([, , name]) => name)),
  dtypes: stringColumn(ROWS.map(([, , , dtype]) => dtype)),
  shapeOffsets: Int32Array.from(offsets),
  shapeDims: Float64Array.from(ROWS.flatMap(([, , , , shape]) => [...shape])),
  nbytes: Float64Array.from(ROWS, () => 4),
  trust: Uint8Array.from([0, 0, 0, 0, 2, 3]),
  notes: Uint8Array.from([0, 0, 1, 0, 0, 0]),
  opening: new Int32Array(),
};
const kinds = Uint8Array.from({ length: 18 }, (_, node) => [0, 1][node] ?? 2);
kinds[17] = 1;
const graph = {
  kinds,
  roles: stringColumn(Array.from(kinds, (kind) => ["input", "parameter"][kind] ?? "")),
  labels: stringColumn(Array.from({ length: 18 }, (_, node) => (node === 2 ? "conv2d + add" : ""))),
  names: stringColumn(Array.from({ length: 18 }, (_, node) => `n${node}`)),
  funcNames: stringColumn(Array.from({ length: 18 }, () => "")),
  headNode: Int32Array.of(16),
  headOutput: Int32Array.of(0),
} as unknown as GraphColumns;
const entries = new Entries(columns, graph);
const found = (text: string, filter: Parameters<Entries["search"]>[1] = "all") =>
  Array.from(entries.search(text, filter), (row) => entries.entry(row).join(":"));

describe("the list of tensors", () => {
  it("filters by kind only if there is a graph", () => {
    expect(entries.filters()).toEqual(["operators", "inputs", "parameters", "all"]);
    expect(found("", "parameters")).toEqual(["1:0"]);
    expect(found("", "operators")).toEqual(["2:0", "3:0", "3:1", "16:0"]);
    expect(new Entries(columns, null).filters()).toEqual([]);
    expect(new Entries(columns, null).rows("operators").length).toBe(6);
  });

  it("finds by id, name, dtype and shape, exact ids first", () => {
    expect(found("16")[0]).toBe("16:0");
    expect(found("16")).toContain("2:0");
    expect(found("3:1")).toEqual(["3:1"]);
    expect(found("CONV")).toEqual(["2:0"]);
    expect(found("conv2d + add #2")).toEqual(["2:0"]);
    expect(entries.title(2)).toBe("#2 conv2d + add");
    expect(entries.title(4)).toBe("#3:1 n3");
    expect(found("float16")).toEqual(["2:0"]);
    expect(found("(1, 16, 32, 32)")).toEqual(["2:0"]);
    expect(found("1x3x32x32")).toEqual(["0:0"]);
    expect(found("float32 split (2,4)")).toEqual(["3:1"]);
    expect(found("nothing")).toEqual([]);
  });

  it("finds ids of any kind, and counts the matches that a filter hides", () => {
    expect(found("3:1", "parameters")).toEqual(["3:1"]);
    expect(found("#3:1", "parameters")).toEqual(["3:1"]);
    expect(found("1", "operators")[0]).toBe("1:0");
    expect(found("16", "parameters")).toEqual(["16:0", "1:0"]);
    expect(found("split", "parameters")).toEqual([]);
    expect(entries.hidden("split", "parameters")).toBe(2);
    expect(entries.hidden("split", "operators")).toBe(0);
    expect(entries.hidden("nothing", "parameters")).toBe(0);
  });

  it("steps in execution order within a kind, even from a node without a tensor", () => {
    const step = (entry: Entry | null, by: 1 | -1) => {
      const row = entries.neighbor(entry, by, "operators");
      return row === null ? null : entries.entry(row).join(":");
    };
    expect([step([3, 0], 1), step([3, 1], 1), step([3, 0], -1)]).toEqual(["3:1", "16:0", "2:0"]);
    expect([step([9, 0], 1), step([9, 0], -1), step([16, 0], 1)]).toEqual(["16:0", "3:1", null]);
    expect([step(null, 1), step(null, -1)]).toEqual(["2:0", "16:0"]);
  });

  it("shows the run's result first, and marks doubtful entries", () => {
    expect(entries.first()).toEqual([16, 0]);
    expect(new Entries(columns, null).first()).toEqual([16, 0]);
    const told = { ...columns, opening: Int32Array.of(1) };
    expect(new Entries(told, null).first()).toEqual(new Entries(told, null).entry(1));
    expect(ROWS.map((_, row) => entries.doubtful(row))).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
    ]);
    expect([entries.trust(4), entries.trust(5)]).toEqual(["by name", "ambiguous"]);
  });
});

describe("an entry without a tensor", () => {
  it.each([
    [[3, 7], "other outputs of this node: #3, #3:1"],
    [[17, 0], "params file"],
    [[5, 0], "No output of this node"],
    [[99, 0], "nodes 0 to 17"],
  ] as const)("%j is explained", (entry, why) => {
    const { title, detail } = missingWords(entry, entries);
    expect(title).toContain(nodeTitle("", entry[0], entry[1]));
    expect(detail).toContain(why);
  });
});
