import { type GraphColumns, NodeKind, Trust } from "../../shared/client/answers.ts";
import { finished } from "../../shared/many.ts";
import { type Bridge, type Groups, type Links, nodesIn, outputsApart } from "../data/links.ts";
import { at, type CompressedRows, groupBy } from "./adjacency.ts";

export const EdgeStyle = { DATA: 0, AMBIGUOUS: 1, CONTROL: 2, BRIDGE: 3 } as const;
const STYLES = 4;

/**
 * Contents of a drawn graph: boxes for nodes or closed groups, with the parameters folded into them; frames around the
 * contents of open groups; edges between boxes.
 */
export interface GraphScene {
  count: number;
  /** Node that names a box: the first of a closed group, in the order in which groups are intervals. */
  node: Int32Array;
  /** Closed group of a box, -1 for a node. */
  group: Int32Array;
  /** Nodes of a box without those folded into it. */
  memberStart: Int32Array;
  members: Int32Array;
  /** Boxes by node: its own, its closed group's, or those it is folded into; empty if it is left out. */
  boxStart: Int32Array;
  boxes: Int32Array;
  /** Nodes folded into a box, in operand order. */
  foldedStart: Int32Array;
  folded: Int32Array;
  /** Boxes have only their title and the colored value. */
  compact: boolean;
  valued: boolean;
  text: (box: number) => BoxText;
  width: Float32Array;
  height: Float32Array;
  /** 1 for open groups; null if groups are not drawn. */
  open: Uint8Array | null;
  /** Frames with their groups and the frames around them (-1 for none), and the frame of every box. */
  frames: { group: Int32Array; parent: Int32Array };
  frameOf: Int32Array;
  /** Box and frame by group; -1 for none. */
  boxOfGroup: Int32Array;
  frameOfGroup: Int32Array;
  /** Per drawn edge: boxes, style, and the output it reads (edges of one source and slot carry the same tensor). */
  edgeSource: Int32Array;
  edgeTarget: Int32Array;
  edgeSlot: Int32Array;
  edgeStyle: Uint8Array;
  /** Edge of the graph (the first of several), -1 for a control dependency, -1 - n for a bridge over n nodes. */
  edge: Int32Array;
  /** Per box: number of operands that no node produces. */
  dangling: Int32Array;
  /** Flags of boxes with edges from and to nodes that are left out. */
  cutInto: Uint8Array;
  cutOutOf: Uint8Array;
}

export interface BoxTexts {
  /** Boxes have only their title and the colored value. */
  compact: boolean;
  valued: boolean;
  title(node: number): string;
  box(node: number, folded: number): BoxText;
  /** @param outside Number of graph outputs in the group, which have boxes of their own. */
  boxOfGroup(group: number, nodes: number, outside: number): BoxText;
  width(node: number, folded: number): number;
  widthOfGroup(group: number, nodes: number, outside: number): number;
  height(node: number): number;
  heightOfGroup: number;
}

export interface SceneOptions {
  /** Draws parameters inside their consumers. */
  fold: boolean;
  groups: Groups;
  /** 1 for open groups; null draws no groups. */
  open: Uint8Array | null;
  only: Uint8Array | null;
  /** Connections across hidden nodes. */
  bridges?: readonly Bridge[];
  words: BoxTexts;
}

const STRIDE = 4096;

export function buildScene(links: Links, options: SceneOptions): GraphScene {
  return finished(sceneSteps(links, options));
}

