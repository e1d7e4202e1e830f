import { errorText } from "../shared/message.ts";
import { isAbort } from "../shared/request.ts";
import type { GraphModel } from "./model.ts";
import { Evaluation, needsMore } from "./query/evaluate.ts";
import { parse, QueryError } from "./query/parser.ts";
import { inSlices } from "./slices.ts";

/** What a query finds, or what is wrong with it. */
export interface Found {
  /** Ids, ascending. */
  nodes: Int32Array;
  /** What it compares and is not known of all nodes: `5 nodes have no time`. */
  notes: string[];
  problem: string;
  /** Where in the text the problem is, -1 where that has no place. */
  at: number;
}

export const NOTHING: Found = { nodes: new Int32Array(0), notes: [], problem: "", at: -1 };

/** Evaluates a query in slices; rejects only where it is aborted. */
export async function find(model: GraphModel, text: string, signal: AbortSignal): Promise<Found> {
  try {
    const tree = parse(text);
    if (!tree) return NOTHING;
    if (needsMore(tree)) await more(model);
    const evaluation = new Evaluation(model.facts);
    const nodes = await inSlices(evaluation.nodes(tree), signal);
    const count = model.graph.kinds.length;
    const notes = Array.from(evaluation.unknown, ([field, unknown]) =>
      unknown === count
        ? `no node has a known ${field}`
        : `${unknown} of ${count} nodes have no ${field}`,
    );
    return { ...NOTHING, nodes, notes };
  } catch (error) {
    if (isAbort(error)) throw error;
    return {
      ...NOTHING,
      problem: errorText(error),
      at: error instanceof QueryError ? error.at : -1,
    };
  }
}

/** Reads what queries may ask beyond the graph, once. */
async function more(model: GraphModel): Promise<void> {
  model.facts.more ??= await model.fetchFacts();
  if (!model.facts.more) throw new Error("attributes, layouts and sizes are not known here");
}
