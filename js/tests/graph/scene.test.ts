import { describe, expect, it } from "vitest";
import { Groups, Links } from "../../src/graph/data/links.ts";
import { boxesOf, buildScene, EdgeStyle, foldedInto } from "../../src/graph/layout/scene.ts";
import { NodeKind, Trust } from "../../src/shared/client/answers.ts";
import { columns, residual, WORDS } from "./fixture.ts";

const scene = (graph = residual(), fold = true, nodes: readonly number[] | null = null) => {
  const only = nodes && Uint8Array.from(graph.kinds.keys(), (node) => +nodes.includes(node));
  const options = { fold, groups: new Groups(graph), open: null, only, words: WORDS };
  return buildScene(new Links(graph), options);
};

describe("buildScene", () => {
  it("folds parameters into each of their consumers", () => {
    const folded = scene();
    expect(Array.from(folded.node)).toEqual([0, 2, 4, 5, 6]);
    expect(Array.from(foldedInto(folded, 1))).toEqual([1]);
    expect(Array.from(foldedInto(folded, 2))).toEqual([3, 1]);
    expect(Array.from(boxesOf(folded, 1))).toEqual([1, 2]);
    expect(Array.from(boxesOf(folded, 3))).toEqual([2]);
    expect(Array.from(folded.node.keys(), (box) => folded.text(box).badge)).toEqual([
      "0",
      "1",
      "2",
      "0",
      "0",
    ]);
  });

  it("draws only the edges between boxes", () => {
    const { edgeSource, edgeTarget, edge } = scene();
    const drawn = Array.from(edgeSource, (source, i) => [source, edgeTarget[i]]);
    expect(drawn).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [1, 3],
      [3, 4],
    ]);
    expect(Array.from(edge)).toEqual([0, 2, 5, 6, 7]);
  });

  it("gives every node its box when nothing is folded", () => {
    const all = scene(residual(), false);
    expect(Array.from(all.node)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(all.edgeSource.length).toBe(8);
    for (let node = 0; node < 7; node++) expect(Array.from(boxesOf(all, node))).toEqual([node]);
  });

  it("keeps unread parameters and parameters that are graph outputs", () => {
    const parameter = { kind: NodeKind.PARAMETER };
    const graph = columns([parameter, parameter, { inputs: [[1]] }], { heads: [[1, 0]] });
    expect(Array.from(scene(graph).node)).toEqual([0, 1, 2]);
  });

  it("draws separate lines for exact, ambiguous and control edges of one source", () => {
    const graph = columns(
      [{}, { inputs: [[0], [0, 0, Trust.AMBIGUOUS]] }, { inputs: [[-1], [0]] }],
      { control: [[0, 2]] },
    );
    const { edgeStyle, edgeSlot, dangling, edge } = scene(graph);
    expect(Array.from(edgeStyle)).toEqual([
      EdgeStyle.DATA,
      EdgeStyle.AMBIGUOUS,
      EdgeStyle.DATA,
      EdgeStyle.CONTROL,
    ]);
    expect(new Set(edgeSlot).size).toBe(3);
    expect(edgeSlot[0]).toBe(edgeSlot[2]);
    expect(Array.from(dangling)).toEqual([0, 0, 1]);
    expect(edge[3]).toBe(-1);
  });

  it("counts all operands that no node produces", () => {
    const inputs = Array.from({ length: 300 }, () => [-1] as const);
    expect(Array.from(scene(columns([{ inputs }])).dangling)).toEqual([300]);
  });

  it("marks the boxes with edges across the border of the shown part", () => {
    const part = scene(residual(), true, [4, 3, 1, 5]);
    expect(Array.from(part.node)).toEqual([4, 5]);
    expect(Array.from(part.cutInto)).toEqual([1, 1]);
    expect(Array.from(part.cutOutOf)).toEqual([0, 1]);
    expect(Array.from(boxesOf(part, 2))).toEqual([]);
    expect(Array.from(boxesOf(part, 99))).toEqual([]);
    expect(Array.from(boxesOf(part, -1))).toEqual([]);
  });
});
