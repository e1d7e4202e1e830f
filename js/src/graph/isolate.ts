import { NodeKind } from "../shared/run_client.ts";
import type { Links } from "./links.ts";

/** The part of the graph that alone is shown. */
export interface Isolation {
  kind: "upstream" | "downstream" | "around" | "path";
  nodes: number[];
  hops: number | null;
}

/** How many edges each node is away from the nearest start, -1 where none leads to it; a parameter leads nowhere. */
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

/** Which nodes are in the part, one a node, and how many; parameters come with those that read them. */
export function isolated(links: Links, { kind, nodes, hops }: Isolation): Uint8Array {
  const { kinds, edgeSource, edgeTarget } = links.graph;
  const shown = new Uint8Array(kinds.length);
  if (kind === "path") between(links, nodes[0]!, nodes[1]!, shown);
  else {
    const ways = {
      up: kind !== "downstream",
      down: kind !== "upstream",
      hops: kind === "around" ? (hops ?? 1) : undefined,
    };
    const level = levels(links, nodes, ways);
    for (let node = 0; node < shown.length; node++) shown[node] = level[node]! < 0 ? 0 : 1;
  }
  const isParameter = (node: number) => kinds[node] === NodeKind.PARAMETER;
  for (let edge = 0; edge < edgeTarget.length; edge++) {
    const [source, target] = [edgeSource[edge]!, edgeTarget[edge]!];
    if (source >= 0 && isParameter(source) && shown[target] && !isParameter(target))
      shown[source] = 1;
  }
  return shown;
}

/** Marks the nodes on any path between two, in either direction; gives the fewest edges of one, -1 where there is none. */
export function between(links: Links, start: number, end: number, shown?: Uint8Array): number {
  let shortest = -1;
  for (const [first, last] of [
    [start, end],
    [end, start],
  ] as const) {
    const after = levels(links, [first], { down: true });
    if (after[last]! < 0) continue;
    if (shortest < 0) shortest = after[last]!;
    if (!shown) break;
    const before = levels(links, [last], { up: true });
    for (let node = 0; node < shown.length; node++) {
      if (after[node]! >= 0 && before[node]! >= 0) shown[node] = 1;
    }
  }
  return shortest;
}
