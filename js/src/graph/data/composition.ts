import type { GraphModel } from "./model.ts";

/** The blocks of one name: how many there are, and what they hold together. */
export interface Part {
  name: string;
  blocks: number;
  nodes: number;
  /** Sum of the known times, nanoseconds. */
  ns: number;
}

/** A group of more than this share of the nodes says nothing of what the graph is made of: what is in it does. */
const ALL = 0.9;

/**
 * What a graph is made of: its blocks by name, each node counted once, in the outermost of them. Those that take most
 * of the time come first, those of most nodes where no times are known.
 */
export function composition({ groups, graph }: GraphModel): Part[] {
  const { groupParent, groupStart, groupEnd, groupNames, groupRepeats, kinds } = graph;
  const size = (group: number) => groupEnd[group]! - groupStart[group]!;
  let around = -1;
  for (let group = 0; group < groups.count; group++) {
    const isAll = size(group) > ALL * kinds.length && groups.last[group]! > group + 1;
    if (groupParent[group] === around && isAll && groupRepeats[group]! < 2) around = group;
  }
  const parts = new Map<string, Part>();
  for (let group = 0; group < groups.count; group++) {
    if (groupParent[group] !== around) continue;
    const name = groupNames.at(group);
    const part = parts.get(name) ?? { name, blocks: 0, nodes: 0, ns: 0 };
    part.blocks += groupRepeats[group]!;
    part.nodes += size(group);
    part.ns += groups.ns(group);
    parts.set(name, part);
  }
  return [...parts.values()].sort((a, b) => b.ns - a.ns || b.nodes - a.nodes);
}