/** Scene in steps; the caller may pause or stop between them. */
export function* sceneSteps(links: Links, options: SceneOptions): Generator<void, GraphScene> {
  const { graph } = links;
  const { fold, groups, open, only, bridges = [], words } = options;
  const nodes = graph.kinds.length;
  const isShown = only ?? new Uint8Array(nodes).fill(1);
  const isFolded = fold ? foldedParameters(links, isShown) : new Uint8Array(nodes);
  yield;

  const closedBy = open && groups.count ? groups.closedBy(open) : new Int32Array(groups.count);
  if (!open) closedBy.fill(-1);
  const isApart = new Uint8Array(nodes);
  for (const node of outputsApart(graph)) if (node >= 0) isApart[node] = 1;
  const held = new Int32Array(groups.count);
  /** Graph outputs that no closed group hides, by group. */
  const heads = new Int32Array(groups.count);
  for (let node = 0; node < nodes; node++) {
    const group = graph.nodeGroup[node]!;
    if (group < 0 || !isShown[node] || isFolded[node]) continue;
    held[group]! += 1;
    if (isApart[node]) heads[group]! += 1;
  }
  for (let group = groups.count - 1; group >= 0; group--) {
    const parent = graph.groupParent[group]!;
    if (parent < 0) continue;
    held[parent]! += held[group]!;
    heads[parent]! += heads[group]!;
  }

  const own = new Int32Array(nodes).fill(-1);
  const boxOfGroup = new Int32Array(groups.count).fill(-1);
  const group: number[] = [];
  for (let node = 0; node < nodes; node++) {
    if (node % STRIDE === 0) yield;
    if (!isShown[node] || isFolded[node]) continue;
    const by = graph.nodeGroup[node]! < 0 ? -1 : closedBy[graph.nodeGroup[node]!]!;
    if (by < 0 || isApart[node] || held[by]! - heads[by]! < 2) {
      own[node] = group.length;
      group.push(-1);
      continue;
    }
    if (boxOfGroup[by]! < 0) {
      boxOfGroup[by] = group.length;
      group.push(by);
    }
    own[node] = boxOfGroup[by]!;
  }
  const count = group.length;
  const { start: memberStart, item: members } = rows(count, own, graph.groupOrder);
  yield;
  const node = new Int32Array(count);
  for (let box = 0; box < count; box++) node[box] = members[memberStart[box]!]!;
  const folded = foldedInto_(links, memberStart, members, isFolded);
  yield;
  const shownIn = boxesOfNodes(own, folded);
  yield;
  const frames = framesOf(graph, open ? closedBy : null, held, group, node);
  const edges = yield* drawnEdges(graph, own, group, isFolded, isShown, count, bridges);

  const width = new Float32Array(count);
  const height = new Float32Array(count);
  const nodesOf = ({ start, item }: CompressedRows, box: number) =>
    graph.nodeCount
      ? nodesIn(graph, item.subarray(start[box]!, start[box + 1]!))
      : start[box + 1]! - start[box]!;
  const held_ = (box: number) => nodesOf({ start: memberStart, item: members }, box);
  const inside = (box: number) => nodesOf(folded, box);
  for (let box = 0; box < count; box++) {
    if (box % 256 === 0) yield;
    const isNode = group[box]! < 0;
    height[box] = isNode ? words.height(node[box]!) : words.heightOfGroup;
    width[box] = isNode
      ? words.width(node[box]!, inside(box))
      : words.widthOfGroup(group[box]!, held_(box), heads[group[box]!]!);
  }
  return {
    count,
    node,
    group: Int32Array.from(group),
    memberStart,
    members,
    ...shownIn,
    foldedStart: folded.start,
    folded: folded.item,
    compact: words.compact,
    valued: words.valued,
    text: (box) =>
      group[box]! < 0
        ? words.box(node[box]!, inside(box))
        : words.boxOfGroup(group[box]!, held_(box), heads[group[box]!]!),
    width,
    height,
    open,
    ...frames,
    boxOfGroup,
    ...edges,
  };
}

export function boxesOf(scene: GraphScene, node: number): Int32Array {
  if (!(node >= 0 && node < scene.boxStart.length - 1)) return new Int32Array(0);
  return scene.boxes.subarray(scene.boxStart[node]!, scene.boxStart[node + 1]!);
}

export function foldedInto(scene: GraphScene, box: number): Int32Array {
  return scene.folded.subarray(scene.foldedStart[box]!, scene.foldedStart[box + 1]!);
}

export function membersOf(scene: GraphScene, box: number): Int32Array {
  return scene.members.subarray(scene.memberStart[box]!, scene.memberStart[box + 1]!);
}

