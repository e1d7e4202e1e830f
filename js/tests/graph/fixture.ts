import type { BoxTexts } from "../../src/graph/layout/scene.ts";
import { type GraphColumns, GroupSource, NodeKind } from "../../src/shared/client/answers.ts";
import { stringColumn } from "../shared/string_column.ts";

export interface NodeSpec {
  kind?: number;
  name?: string;
  label?: string;
  func?: string;
  opKind?: string;
  role?: string;
  /** [node, output, trust]; -1 for what no node produces. */
  inputs?: readonly (readonly [node: number, output?: number, trust?: number])[];
  /** One shape an output; null where unknown. */
  outputs?: readonly (readonly number[] | null)[];
  dtype?: string;
  ns?: number;
}

/** A small graph as the columns that a kernel would send. */
export function columns(
  nodes: readonly NodeSpec[],
  more: { heads?: readonly (readonly [number, number])[]; control?: [number, number][] } = {},
): GraphColumns {
  const outputs = nodes.map((node) => node.outputs ?? [[1, 8]]);
  const shapes = outputs.flat();
  const total = nodes.reduce((sum, { ns = 0 }) => sum + Math.max(0, ns || 0), 0);
  const edges = nodes.flatMap((node, target) =>
    (node.inputs ?? []).map(([source, output = 0, trust = 0], position) => ({
      source,
      output,
      trust,
      target,
      position,
    })),
  );
  const kinds = nodes.map(({ kind }) => kind ?? NodeKind.OPERATOR);
  const defaults = ["input", "parameter", "elementwise", "reshape", "layout/copy"];
  return {
    names: stringColumn(nodes.map(({ name }, node) => name ?? `node_${node}`)),
    labels: stringColumn(nodes.map(({ label }) => label ?? "")),
    funcNames: stringColumn(nodes.map(({ func }) => func ?? "")),
    opKinds: stringColumn(nodes.map(({ opKind }, node) => opKind ?? defaults[kinds[node]!]!)),
    kinds: Uint8Array.from(kinds),
    roles: stringColumn(
      nodes.map(({ role }, node) => role ?? ["input", "parameter"][kinds[node]!] ?? ""),
    ),
    entryOffsets: ends(outputs.map((each) => each.length)),
    edgeSource: Int32Array.from(edges, ({ source }) => source),
    edgeOutput: Int32Array.from(edges, ({ output }) => output),
    edgeTarget: Int32Array.from(edges, ({ target }) => target),
    edgePosition: Int32Array.from(edges, ({ position }) => position),
    edgeTrust: Uint8Array.from(edges, ({ trust }) => trust),
    controlSource: Int32Array.from(more.control ?? [], ([source]) => source),
    controlTarget: Int32Array.from(more.control ?? [], ([, target]) => target),
    headNode: Int32Array.from(more.heads ?? [], ([node]) => node),
    headOutput: Int32Array.from(more.heads ?? [], ([, output]) => output),
    shapeOffsets: ends(shapes.map((shape) => shape?.length ?? 0)),
    shapeDims: Float64Array.from(shapes.flatMap((shape) => shape ?? [])),
    shapeKnown: Uint8Array.from(shapes, (shape) => (shape ? 1 : 0)),
    dtypes: stringColumn(
      outputs.flatMap((each, node) => each.map(() => nodes[node]!.dtype ?? "float32")),
    ),
    entryBytes: Float64Array.from(shapes, (shape) =>
      shape ? shape.reduce((count, dim) => count * dim, 4) : Number.NaN,
    ),
    storageIds: new Int32Array(0),
    deviceTypes: new Int32Array(0),
    nodeNs: Float64Array.from(nodes, ({ ns }) => ns ?? Number.NaN),
    nodeShare: Float64Array.from(nodes, ({ ns = Number.NaN }) => ns / total),
    timeTotal: Float64Array.of(total),
    nodeTrust: new Uint8Array(nodes.length),
    hasTensor: new Uint8Array(shapes.length),
    groupOrder: Int32Array.from(nodes.keys()),
    groupStart: new Int32Array(0),
    groupEnd: new Int32Array(0),
    groupParent: new Int32Array(0),
    groupAlike: new Int32Array(0),
    groupRepeats: new Int32Array(0),
    groupSource: new Uint8Array(0),
    groupNames: stringColumn([]),
    nodeGroup: new Int32Array(nodes.length).fill(-1),
  };
}

