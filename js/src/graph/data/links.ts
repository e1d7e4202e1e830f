import { type GraphColumns, GroupSource, NodeKind } from "../../shared/client/answers.ts";
import type { Isolation } from "../../shared/client/options.ts";
import { groupBy } from "../layout/adjacency.ts";

export class Links {
  /** Edges into node n are `inStart[n]` to `inStart[n + 1] - 1`. */
  readonly inStart: Int32Array;
  readonly #outStart: Int32Array;
  readonly #outEdges: Int32Array;

  constructor(readonly graph: GraphColumns) {
    const nodes = graph.kinds.length;
    const { edgeSource, edgeTarget } = graph;
    const out = groupBy(nodes, edgeSource);
    this.inStart = groupBy(nodes, edgeTarget).start;
    this.#outStart = out.start;
    this.#outEdges = out.item;
  }

  range(node: number): [first: number, end: number] {
    return [this.inStart[node]!, this.inStart[node + 1]!];
  }

  into(node: number): number[] {
    const [start, end] = this.range(node);
    return Array.from({ length: end - start }, (_, i) => start + i);
  }

  outOf(node: number): Int32Array {
    return this.#outEdges.subarray(this.#outStart[node]!, this.#outStart[node + 1]!);
  }
}

/** The node of a row, the first of several. */
export const idOf = ({ nodeId }: GraphColumns, row: number): number => nodeId?.[row] ?? row;

export const rowOf = ({ nodeRow }: GraphColumns, node: number): number => nodeRow?.[node] ?? node;

/** Number of nodes in some rows. */
export function nodesIn({ nodeCount }: GraphColumns, rows: ArrayLike<number>): number {
  if (!nodeCount) return rows.length;
  let count = 0;
  for (let at = 0; at < rows.length; at++) count += nodeCount[rows[at]!]!;
  return count;
}

/** Limit of followed edges. */
const MOST_FOLLOWED = 1_000_000;
const STRIDE = 16_384;

/** Connection of two shown nodes through hidden ones, with their number. */
export interface Bridge {
  source: number;
  target: number;
  through: number;
}

/** Edges over hidden nodes, by ascending source; incomplete if the search takes too long. */
export function* bridges(links: Links, hidden: Uint8Array): Generator<void, Bridge[]> {
  const { edgeSource, edgeTarget } = links.graph;
  const bridges: Bridge[] = [];
  const ahead = new Int32Array(hidden.length);
  const behind = new Int32Array(hidden.length);
  let mark = 0;
  let followed = 0;
  let pause = 0;
  for (let start = 0; start < hidden.length; start++) {
    if (start % STRIDE === 0) yield;
    if (hidden[start]) continue;
    mark += 1;
    const ends = new Set<number>();
    let work = [start];
    while (work.length && followed <= MOST_FOLLOWED) {
      if (followed >= pause) {
        pause = followed + STRIDE;
        yield;
      }
      const node = work.pop()!;
      const edges = links.outOf(node);
      if (node !== start) followed += edges.length;
      for (let at = 0; at < edges.length; at++) {
        const other = edgeTarget[edges[at]!]!;
        if (!hidden[other]) {
          if (node !== start && other !== start) ends.add(other);
        } else if (ahead[other] !== mark) {
          ahead[other] = mark;
          work.push(other);
        }
      }
    }
    for (const target of Int32Array.from(ends).sort()) {
      let through = 0;
      work = [target];
      const stamp = bridges.length + 1;
      while (work.length && followed <= MOST_FOLLOWED) {
        if (followed >= pause) {
          pause = followed + STRIDE;
          yield;
        }
        const [first, end] = links.range(work.pop()!);
        followed += end - first;
        for (let edge = first; edge < end; edge++) {
          const other = edgeSource[edge]!;
          if (other < 0 || ahead[other] !== mark || behind[other] === stamp) continue;
          behind[other] = stamp;
          through += 1;
          work.push(other);
        }
      }
      if (followed > MOST_FOLLOWED) return bridges;
      bridges.push({ source: start, target, through });
    }
  }
  return bridges;
}

export type { Isolation };

/** Distance in edges from the nearest start, or -1; paths do not continue through parameters. */
export function levels(
  links: Links,
  starts: readonly number[],
  { up = false, down = false, hops = Number.POSITIVE_INFINITY },
): Int32Array {
  const { kinds, edgeSource, edgeTarget } = links.graph;
  const level = new Int32Array(kinds.length).fill(-1);
  const queue = new Int32Array(kinds.length);
  let end = 0;
  const reach = (node: number, at: number) => {
    if (node < 0 || level[node]! >= 0) return;
    level[node] = at;
    if (at === 0 || kinds[node] !== NodeKind.PARAMETER) queue[end++] = node;
  };
  for (const node of starts) reach(node, 0);
  for (let row = 0; row < end; row++) {
    const node = queue[row]!;
    const next = level[node]! + 1;
    if (next > hops) break;
    const [first, last] = links.range(node);
    if (up) for (let edge = first; edge < last; edge++) reach(edgeSource[edge]!, next);
    if (down) for (const edge of links.outOf(node)) reach(edgeTarget[edge]!, next);
  }
  return level;
}

