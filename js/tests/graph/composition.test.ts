import { describe, expect, it } from "vitest";
import { Groups } from "../../src/graph/data/links.ts";
import type { GraphModel } from "../../src/graph/data/model.ts";
import { quoted } from "../../src/graph/data/query_fields.ts";
import { composition } from "../../src/graph/panels/details_parts.ts";
import { type GraphColumns, GroupSource } from "../../src/shared/client/answers.ts";

const { REPEAT, BLOCK } = GroupSource;

/** Rows of name, first node, end, parent, source and repeats; each node takes its id in nanoseconds. */
function model(nodes: number, rows: [string, number, number, number, number, number][]) {
  const column = (at: number) => Int32Array.from(rows, (row) => row[at] as number);
  const graph = {
    kinds: new Uint8Array(nodes).fill(2),
    nodeNs: Float64Array.from({ length: nodes }, (_, node) => node),
    groupOrder: Int32Array.from({ length: nodes }, (_, node) => node),
    groupStart: column(1),
    groupEnd: column(2),
    groupParent: column(3),
    groupSource: Uint8Array.from(column(4)),
    groupRepeats: column(5),
    groupAlike: column(1),
    groupNames: { at: (group: number) => rows[group]![0] },
  } as unknown as GraphColumns;
  return { graph, groups: new Groups(graph) } as unknown as GraphModel;
}

describe("the composition of a graph", () => {
  it("sums blocks by name, counts each node once and sorts by time", () => {
    const made = composition(
      model(12, [
        ["residual block", 0, 4, -1, REPEAT, 2],
        ["residual block", 0, 2, 0, BLOCK, 1],
        ["residual block", 2, 4, 0, BLOCK, 1],
        ["residual block", 4, 6, -1, BLOCK, 1],
        ["head", 8, 10, -1, BLOCK, 1],
      ]),
    );
    expect(made).toEqual([
      { name: "head", blocks: 1, nodes: 2, ns: 17 },
      { name: "residual block", blocks: 3, nodes: 6, ns: 15 },
    ]);
  });

  it("descends into a group around the whole graph, but not into a run of blocks", () => {
    const inside = model(10, [
      ["model", 0, 10, -1, BLOCK, 1],
      ["stem", 0, 3, 0, BLOCK, 1],
      ["body", 3, 9, 0, BLOCK, 1],
    ]);
    expect(composition(inside).map(({ name }) => name)).toEqual(["body", "stem"]);
    const run = model(10, [
      ["layer", 0, 10, -1, REPEAT, 2],
      ["layer", 0, 5, 0, BLOCK, 1],
      ["layer", 5, 10, 0, BLOCK, 1],
    ]);
    expect(composition(run)).toEqual([{ name: "layer", blocks: 2, nodes: 10, ns: 45 }]);
  });
});

it("quotes names as the query grammar requires", () => {
  expect(["conv2d", "residual block", 'a "b" c'].map(quoted)).toEqual([
    "conv2d",
    '"residual block"',
    "'a \"b\" c'",
  ]);
});
