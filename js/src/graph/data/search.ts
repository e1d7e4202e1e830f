import { errorText } from "../../shared/client/message.ts";
import { isAbort } from "../../shared/client/request.ts";
import { inStretches } from "../../shared/stretches.ts";
import { Evaluation, extras } from "../query/evaluate.ts";
import { unknownNotes } from "../query/notes.ts";
import { parse, QueryError } from "../query/parser.ts";
import type { GraphModel } from "./model.ts";

/** What a query finds, or what is wrong with it. */
export interface Found {
  /** Ids, ascending. */
  nodes: Int32Array;
  /** See `unknownNotes`. */
  notes: string[];
  problem: string;
  /** Where in the text the problem is, -1 where that has no place. */
  at: number;
}

export const NOTHING: Found = { nodes: new Int32Array(0), notes: [], problem: "", at: -1 };

/** Evaluates a query in slices; rejects only where it is aborted. */
export async function find(model: GraphModel, text: string, signal: AbortSignal): Promise<Found> {
  try {
    const { nodes, unknown } = await evaluated(model, text, signal);
    return { ...NOTHING, nodes, notes: unknownNotes(unknown, model.graph.kinds.length) };
  } catch (error) {
    if (isAbort(error)) throw error;
    return {
      ...NOTHING,
      problem: errorText(error),
      at: error instanceof QueryError ? error.at : -1,
    };
  }
}

/** The nodes that a query finds, and of how many nodes a field that it compares is unknown; in slices. */
export async function evaluated(
  model: GraphModel,
  text: string,
  signal: AbortSignal,
): Promise<{ nodes: Int32Array; unknown: ReadonlyMap<string, number> }> {
  const tree = parse(text);
  if (!tree) return { nodes: NOTHING.nodes, unknown: new Map() };
  if (extras(tree).has("facts")) {
    model.facts.more ??= await model.fetchFacts();
    if (!model.facts.more) throw new Error("attributes, layouts and sizes are not known here");
  }
  const evaluation = new Evaluation(model.facts);
  return { nodes: await inStretches(evaluation.nodes(tree), signal), unknown: evaluation.unknown };
}