/** Number of nodes that have a box or are in one. */
export function shownNodes({ boxStart }: GraphScene): number {
  let shown = 0;
  for (let node = 0; node + 1 < boxStart.length; node++) {
    if (boxStart[node + 1]! > boxStart[node]!) shown += 1;
  }
  return shown;
}

/** Flags of parameters with readers, which are folded; one that is itself an output of the graph stays visible. */
export function foldedParameters({ graph }: Links, isShown: Uint8Array): Uint8Array {
  const { kinds, edgeSource, edgeTarget, headNode } = graph;
  const folded = new Uint8Array(kinds.length);
  for (let edge = 0; edge < edgeSource.length; edge++) {
    const source = edgeSource[edge]!;
    if (source < 0 || kinds[source] !== NodeKind.PARAMETER) continue;
    if (isShown[source] && isShown[edgeTarget[edge]!]) folded[source] = 1;
  }
  for (const head of headNode) if (head >= 0) folded[head] = 0;
  return folded;
}

/** Items by row (-1 for none), in the given order. */
function rows(count: number, rowOf: Int32Array, order: Int32Array): CompressedRows {
  const { start, item } = groupBy(count, at(rowOf, order));
  return { start, item: at(order, item) };
}

function foldedInto_(
  links: Links,
  memberStart: Int32Array,
  members: Int32Array,
  isFolded: Uint8Array,
): CompressedRows {
  const count = memberStart.length - 1;
  const { inStart } = links;
  const { edgeSource } = links.graph;
  const start = new Int32Array(count + 1);
  const seen = new Int32Array(isFolded.length).fill(-1);
  const items: number[] = [];
  for (let box = 0; box < count; box++) {
    for (let row = memberStart[box]!; row < memberStart[box + 1]!; row++) {
      const end = inStart[members[row]! + 1]!;
      for (let edge = inStart[members[row]!]!; edge < end; edge++) {
        const source = edgeSource[edge]!;
        if (source < 0 || !isFolded[source] || seen[source] === box) continue;
        seen[source] = box;
        items.push(source);
      }
    }
    start[box + 1] = items.length;
  }
  return { start, item: Int32Array.from(items) };
}

function boxesOfNodes(own: Int32Array, { start, item }: CompressedRows) {
  const boxStart = new Int32Array(own.length + 1);
  for (let node = 0; node < own.length; node++) if (own[node]! >= 0) boxStart[node + 1]!++;
  for (const node of item) boxStart[node + 1]!++;
  for (let node = 0; node < own.length; node++) boxStart[node + 1]! += boxStart[node]!;
  const next = boxStart.slice();
  const boxes = new Int32Array(boxStart[own.length]!);
  for (let node = 0; node < own.length; node++) {
    if (own[node]! >= 0) boxes[next[node]!++] = own[node]!;
  }
  for (let box = 0; box + 1 < start.length; box++) {
    for (let row = start[box]!; row < start[box + 1]!; row++) boxes[next[item[row]!]!++] = box;
  }
  return { boxStart, boxes };
}

function framesOf(
  { groupParent, nodeGroup }: GraphColumns,
  closedBy: Int32Array | null,
  held: Int32Array,
  boxGroup: readonly number[],
  boxNode: Int32Array,
) {
  const frameOfGroup = new Int32Array(groupParent.length).fill(-1);
  const group: number[] = [];
  const parent: number[] = [];
  /** Frame by group: the innermost frame around its direct content. */
  const within = new Int32Array(groupParent.length).fill(-1);
  for (let at = 0; closedBy && at < groupParent.length; at++) {
    const around = groupParent[at]! < 0 ? -1 : within[groupParent[at]!]!;
    within[at] = around;
    if (closedBy[at]! >= 0 || held[at]! < 2) continue;
    within[at] = frameOfGroup[at] = group.length;
    group.push(at);
    parent.push(around);
  }
  const frameOf = Int32Array.from(boxGroup, (group, box) => {
    const around = group < 0 ? nodeGroup[boxNode[box]!]! : groupParent[group]!;
    return around < 0 ? -1 : within[around]!;
  });
  return {
    frames: { group: Int32Array.from(group), parent: Int32Array.from(parent) },
    frameOf,
    frameOfGroup,
  };
}

