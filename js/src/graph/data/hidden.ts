import { NodeKind } from "../../shared/client/run_client.ts";
import type { GraphModel } from "./model.ts";
import { evaluated } from "./search.ts";

/** Which nodes the queries find, one a node, and parameters that only those read; null where there are no queries. */
export async function hiddenNodes(
  model: GraphModel,
  queries: readonly string[],
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  if (queries.length === 0) return null;
  const { kinds, edgeSource, edgeTarget } = model.graph;
  const found = new Uint8Array(kinds.length);
  for (const query of queries) {
    const { nodes } = await evaluated(model, query, signal);
    for (const node of nodes) found[node] = 1;
  }
  const isRead = new Uint8Array(kinds.length);
  for (let edge = 0; edge < edgeSource.length; edge++) {
    const source = edgeSource[edge]!;
    if (source >= 0) isRead[source]! |= found[edgeTarget[edge]!] ? 1 : 2;
  }
  for (let node = 0; node < found.length; node++) {
    if (kinds[node] === NodeKind.PARAMETER && isRead[node] === 1) found[node] = 1;
  }
  return found;
}
