import { describe, expect, it } from "vitest";
import { Groups, Links, openStates } from "../../src/graph/data/links.ts";
import { boxesOf, buildScene, foldedInto, membersOf } from "../../src/graph/layout/scene.ts";
import { type GraphColumns, NodeKind } from "../../src/shared/client/answers.ts";
import { blocks, columns, type GroupSpec, grouped, WORDS } from "./fixture.ts";

function scene(
  graph: GraphColumns,
  open: readonly number[],
  only: readonly number[] | null = null,
) {
  const groups = new Groups(graph);
  const flags = new Uint8Array(groups.count);
  for (const group of open) flags[group] = 1;
  const part = only && Uint8Array.from(graph.kinds.keys(), (node) => +only.includes(node));
  return buildScene(new Links(graph), {
    ...{ fold: true, groups, open: flags, only: part, words: WORDS },
  });
}

/** Two runs of ten blocks, each of a run of three blocks. */
function nestedBlocks(): GraphColumns {
  const graph = blocks(2, 30);
  const groups: GroupSpec[] = [];
  for (const run of [0, 1]) {
    const start = 1 + 90 * run;
    const outer = groups.length;
    groups.push({ start, end: start + 90 });
    for (let block = 0; block < 10; block++) {
      const first = start + 9 * block;
      const around = groups.length;
      groups.push({ start: first, end: first + 9, parent: outer });
      for (let part = 0; part < 3; part++) {
        groups.push({ start: first + 3 * part, end: first + 3 * part + 3, parent: around });
      }
    }
  }
  return grouped(graph, groups);
}

const edges = ({ edgeSource, edgeTarget }: ReturnType<typeof scene>) =>
  Array.from(edgeSource, (source, edge) => [source, edgeTarget[edge]!]);

