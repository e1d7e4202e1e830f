import { type GraphColumns, NodeKind, Trust } from "../shared/run_client.ts";
import type { BoxText } from "./labels.ts";
import type { Links } from "./links.ts";

export const EdgeStyle = { DATA: 0, AMBIGUOUS: 1, CONTROL: 2 } as const;

/** What is drawn of a graph: boxes, each standing for one node and those folded into it, and the edges between boxes. */
export interface Scene {
  count: number;
  /** The node each box is named after, ascending. */
  node: Int32Array;
  /** Boxes that show a node, one row per node: its own, or those it is folded into; none where it is left out. */
  boxStart: Int32Array;
  boxes: Int32Array;
  /** Nodes folded into each box, in operand order. */
  foldedStart: Int32Array;
  folded: Int32Array;
  text: readonly BoxText[];
  width: Float32Array;
  height: Float32Array;
  /** Per drawn edge: boxes, style, and what it reads (edges of one source and slot carry the same tensor). */
  edgeSource: Int32Array;
  edgeTarget: Int32Array;
  edgeSlot: Int32Array;
  edgeStyle: Uint8Array;
  /** Edge of the graph, -1 for a control dependency. */
  edge: Int32Array;
  /** Per box: operands that name no node of the graph. */
  dangling: Uint8Array;
  /** Per box: edges to and from nodes that are left out. */
  cutInto: Uint8Array;
  cutOutOf: Uint8Array;
}

export interface SceneOptions {
  /** Draw parameters inside their consumers. */
  fold: boolean;
  /** Only these nodes; null for all. */
  only: ReadonlySet<number> | null;
  text: (node: number, folded: number) => BoxText;
}

export function buildScene(links: Links, { fold, only, text }: SceneOptions): Scene {
  const { graph } = links;
  const nodes = graph.kinds.length;
  const shown = (node: number) => node >= 0 && (!only || only.has(node));
  const isFolded = fold ? foldedParameters(links, shown) : new Uint8Array(nodes);
  const own = new Int32Array(nodes).fill(-1);
  const node: number[] = [];
  for (let each = 0; each < nodes; each++) {
    if (!shown(each) || isFolded[each]) continue;
    own[each] = node.length;
    node.push(each);
  }
  const members = foldedMembers(links, node, isFolded);
  const edges = drawnEdges(graph, own, isFolded, shown, node.length);
  const texts = node.map((each, box) => text(each, members.start[box + 1]! - members.start[box]!));
  return {
    count: node.length,
    node: Int32Array.from(node),
    foldedStart: members.start,
    folded: members.nodes,
    ...boxesOfNodes(own, members),
    text: texts,
    width: Float32Array.from(texts, ({ width }) => width),
    height: Float32Array.from(texts, ({ height }) => height),
    ...edges,
  };
}

/** Boxes that show the node: its own, or those it is folded into. */
export function boxesOf(scene: Scene, node: number): Int32Array {
  if (!(node >= 0 && node < scene.boxStart.length - 1)) return new Int32Array(0);
  return scene.boxes.subarray(scene.boxStart[node]!, scene.boxStart[node + 1]!);
}

/** Nodes folded into the box. */
export function foldedInto(scene: Scene, box: number): Int32Array {
  return scene.folded.subarray(scene.foldedStart[box]!, scene.foldedStart[box + 1]!);
}

/** The nodes a box stands for, those folded into it apart. */
export function membersOf(scene: Scene, box: number): Int32Array {
  return scene.node.subarray(box, box + 1);
}

/** How many nodes have a box, or are folded into one. */
export function shownNodes({ boxStart }: Scene): number {
  let shown = 0;
  for (let node = 0; node + 1 < boxStart.length; node++) {
    if (boxStart[node + 1]! > boxStart[node]!) shown += 1;
  }
  return shown;
}

