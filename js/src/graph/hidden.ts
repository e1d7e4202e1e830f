import { NodeKind } from "../shared/run_client.ts";
import type { GraphModel } from "./model.ts";
import { Evaluation, needsMore } from "./query/evaluate.ts";
import { parse } from "./query/parser.ts";
import { inSlices } from "./slices.ts";

/** Which nodes the queries find, one a node, and parameters that only those read; null where there are no queries. */
export async function hiddenNodes(
  { graph, facts, fetchFacts }: GraphModel,
  queries: readonly string[],
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  if (queries.length === 0) return null;
  const found = new Uint8Array(graph.kinds.length);
  for (const query of queries) {
    const tree = parse(query);
    if (tree && needsMore(tree)) facts.more ??= await fetchFacts();
    if (!tree) continue;
    const nodes = await inSlices(new Evaluation(facts).nodes(tree), signal);
    for (const node of nodes) found[node] = 1;
  }
  const { kinds, edgeSource, edgeTarget } = graph;
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
