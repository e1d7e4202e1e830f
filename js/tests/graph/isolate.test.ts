import { describe, expect, it } from "vitest";
import { between, bridges, isolated, Links, shownPart } from "../../src/graph/data/links.ts";
import { NodeKind } from "../../src/shared/client/answers.ts";
import { finished } from "../../src/shared/many.ts";
import { columns } from "./fixture.ts";

const PARAMETER = { kind: NodeKind.PARAMETER };

/** 0 → 2 (reads the weight 1) → 3 → 5; 2 → 4 → 5; 6 reads the weight alone. */
const graph = columns([
  { kind: NodeKind.INPUT },
  PARAMETER,
  { inputs: [[0], [1]] },
  { inputs: [[2]] },
  { inputs: [[2]] },
  { inputs: [[3], [4]] },
  { inputs: [[1], [-1]] },
]);
const links = new Links(graph);
const ids = (mask: Uint8Array) => Array.from(mask.keys()).filter((node) => mask[node]);
const part = (
  kind: "upstream" | "downstream" | "around" | "path",
  nodes: number[],
  hops = null as number | null,
) => ids(finished(isolated(links, { kind, nodes, hops })));

describe("a part of the graph", () => {
  it("contains the ancestors of nodes, with their parameters", () => {
    expect(part("upstream", [3])).toEqual([0, 1, 2, 3]);
    expect(part("upstream", [0])).toEqual([0]);
    expect(part("upstream", [3, 4])).toEqual([0, 1, 2, 3, 4]);
  });

  it("contains the descendants of nodes", () => {
    expect(part("downstream", [3])).toEqual([3, 5]);
    expect(part("downstream", [1])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("contains neighbors, but not through a parameter", () => {
    expect(part("around", [2], 1)).toEqual([0, 1, 2, 3, 4]);
    expect(part("around", [2], 5)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(part("around", [2], 0)).toEqual([1, 2]);
  });

  it("contains all paths between two nodes in either direction, or nothing", () => {
    expect(part("path", [2, 5])).toEqual([1, 2, 3, 4, 5]);
    expect(part("path", [5, 2])).toEqual([1, 2, 3, 4, 5]);
    expect(part("path", [3, 4])).toEqual([]);
    expect([between(links, 5, 0), between(links, 3, 4)]).toEqual([3, -1]);
  });
});

describe("bridges over hidden nodes", () => {
  const over = (...hidden: number[]) => {
    const mask = new Uint8Array(graph.kinds.length);
    for (const node of hidden) mask[node] = 1;
    return finished(bridges(links, mask)).map(({ source, target, through }) => [
      source,
      target,
      through,
    ]);
  };

  it("count the hidden nodes they skip", () => {
    expect(over(3)).toEqual([[2, 5, 1]]);
    expect(over(3, 4)).toEqual([[2, 5, 2]]);
    expect(over(2, 3)).toEqual([
      [0, 4, 1],
      [0, 5, 2],
      [1, 4, 1],
      [1, 5, 2],
    ]);
  });

  it("are absent without hidden nodes between visible ones", () => {
    expect(over(1)).toEqual([]);
    expect(over(5)).toEqual([]);
    expect(over()).toEqual([]);
  });

  it("are limited in number around a node with many neighbors", () => {
    const wide = 2_000;
    const crossing = columns([
      ...Array.from({ length: wide }, () => ({ kind: NodeKind.INPUT })),
      { inputs: Array.from({ length: wide }, (_, i) => [i] as const) },
      ...Array.from({ length: wide }, () => ({ inputs: [[wide] as const] })),
    ]);
    const mask = new Uint8Array(2 * wide + 1);
    mask[wide] = 1;
    const found = finished(bridges(new Links(crossing), mask));
    expect(found[0]).toEqual({ source: 0, target: wide + 1, through: 1 });
    expect(found.length).toBeLessThan(wide * wide);
  });
});

describe("the shown part", () => {
  it("is the isolated one without hidden nodes", () => {
    const hidden = Uint8Array.from([0, 0, 0, 1, 0, 0, 1]);
    const isolation = { kind: "downstream" as const, nodes: [2], hops: null };
    const { only, bridges } = finished(shownPart(links, isolation, hidden));
    expect(ids(only!)).toEqual([1, 2, 4, 5]);
    expect(ids(hidden)).toEqual([3]);
    expect(bridges).toEqual([{ source: 2, target: 5, through: 1 }]);
    expect(finished(shownPart(links, null, null))).toEqual({ only: null, bridges: [] });
  });
});
