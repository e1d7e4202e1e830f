import { type GraphColumns, NodeKind } from "../../shared/client/answers.ts";
import { errorText, isAbort } from "../../shared/client/request.ts";
import type { SessionClient } from "../../shared/client/session_client.ts";
import { inStretches } from "../../shared/many.ts";
import { shortName } from "../../shared/short_name.ts";
import { LISTED, type ListedHit } from "../../shell/hit_list.ts";
import { boxesOf, foldedInto, type GraphScene } from "../layout/scene.ts";
import type { GraphModel } from "./model.ts";
import { Evaluation, extras } from "./query_evaluation.ts";
import { parse, QueryError, unknownNotes } from "./query_parser.ts";

interface QueryResult {
  nodes: Int32Array;
  /** See `unknownNotes`. */
  notes: string[];
  problem: string;
  /** Position of the error in the text, or -1. */
  at: number;
}

const NOTHING: QueryResult = { nodes: new Int32Array(0), notes: [], problem: "", at: -1 };

/** Evaluates a query in slices; rejects only after an abort. */
export async function find(
  model: GraphModel,
  text: string,
  signal: AbortSignal,
): Promise<QueryResult> {
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

/** Matching nodes, and by compared field the number of nodes without a value; in slices. */
async function evaluated(
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

export async function matches(
  model: GraphModel,
  query: string,
  signal: AbortSignal,
): Promise<Int32Array> {
  return (await evaluated(model, query, signal)).nodes;
}

/** Flags of the nodes that queries find, and of parameters that only those read. */
export async function hiddenNodes(
  { kinds, edgeSource, edgeTarget }: GraphColumns,
  queries: readonly string[],
  matching: (query: string) => Promise<Int32Array>,
): Promise<Uint8Array | null> {
  if (queries.length === 0) return null;
  const flags = new Uint8Array(kinds.length);
  for (const query of queries) for (const node of await matching(query)) flags[node] = 1;
  const isRead = new Uint8Array(kinds.length);
  for (let edge = 0; edge < edgeSource.length; edge++) {
    const source = edgeSource[edge]!;
    if (source >= 0) isRead[source]! |= flags[edgeTarget[edge]!] ? 1 : 2;
  }
  for (let node = 0; node < flags.length; node++) {
    if (kinds[node] === NodeKind.PARAMETER && isRead[node] === 1) flags[node] = 1;
  }
  return flags;
}

const BUSY_MS = 150;
/** Letters of a name in the list of hits. */
const LETTERS = 40;

export class Hits {
  readonly #model: GraphModel;
  readonly #changed: () => void;
  #query = "";
  /** No hit was visited since the query was written. */
  #isNew = false;
  #isBusy = false;
  #running = new AbortController();
  result: QueryResult = NOTHING;
  ready: Promise<void> = Promise.resolve();
  boxes: ReadonlyMap<number, number> = new Map();

  constructor(model: GraphModel, changed: () => void) {
    this.#model = model;
    this.#changed = changed;
  }

  find(query: string): void {
    this.#isNew ||= this.#query !== query.trim();
    this.#query = query.trim();
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const busy = setTimeout(() => {
      this.#isBusy = true;
      this.#changed();
    }, BUSY_MS);
    signal.addEventListener("abort", () => clearTimeout(busy));
    this.ready = find(this.#model, query, signal).then(
      (result) => {
        if (signal.aborted) return;
        clearTimeout(busy);
        this.#isBusy = false;
        this.result = result;
        this.#changed();
      },
      () => {},
    );
  }

  stop(): void {
    this.#running.abort();
  }

  locate(scene: GraphScene): void {
    const boxes = new Map<number, number>();
    for (const node of this.result.nodes) {
      for (const box of boxesOf(scene, node)) boxes.set(box, (boxes.get(box) ?? 0) + 1);
    }
    this.boxes = boxes;
  }

  /** The boxes that keep their color; null without hits. */
  get lit(): ReadonlyMap<number, number> | null {
    return this.boxes.size ? this.boxes : null;
  }

  /** The first of them for a list, the slowest first; see `ListedHit`. */
  get ranked(): Int32Array {
    const { ns } = this.#model.times;
    return this.result.nodes.toSorted((a, b) => (ns[b] || 0) - (ns[a] || 0)).subarray(0, LISTED);
  }

  listed(): ListedHit[] {
    const { labels, graph, times } = this.#model;
    return Array.from(this.ranked, (node) => ({
      label: shortName(labels.numbered(node), LETTERS),
      kind: graph.opKinds.at(node),
      value: times.brief(times.ns[node]!),
      title: `${graph.names.at(node)} ${labels.shape(node)}`,
    }));
  }

  /** The hit after a node (null: the first), cyclic; a node with the searched id comes first. */
  next(node: number | null, by: number): number | null {
    const hits = this.result.nodes;
    if (hits.length === 0) return null;
    const isNew = this.#isNew;
    this.#isNew = false;
    const wanted = /^\d+$/.test(this.#query) ? Number(this.#query) : -1;
    if (isNew && by > 0 && hits.includes(wanted)) return wanted;
    const at = node === null ? -1 : hits.indexOf(node);
    if (at >= 0) return hits[(at + by + hits.length) % hits.length]!;
    const from = node ?? -1;
    const next = by > 0 ? hits.find((hit) => hit > from) : hits.findLast((hit) => hit < from);
    return next ?? (by > 0 ? hits[0]! : hits.at(-1)!);
  }

  /** `3/12` on the third hit, `–/12` beside the hits; empty without a search. */
  text(node: number | null): string {
    if (!this.#query) return "";
    if (this.#isBusy) return "…";
    if (this.result.problem) return "error";
    const hits = this.result.nodes;
    if (hits.length === 0) return "no hits";
    const at = node === null ? -1 : hits.indexOf(node);
    return `${at < 0 ? "–" : at + 1}/${hits.length}`;
  }
}

export function notedBoxes(scene: GraphScene, session: SessionClient, model: GraphModel): number[] {
  return session.notes
    .filter(([node]) => model.has(node))
    .flatMap(([node]) => Array.from(boxesOf(scene, node)));
}

export function notesAt(scene: GraphScene, session: SessionClient, box: number): string[] {
  return [scene.node[box]!, ...foldedInto(scene, box)]
    .map((node, i) => [i === 0 ? "note" : `note at #${node}`, session.note(node)] as const)
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name}: ${text}`);
}