/** Flags of the nodes in the part, in steps; parameters come with their readers. */
export function* isolated(
  links: Links,
  { kind, nodes, hops }: Isolation,
): Generator<void, Uint8Array> {
  const { kinds, edgeSource, edgeTarget } = links.graph;
  const shown = new Uint8Array(kinds.length);
  if (kind === "path") {
    const [start, end] = [nodes[0]!, nodes[1]!];
    for (const [first, last] of [
      [start, end],
      [end, start],
    ] as const) {
      const after = levels(links, [first], { down: true });
      yield;
      if (after[last]! < 0) continue;
      const before = levels(links, [last], { up: true });
      for (let node = 0; node < shown.length; node++) {
        if (after[node]! >= 0 && before[node]! >= 0) shown[node] = 1;
      }
      yield;
    }
  } else {
    const ways = {
      up: kind !== "downstream",
      down: kind !== "upstream",
      hops: kind === "around" ? (hops ?? 1) : undefined,
    };
    const level = levels(links, nodes, ways);
    for (let node = 0; node < shown.length; node++) shown[node] = level[node]! < 0 ? 0 : 1;
  }
  yield;
  const isParameter = (node: number) => kinds[node] === NodeKind.PARAMETER;
  for (let edge = 0; edge < edgeTarget.length; edge++) {
    const [source, target] = [edgeSource[edge]!, edgeTarget[edge]!];
    if (source >= 0 && isParameter(source) && shown[target] && !isParameter(target))
      shown[source] = 1;
  }
  return shown;
}

/** Flags of shown nodes (null for all) without hidden ones, which lose the flags of nodes outside; and bridges. */
export function* shownPart(
  links: Links,
  isolation: Isolation | null,
  hidden: Uint8Array | null,
): Generator<void, { only: Uint8Array | null; bridges: Bridge[] }> {
  const part = isolation && (yield* isolated(links, isolation));
  if (!hidden) return { only: part, bridges: [] };
  const only = hidden.map((isHidden, node) => (part && !part[node] ? 0 : 1 - isHidden));
  if (part) for (let node = 0; node < part.length; node++) hidden[node]! &= part[node]!;
  return { only, bridges: yield* bridges(links, hidden) };
}

/** Length of the shortest path between two nodes, in either direction; or -1. */
export function between(links: Links, start: number, end: number): number {
  const away = levels(links, [start], { down: true })[end]!;
  return away < 0 ? levels(links, [end], { down: true })[start]! : away;
}

const FIRST_LOOK = 30;

export class Groups {
  readonly graph: GraphColumns;
  readonly count: number;
  readonly last: Int32Array;
  /** Kinds of groups, numbered by first occurrence: blocks of one structure, and runs of such blocks. */
  readonly kind: Int32Array;
  readonly kinds: number;
  readonly #ns: Float64Array;

  constructor(graph: GraphColumns) {
    const { groupParent, groupAlike, groupSource, groupOrder, nodeNs, nodeCount } = graph;
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
      // Stretches of a condensed graph are of no kind.
      if (alike >= 0 && !kinds.has(alike)) kinds.set(alike, kinds.size);
      this.kind[group] = kinds.get(alike) ?? -1;
    }
    this.kinds = kinds.size;
    this.#ns = new Float64Array(groupOrder.length + 1);
    for (let row = 0; row < groupOrder.length; row++) {
      const node = groupOrder[row]!;
      const ns = nodeNs[node]! * (nodeCount?.[node] ?? 1);
      this.#ns[row + 1] = this.#ns[row]! + (ns > 0 ? ns : 0);
    }
  }

  has(group: number): boolean {
    return Number.isInteger(group) && group >= 0 && group < this.count;
  }

  nodes(group: number): Int32Array {
    const { groupOrder, groupStart, groupEnd } = this.graph;
    return groupOrder.subarray(groupStart[group]!, groupEnd[group]!);
  }

  ns(group: number): number {
    const { groupStart, groupEnd, groupTogether } = this.graph;
    const alone = this.#ns[groupEnd[group]!]! - this.#ns[groupStart[group]!]!;
    return alone + (groupTogether?.[group] ?? 0);
  }

  title(group: number): string {
    const { groupNames, groupRepeats } = this.graph;
    const repeats = groupRepeats[group]!;
    return `${groupNames.at(group)}${repeats > 1 ? ` × ${repeats}` : ""}`;
  }

  /** Letters of the group's kind: A … Z, AA, AB … */
  tag(group: number): string {
    let tag = "";
    for (let rest = this.kind[group]! + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
      tag = String.fromCharCode(65 + ((rest - 1) % 26)) + tag;
    }
    return tag;
  }

  /** All groups of the same kind; only runs for a run, only blocks for a block. */
  ofKind(group: number): number[] {
    const isRun = (block: number) => this.graph.groupSource[block] === GroupSource.REPEAT;
    return Array.from(this.kind.keys()).filter(
      (key) => this.kind[key] === this.kind[group] && isRun(key) === isRun(group),
    );
  }

  around(node: number): number[] {
    const { nodeGroup, groupParent } = this.graph;
    const groups: number[] = [];
    for (let group = nodeGroup[node]!; group >= 0; group = groupParent[group]!) groups.push(group);
    return groups;
  }

  /** By group: the outermost closed one of it and its ancestors; -1 if all of them are open. */
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

/** Outputs with boxes of their own even in closed groups; those of a delegate's call stay in the call's box. */
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
 * Automatic open states, the most open first and all closed last: 1 for open groups.  The groups of one depth are
 * opened together, from the outside in, while the picture has at most 30 boxes. A box is a node, except for parameters
 * with readers that are no output of the graph, or a closed group without its separate outputs; `shown` (all by
 * default) leaves nodes out.
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
  /** Boxes directly inside an open group, without the separate outputs. */
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