/** An input, two weights of which one is shared by two convolutions, a sum, and an output. */
export function residual(): GraphColumns {
  const conv = { label: "conv2d + relu", opKind: "convolution", func: "fused_nn_conv2d_relu" };
  return columns(
    [
      { kind: NodeKind.INPUT, name: "data", outputs: [[1, 3, 32, 32]] },
      { kind: NodeKind.PARAMETER, name: "p0", outputs: [[64, 3, 3, 3]] },
      { ...conv, inputs: [[0], [1]], outputs: [[1, 64, 8, 8]], ns: 2_571_000 },
      { kind: NodeKind.PARAMETER, name: "p1" },
      { ...conv, inputs: [[2], [3], [1]], outputs: [[1, 64, 8, 8]], ns: 429_000 },
      { label: "add", name: "sum", inputs: [[4], [2]], dtype: "float16", ns: 1_000_000 },
      { label: "softmax", opKind: "normalization", inputs: [[5]] },
    ],
    { heads: [[6, 0]] },
  );
}

/** Words of boxes that all are of one size. */
export const WORDS: BoxTexts = {
  title: () => "",
  box: (_node, folded) => ({ ...NO_TEXT, badge: String(folded) }),
  boxOfGroup: (group, nodes) => ({ ...NO_TEXT, title: `group ${group}`, shape: String(nodes) }),
  width: () => 120,
  widthOfGroup: () => 160,
  height: () => 40,
  heightOfGroup: 46,
  compact: false,
  valued: false,
};
const NO_TEXT = { title: "", mark: "", head: false, shape: "", time: "", badge: "" };

export interface GroupSpec {
  start: number;
  end: number;
  parent?: number;
  name?: string;
  alike?: number;
  repeats?: number;
  source?: number;
}

/** The graph with groups of its nodes, which are taken in the order of their ids. */
export function grouped(graph: GraphColumns, groups: readonly GroupSpec[]): GraphColumns {
  const nodeGroup = new Int32Array(graph.kinds.length).fill(-1);
  for (const [group, { start, end }] of groups.entries()) nodeGroup.fill(group, start, end);
  return {
    ...graph,
    groupStart: Int32Array.from(groups, ({ start }) => start),
    groupEnd: Int32Array.from(groups, ({ end }) => end),
    groupParent: Int32Array.from(groups, ({ parent }) => parent ?? -1),
    groupAlike: Int32Array.from(groups, ({ alike }, group) => alike ?? group),
    groupRepeats: Int32Array.from(groups, ({ repeats }) => repeats ?? 1),
    groupSource: Uint8Array.from(groups, ({ source }) => source ?? GroupSource.BLOCK),
    groupNames: stringColumn(groups.map(({ name }) => name ?? "block")),
    nodeGroup,
  };
}

/** An input, `blocks` times (convolution, activation, sum with what came before) as one run of blocks, and an output. */
export function blocks(count: number, repeats: number): GraphColumns {
  const nodes: NodeSpec[] = [{ kind: NodeKind.INPUT, name: "data" }];
  const groups: GroupSpec[] = [];
  for (let run = 0; run < count; run++) {
    const start = nodes.length;
    const around = groups.length;
    const alike = 2 * run;
    groups.push({
      start,
      end: start,
      name: `block ${run}`,
      alike,
      repeats,
      source: GroupSource.REPEAT,
    });
    for (let block = 0; block < repeats; block++) {
      const first = nodes.length;
      nodes.push(
        { inputs: [[first - 1]], label: "conv2d", ns: 2000 },
        { inputs: [[first]], label: "relu", ns: 500 },
        { inputs: [[first + 1], [first - 1]], label: "add", ns: 1000 },
      );
      groups.push({
        start: first,
        end: first + 3,
        parent: around,
        name: `block ${run}`,
        alike: alike + 1,
      });
    }
    groups[around]!.end = nodes.length;
  }
  nodes.push({ inputs: [[nodes.length - 1]], label: "softmax", ns: 100 });
  return grouped(columns(nodes, { heads: [[nodes.length - 1, 0]] }), groups);
}

function ends(counts: readonly number[]): Int32Array {
  let end = 0;
  return Int32Array.from([0, ...counts.map((count) => (end += count))]);
}
