import type { Entry } from "../client/run_client.ts";

interface About {
  entries: readonly Entry[];
}

/** What is selected for a finding or a highlight: all its nodes, of which the one it is about comes last, and that one's entry. */
export function selectionOf(
  nodes: readonly number[],
  finding: About | null,
): { nodes: number[]; entry: Entry } | null {
  const first = nodes[0] ?? finding?.entries[0]?.[0];
  if (first === undefined) return null;
  const others = nodes.filter((node) => node !== first);
  return { nodes: [...others, first], entry: entryOf(finding, first) };
}

/** The entry that a finding speaks of at a node; its first output where it does not say. */
export function entryOf(finding: About | null, node: number): Entry {
  return finding?.entries.find(([each]) => each === node) ?? [node, 0];
}
