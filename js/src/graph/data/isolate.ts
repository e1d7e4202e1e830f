import { NodeKind } from "../../shared/client/run_client.ts";
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

/** Which nodes are in the part, one a node, found in steps; parameters come with those that read them. */
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

/** The fewest edges on a path between two nodes, in either direction; -1 where there is none. */
export function between(links: Links, start: number, end: number): number {
  const away = levels(links, [start], { down: true })[end]!;
  return away < 0 ? levels(links, [end], { down: true })[start]! : away;
}
