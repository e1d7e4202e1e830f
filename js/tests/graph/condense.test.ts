import { describe, expect, it } from "vitest";
import { GraphModel } from "../../src/graph/data/model.ts";
import {
  type CondensedGraph,
  condensed,
  countText,
  repeatText,
  timeText,
} from "../../src/graph/figure/condense.ts";
import { buildScene, foldedInto, type GraphScene } from "../../src/graph/layout/scene.ts";
import { type GraphColumns, NodeKind } from "../../src/shared/client/answers.ts";
import { stringColumn } from "../shared/string_column.ts";
import { blocks, columns, type NodeSpec, residual, WORDS } from "./fixture.ts";

const MEASURE = { title: (text: string) => text.length, small: (text: string) => text.length };

function made(graph: GraphColumns, most: number): CondensedGraph & { model: GraphModel } {
  const model = new GraphModel(graph, null, MEASURE);
  const scene = buildScene(model.links, {
    ...{ fold: true, groups: model.groups, open: null, only: null, words: WORDS },
  });
  return { ...condensed(model, scene, most), model };
}

/** Numbers from 0 to 1, the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed + 1; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

function random(seed: number): GraphColumns {
  const from = numbers(seed);
  const next = (below: number) => Math.floor(from.next().value * below);
  const nodes: NodeSpec[] = Array.from({ length: 10 + next(60) }, (_, node) => {
    const inputs = Array.from({ length: node ? next(4) : 0 }, () => [next(node)] as const);
    const given = next(3) ? NodeKind.PARAMETER : NodeKind.INPUT;
    const kind = inputs.length ? NodeKind.OPERATOR : given;
    const ns = [0, 5, 250.5, Number.NaN][next(4)]!;
    return { kind, inputs, label: `op${next(4)}`, ns };
  });
  return columns(nodes, { heads: [[nodes.length - 1, 0]] });
}

/** Each part has the numbers of its nodes, each node is in one part, and edges are those of the scene. */
function expectTrue({
  parts,
  edges,
  scene,
  isCarried,
  model,
}: CondensedGraph & { model: GraphModel }) {
  const { graph, times } = model;
  const partOf = new Map<number, number>();
  for (const [at, { nodes }] of parts.entries()) {
    for (const node of nodes) {
      expect(partOf.has(node)).toBe(false);
      partOf.set(node, at);
    }
  }
  expect([...partOf.keys()].sort((a, b) => a - b)).toEqual(
    Array.from(scene.node).sort((a, b) => a - b),
  );
  for (const part of parts) {
    const known = part.nodes.map((node) => times.ns[node]!).filter((ns) => !Number.isNaN(ns));
    expect(part.unknown).toBe(part.nodes.length - known.length);
    if (known.length) expect(part.ns).toBeCloseTo(known.reduce((sum, ns) => sum + ns, 0));
    else expect(part.ns).toBeNaN();
    const read = new Set(
      part.nodes.flatMap((node) => {
        const sources = model.links.into(node).map((edge) => graph.edgeSource[edge]!);
        return sources.filter((source) => source >= 0 && !partOf.has(source));
      }),
    );
    expect(new Set(part.inside)).toEqual(read);
  }
  const drawn = new Set(edges.map(({ source, target }) => `${source} ${target}`));
  const left = betweenParts(scene, partOf).filter(([source, target]) => {
    return (
      !drawn.delete(`${source} ${target}`) &&
      !edges.some((edge) => edge.source === source && edge.target === target)
    );
  });
  expect(drawn.size).toBe(0);
  for (const [source, target] of left) expect(parts[source]!.run).toBe(parts[target]!.run);
  if (left.length) expect(isCarried).toBe(true);
}

function betweenParts(scene: GraphScene, partOf: ReadonlyMap<number, number>): [number, number][] {
  return Array.from(scene.edgeSource, (source, edge) => {
    const [from, to] = [scene.node[source]!, scene.node[scene.edgeTarget[edge]!]!];
    return [partOf.get(from)!, partOf.get(to)!] as [number, number];
  }).filter(([source, target]) => source !== target);
}

describe("a condensed graph", () => {
  it.each([1, 3, 12, 44])("computes correct times and edges for a limit of %i parts", (most) => {
    for (let seed = 0; seed < 40; seed++) {
      const found = made(random(seed), most);
      expectTrue(found);
      expect(made(random(seed), most).parts).toEqual(found.parts);
    }
    for (const graph of [residual(), blocks(2, 30), blocks(3, 200)]) expectTrue(made(graph, most));
  });

  it("shows repeated blocks once with their count", () => {
    const { parts, runs, isCarried } = made(blocks(1, 200), 44);
    const inside = parts.filter(({ run }) => run >= 0);
    expect(runs).toEqual([0]);
    expect(inside.map((part) => repeatText(part))).toEqual(["× 200", "× 200", "× 200"]);
    expect(inside.every(({ nodes }) => nodes.length === 200)).toBe(true);
    expect(isCarried).toBe(true);
  });

  it("keeps the slowest nodes as separate parts", () => {
    const nodes: NodeSpec[] = Array.from({ length: 500 }, (_, node) => ({
      ...(node ? { inputs: [[node - 1]] } : {}),
      label: `op${(node * 7919) % 400}`,
      ns: node === 17 || node === 300 ? 5e6 : 1,
    }));
    const { parts } = made(columns(nodes), 20);
    expect(parts.length).toBeLessThanOrEqual(20);
    const alone = parts.filter((part) => part.nodes.length === 1).map((part) => part.nodes[0]);
    expect(alone).toEqual(expect.arrayContaining([17, 300]));
  });

  it("notes the number of unknown times in a sum", () => {
    const nodes: NodeSpec[] = Array.from({ length: 400 }, (_, node) => ({
      ...(node ? { inputs: [[node - 1]], label: "relu" } : { kind: NodeKind.INPUT }),
      ns: [0, 7, 9].includes(node) ? Number.NaN : 1000,
    }));
    const part = made(columns(nodes), 2).parts.find(({ nodes: { length } }) => length > 1)!;
    expect(timeText(part)).toBe("397.0 µs · 100.0 % + 2 unknown");
    expect(countText(part)).toBe("399 nodes · #1 … #399");
  });

  it("includes the time of a call if all its nodes are in the part", () => {
    const nodes: NodeSpec[] = Array.from({ length: 6 }, (_, node) => ({
      ...(node ? { inputs: [[node - 1]] } : { kind: NodeKind.INPUT }),
    }));
    const call = {
      callOffsets: Int32Array.of(0, 2),
      callNodes: Int32Array.of(2, 3),
      callNs: Float64Array.of(50),
      callShare: Float64Array.of(1),
      callNames: stringColumn(["XNNPACK, instruction 0"]),
      callKinds: stringColumn(["delegate"]),
    };
    const model = new GraphModel({ ...columns(nodes), ...call }, null, MEASURE);
    const scene = buildScene(model.links, {
      ...{ fold: true, groups: model.groups, open: null, only: null, words: WORDS },
    });
    const whole = condensed(model, scene, 2);
    expect(whole.parts.map(({ ns }) => ns)).toEqual([Number.NaN, 50]);
    expect(foldedInto(scene, 0).length).toBe(0);
  });
});