describe("Groups", () => {
  const groups = new Groups(blocks(2, 3));

  it("gives a run of blocks and its blocks the same kind and tag", () => {
    expect(Array.from(groups.kind)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect([0, 1, 4, 7].map((group) => groups.tag(group))).toEqual(["A", "A", "B", "B"]);
    expect(groups.ofKind(2)).toEqual([1, 2, 3]);
    expect(groups.ofKind(4)).toEqual([4]);
  });

  it("sums the times of all nodes inside", () => {
    expect(groups.ns(0)).toBe(3 * 3500);
    expect(groups.ns(1)).toBe(3500);
    expect(groups.title(0)).toBe("block 0 × 3");
    expect(Array.from(groups.nodes(2))).toEqual([4, 5, 6]);
  });

  it("continues tags after Z with two letters", () => {
    const nodes = Array.from({ length: 60 }, (_, node) => (node ? { inputs: [[node - 1]] } : {}));
    const pairs = Array.from({ length: 30 }, (_, group) => ({
      start: 2 * group,
      end: 2 * group + 2,
    }));
    const many = new Groups(grouped(columns(nodes as never), pairs));
    expect([0, 25, 26, 29].map((group) => many.tag(group))).toEqual(["A", "Z", "AA", "AD"]);
  });
});

describe("automatically opened groups", () => {
  const flags = (graph: GraphColumns, shown?: Uint8Array) =>
    Array.from(openStates(graph, shown ?? null)[0]!);

  it("include all groups of a small graph", () => {
    expect(flags(blocks(2, 3))).toEqual(new Array(8).fill(1));
  });

  it("include the outer groups of a large graph within the box limit", () => {
    // Two runs of 14 blocks are 30 boxes with the input and the output, two of 15 are 32.
    const few = flags(blocks(2, 14));
    expect([few[0], few[15]]).toEqual([1, 1]);
    expect(few.filter(Boolean).length).toBe(2);
    expect(flags(blocks(2, 15)).filter(Boolean).length).toBe(0);
    const deep = flags(nestedBlocks());
    expect([deep[0], deep[41]]).toEqual([1, 1]);
    expect(deep.filter(Boolean).length).toBe(2);
  });

  it("depend on which nodes are shown", () => {
    const graph = blocks(4, 20);
    const shown = new Uint8Array(graph.kinds.length);
    shown.fill(1, 0, 25);
    expect(flags(graph, shown)[1]).toBe(1);
    expect(flags(graph)[0]).toBe(0);
  });
});

describe("a scene with groups", () => {
  it("draws a closed group as one box with all its nodes", () => {
    const { count, group, node, frames, ...closed } = scene(blocks(1, 3), []);
    expect(count).toBe(3);
    expect(Array.from(group)).toEqual([-1, 0, -1]);
    expect(Array.from(node)).toEqual([0, 1, 10]);
    expect(Array.from(closed.boxOfGroup)).toEqual([1, -1, -1, -1]);
    expect(frames.group.length).toBe(0);
    const all = scene(blocks(1, 3), []);
    expect(Array.from(membersOf(all, 1))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(Array.from(boxesOf(all, 5))).toEqual([1]);
    expect(edges(all)).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it("frames the content of an open group, and keeps the lines that skip a closed block", () => {
    const open = scene(blocks(1, 3), [0, 2]);
    expect(Array.from(open.group)).toEqual([-1, 1, -1, -1, -1, 3, -1]);
    expect(Array.from(open.frames.group)).toEqual([0, 2]);
    expect(Array.from(open.frames.parent)).toEqual([-1, 0]);
    expect(Array.from(open.frameOf)).toEqual([-1, 0, 1, 1, 1, 0, -1]);
    expect(Array.from(open.frameOfGroup)).toEqual([0, -1, 1, -1]);
    expect(edges(open)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [1, 4],
      [4, 5],
      [5, 6],
    ]);
  });

  it("draws one line per tensor between two boxes, regardless of its reader count", () => {
    const wide = columns([
      { outputs: [[1], [1]] },
      { inputs: [[0], [0, 1]] },
      { inputs: [[0], [0, 1], [1]] },
      { inputs: [[1], [2], [1]] },
      { inputs: [[3], [3]] },
    ]);
    const closed = scene(grouped(wide, [{ start: 1, end: 3 }]), []);
    expect(edges(closed)).toEqual([
      [0, 1],
      [0, 1],
      [1, 2],
      [1, 2],
      [2, 3],
      [2, 3],
    ]);
    expect(new Set(closed.edgeSlot.slice(2, 4)).size).toBe(2);
    expect(Array.from(closed.edge)).toEqual([0, 1, 5, 6, 8, 9]);
  });

  it("folds each parameter into a closed group only once", () => {
    const graph = columns([
      { kind: NodeKind.PARAMETER },
      { kind: NodeKind.PARAMETER },
      { inputs: [[0], [1]] },
      { inputs: [[2], [0]] },
      { inputs: [[3], [0]] },
    ]);
    const closed = scene(grouped(graph, [{ start: 1, end: 4 }]), []);
    expect(Array.from(closed.group)).toEqual([0, -1]);
    expect(Array.from(foldedInto(closed, 0))).toEqual([0, 1]);
    expect(Array.from(foldedInto(closed, 1))).toEqual([0]);
    expect(Array.from(membersOf(closed, 0))).toEqual([2, 3]);
    expect(Array.from(boxesOf(closed, 0))).toEqual([0, 1]);
  });

  it("leaves out hidden nodes, and draws a group of one node as the node", () => {
    const part = scene(blocks(1, 3), [0], [0, 3, 4, 5]);
    expect(Array.from(part.group)).toEqual([-1, -1, 2]);
    expect(Array.from(part.node)).toEqual([0, 3, 4]);
    expect(Array.from(part.cutInto)).toEqual([0, 1, 0]);
    expect(Array.from(part.cutOutOf)).toEqual([1, 1, 1]);
    expect(Array.from(membersOf(part, 2))).toEqual([4, 5]);
  });

  it("adds no cycle to an acyclic graph", () => {
    for (const [source, target] of edges(scene(blocks(2, 4), [5])))
      expect(source).toBeLessThan(target!);
  });
});
