import { type GraphColumns, GroupSource, NodeKind } from "../../shared/client/run_client.ts";

/** Groups are opened up to so many boxes: as many as can be read at one look. */
const FIRST_LOOK = 30;

/** The nested groups of one graph, and what each holds. */
export class Groups {
  readonly graph: GraphColumns;
  readonly count: number;
  /** First group after those inside each group. */
  readonly last: Int32Array;
  /** Groups of one kind have blocks of the same structure: a run of blocks is of their kind. Numbered by first occurrence. */
  readonly kind: Int32Array;
  readonly kinds: number;
  /** Sums over the order of nodes: time in nanoseconds. */
  readonly #ns: Float64Array;

  constructor(graph: GraphColumns) {
    const { groupParent, groupAlike, groupSource, groupOrder, nodeNs } = graph;
    this.graph = graph;
    this.count = groupParent.length;
    this.last = new Int32Array(this.count);
    this.kind = new Int32Array(this.count);
    for (let group = this.count - 1; group >= 0; group--) {
      this.last[group] = Math.max(this.last[group]!, group + 1);
      const parent = groupParent[group]!;
      if (parent >= 0) this.last[parent] = Math.max(this.last[parent]!, this.last[group]!);
    }
    const kinds = new Map<number, number>();
    for (let group = 0; group < this.count; group++) {
      const isRun = groupSource[group] === GroupSource.REPEAT && this.last[group]! > group + 1;
      const alike = groupAlike[isRun ? group + 1 : group]!;
      if (!kinds.has(alike)) kinds.set(alike, kinds.size);
      this.kind[group] = kinds.get(alike)!;
    }
    this.kinds = kinds.size;
    this.#ns = new Float64Array(groupOrder.length + 1);
    for (const [row, node] of groupOrder.entries()) {
      this.#ns[row + 1] = this.#ns[row]! + (nodeNs[node]! > 0 ? nodeNs[node]! : 0);
    }
  }

  has(group: number): boolean {
    return Number.isInteger(group) && group >= 0 && group < this.count;
  }

  /** Its nodes, in the order that groups are intervals of. */
  nodes(group: number): Int32Array {
    const { groupOrder, groupStart, groupEnd } = this.graph;
    return groupOrder.subarray(groupStart[group]!, groupEnd[group]!);
  }

  /** Sum of the known times of its nodes, alone and together, nanoseconds. */
  ns(group: number): number {
    const { groupStart, groupEnd, groupTogether } = this.graph;
    const alone = this.#ns[groupEnd[group]!]! - this.#ns[groupStart[group]!]!;
    return alone + (groupTogether?.[group] ?? 0);
  }

  /** `residual block × 16`. */
  title(group: number): string {
    const { groupNames, groupRepeats } = this.graph;
    const repeats = groupRepeats[group]!;
    return `${groupNames.at(group)}${repeats > 1 ? ` × ${repeats}` : ""}`;
  }

  /** The letters that go with the color of its kind: A … Z, AA, AB … */
  tag(group: number): string {
    let tag = "";
    for (let rest = this.kind[group]! + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
      tag = String.fromCharCode(65 + ((rest - 1) % 26)) + tag;
    }
    return tag;
  }

  /** All groups of the kind of a group; runs only beside a run, blocks only beside a block. */
  ofKind(group: number): number[] {
    const isRun = (each: number) => this.graph.groupSource[each] === GroupSource.REPEAT;
    return Array.from(this.kind.keys()).filter(
      (each) => this.kind[each] === this.kind[group] && isRun(each) === isRun(group),
    );
  }

  /** The groups that a node is in, from the inside out. */
  around(node: number): number[] {
    const { nodeGroup, groupParent } = this.graph;
    const found: number[] = [];
    for (let group = nodeGroup[node]!; group >= 0; group = groupParent[group]!) found.push(group);
    return found;
  }

  /** Per group, the outermost closed one of it and those around it; -1 where all of them are open. */
  closedBy(open: Uint8Array): Int32Array {
    const { groupParent } = this.graph;
    const by = new Int32Array(this.count);
    for (let group = 0; group < this.count; group++) {
      const around = groupParent[group]! < 0 ? -1 : by[groupParent[group]!]!;
      by[group] = around >= 0 ? around : open[group] ? -1 : group;
    }
    return by;
  }
}

/** The outputs of the graph that have boxes of their own even where groups around them are closed: one that a call of a delegate computes is in its box. */
export function outputsApart({ headNode, nodeGroup, groupParent, groupSource }: GraphColumns) {
  const apart = new Set(headNode);
  for (const node of apart) {
    let group = node < 0 ? -1 : nodeGroup[node]!;
    while (group >= 0 && groupSource[group] !== GroupSource.DELEGATE) group = groupParent[group]!;
    if (group >= 0) apart.delete(node);
  }
  return apart;
}

/**
 * Which groups may be open where nobody has chosen, the most open state first and all closed last: 1 for open, one a group.
 *
 * The groups of one depth are opened together, from the outside in, as long as the picture has at most 30 boxes with
 * them. A box is a node, other than a parameter that some node reads and that is no output of the graph, or a closed
 * group, which holds no output that stands apart; `shown` (one a node, all by default) leaves nodes out.
 */
export function openStates(graph: GraphColumns, shown: Uint8Array | null = null): Uint8Array[] {
  const { groupParent, nodeGroup, kinds, edgeSource, headNode } = graph;
  const count = groupParent.length;
  const isBox = shown ? shown.slice() : new Uint8Array(kinds.length).fill(1);
  const isHead = new Set(headNode);
  const isApart = outputsApart(graph);
  for (const source of edgeSource) {
    if (source >= 0 && kinds[source] === NodeKind.PARAMETER && !isHead.has(source)) {
      isBox[source] = 0;
    }
  }
  /** Boxes right inside each group while it is open, without the outputs that are seen anyhow. */
  const inside = new Int32Array(count);
  let boxes = 0;
  for (let node = 0; node < kinds.length; node++) {
    if (!isBox[node]) continue;
    if (nodeGroup[node]! < 0 || isApart.has(node)) boxes += 1;
    else inside[nodeGroup[node]!]! += 1;
  }
  for (let group = count - 1; group >= 0; group--) {
    const parent = groupParent[group]!;
    if (inside[group] === 0) continue;
    if (parent < 0) boxes += 1;
    else inside[parent]! += 1;
  }
  const depth = new Int32Array(count);
  const more: number[] = [];
  for (let group = 0; group < count; group++) {
    const parent = groupParent[group]!;
    const at = parent < 0 ? 0 : depth[parent]! + 1;
    depth[group] = at;
    more[at] = (more[at] ?? 0) + Math.max(0, inside[group]! - 1);
  }
  const states = [new Uint8Array(count)];
  for (let opened = 1; opened <= more.length; opened++) {
    boxes += more[opened - 1]!;
    if (boxes > FIRST_LOOK) break;
    states.unshift(Uint8Array.from(depth, (at) => (at < opened ? 1 : 0)));
  }
  return states;
}