function* drawnEdges(
  graph: GraphColumns,
  own: Int32Array,
  boxGroup: readonly number[],
  isFolded: Uint8Array,
  isShown: Uint8Array,
  count: number,
  bridges: readonly Bridge[],
) {
  const [source, target, slot, style, edge]: number[][] = [[], [], [], [], []];
  const dangling = new Int32Array(count);
  const [cutInto, cutOutOf] = [new Uint8Array(count), new Uint8Array(count)];
  /** Outputs of a closed group: by entry, and their number. */
  const outputOf = new Map<number, number>();
  const outputs = new Int32Array(count);
  const drawn = new Set<number>();
  const add = (
    from: number,
    to: number,
    output: number,
    entry: number,
    member: number,
    row: number,
  ) => {
    if (from === to && boxGroup[from]! >= 0) return;
    let at = output;
    if (boxGroup[from]! >= 0 || boxGroup[to]! >= 0) {
      const key = (STYLES * entry + member) * count + to;
      if (drawn.has(key)) return;
      drawn.add(key);
    }
    if (boxGroup[from]! >= 0 && member !== EdgeStyle.CONTROL) {
      const known = outputOf.get(entry);
      at = known ?? outputs[from]!++;
      if (known === undefined) outputOf.set(entry, at);
    }
    source!.push(from);
    target!.push(to);
    slot!.push(STYLES * at + member);
    style!.push(member);
    edge!.push(row);
  };
  const [leads, led] = [new Uint8Array(own.length), new Uint8Array(own.length)];
  for (const bridge of bridges) leads[bridge.source] = led[bridge.target] = 1;
  for (let row = 0; row < graph.edgeSource.length; row++) {
    if (row % STRIDE === 0) yield;
    const [from, to] = [graph.edgeSource[row]!, graph.edgeTarget[row]!];
    if ((from >= 0 && isFolded[from]) || isFolded[to]) continue;
    if (!isShown[to]) {
      if (from >= 0 && isShown[from] && !leads[from]) cutOutOf[own[from]!] = 1;
    } else if (from < 0) dangling[own[to]!]! += 1;
    else if (!isShown[from]) {
      if (!led[to]) cutInto[own[to]!] = 1;
    } else {
      const style = graph.edgeTrust[row] === Trust.AMBIGUOUS ? EdgeStyle.AMBIGUOUS : EdgeStyle.DATA;
      const output = graph.edgeOutput[row]!;
      add(own[from]!, own[to]!, output, graph.entryOffsets[from]! + output, style, row);
    }
  }
  const entries = graph.entryOffsets.at(-1) ?? 0;
  for (let row = 0; row < graph.controlSource.length; row++) {
    if (row % STRIDE === 0) yield;
    const [from, to] = [graph.controlSource[row]!, graph.controlTarget[row]!];
    if (!isShown[from] || !isShown[to] || own[from]! < 0 || own[to]! < 0) continue;
    add(own[from]!, own[to]!, 0, entries + own[from]!, EdgeStyle.CONTROL, -1);
  }
  for (const bridge of bridges) {
    const [from, to] = [own[bridge.source]!, own[bridge.target]!];
    if (from < 0 || to < 0 || from === to) continue;
    add(from, to, 0, entries + from, EdgeStyle.BRIDGE, -1 - bridge.through);
  }
  return {
    edgeSource: Int32Array.from(source!),
    edgeTarget: Int32Array.from(target!),
    edgeSlot: Int32Array.from(slot!),
    edgeStyle: Uint8Array.from(style!),
    edge: Int32Array.from(edge!),
    dangling,
    cutInto,
    cutOutOf,
  };
}

/** Texts of one box, equal in every color mode so that a change of colors moves nothing. */
export interface BoxText {
  title: string;
  mark: string;
  /** True if one of its outputs is an output of the graph. */
  head: boolean;
  shape: string;
  time: string;
  /** Parameters folded into the box; at the right of the second line. */
  badge: string;
  /** Second line of a custom label; may be empty. */
  own?: string;
  /** Lines of the title in a compact box. */
  lines?: readonly string[];
}