/** A parameter is folded where something reads it; one that is itself an output of the graph stays visible. */
function foldedParameters(links: Links, shown: (node: number) => boolean): Uint8Array {
  const { kinds, edgeTarget, headNode } = links.graph;
  const folded = new Uint8Array(kinds.length);
  for (let node = 0; node < kinds.length; node++) {
    if (kinds[node] !== NodeKind.PARAMETER || !shown(node)) continue;
    if (links.outOf(node).some((edge) => shown(edgeTarget[edge]!))) folded[node] = 1;
  }
  for (const head of headNode) if (head >= 0) folded[head] = 0;
  return folded;
}

interface Members {
  start: Int32Array;
  nodes: Int32Array;
}

function foldedMembers(links: Links, node: readonly number[], isFolded: Uint8Array): Members {
  const start = new Int32Array(node.length + 1);
  const nodes: number[] = [];
  for (const [box, each] of node.entries()) {
    const inside = new Set<number>();
    for (const edge of links.into(each)) {
      const source = links.graph.edgeSource[edge]!;
      if (source >= 0 && isFolded[source]) inside.add(source);
    }
    nodes.push(...inside);
    start[box + 1] = nodes.length;
  }
  return { start, nodes: Int32Array.from(nodes) };
}

function boxesOfNodes(own: Int32Array, { start, nodes }: Members) {
  const boxStart = new Int32Array(own.length + 1);
  for (let node = 0; node < own.length; node++) if (own[node]! >= 0) boxStart[node + 1]!++;
  for (const node of nodes) boxStart[node + 1]!++;
  for (let node = 0; node < own.length; node++) boxStart[node + 1]! += boxStart[node]!;
  const next = boxStart.slice();
  const boxes = new Int32Array(boxStart[own.length]!);
  for (let node = 0; node < own.length; node++) {
    if (own[node]! >= 0) boxes[next[node]!++] = own[node]!;
  }
  for (let box = 0; box + 1 < start.length; box++) {
    for (let row = start[box]!; row < start[box + 1]!; row++) boxes[next[nodes[row]!]!++] = box;
  }
  return { boxStart, boxes };
}

function drawnEdges(
  graph: GraphColumns,
  own: Int32Array,
  isFolded: Uint8Array,
  shown: (node: number) => boolean,
  count: number,
) {
  const [source, target, slot, style, edge]: number[][] = [[], [], [], [], []];
  const [dangling, cutInto, cutOutOf] = [0, 1, 2].map(() => new Uint8Array(count));
  for (let row = 0; row < graph.edgeSource.length; row++) {
    const [from, to] = [graph.edgeSource[row]!, graph.edgeTarget[row]!];
    if ((from >= 0 && isFolded[from]) || isFolded[to]) continue;
    if (!shown(to)) {
      if (shown(from)) bump(cutOutOf!, own[from]!);
    } else if (from < 0) bump(dangling!, own[to]!);
    else if (!shown(from)) bump(cutInto!, own[to]!);
    else {
      const each = graph.edgeTrust[row] === Trust.AMBIGUOUS ? EdgeStyle.AMBIGUOUS : EdgeStyle.DATA;
      source!.push(own[from]!);
      target!.push(own[to]!);
      slot!.push(3 * graph.edgeOutput[row]! + each);
      style!.push(each);
      edge!.push(row);
    }
  }
  for (let row = 0; row < graph.controlSource.length; row++) {
    const [from, to] = [graph.controlSource[row]!, graph.controlTarget[row]!];
    if (!shown(from) || !shown(to) || own[from]! < 0 || own[to]! < 0) continue;
    source!.push(own[from]!);
    target!.push(own[to]!);
    slot!.push(EdgeStyle.CONTROL);
    style!.push(EdgeStyle.CONTROL);
    edge!.push(-1);
  }
  return {
    edgeSource: Int32Array.from(source!),
    edgeTarget: Int32Array.from(target!),
    edgeSlot: Int32Array.from(slot!),
    edgeStyle: Uint8Array.from(style!),
    edge: Int32Array.from(edge!),
    dangling: dangling!,
    cutInto: cutInto!,
    cutOutOf: cutOutOf!,
  };
}

function bump(counts: Uint8Array, box: number): void {
  if (box >= 0 && counts[box]! < 255) counts[box]!++;
}
