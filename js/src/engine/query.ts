/** Queries and regular expressions for `tvmdbg_widgets/analysis/query`; requests and answers are JSON. */
import { Links } from "../graph/data/links.ts";
import { Evaluation, type Extra, extras } from "../graph/query/evaluate.ts";
import { Facts } from "../graph/query/facts.ts";
import type { Vocabulary } from "../graph/query/fields.ts";
import { unknownNotes } from "../graph/query/notes.ts";
import { parse, type Query, QueryError } from "../graph/query/parser.ts";
import { StringColumn } from "../shared/client/columns.ts";
import type { GraphColumns } from "../shared/client/run_client.ts";
import type { Columns } from "../shared/client/wire.ts";
import { globRegex, Regex, RegexError } from "../shared/regex.ts";
import { finished } from "../shared/stretches.ts";
import { type Packed, unpacked } from "./packed.ts";

interface Reading {
  text: string;
  /** Null for that of graphs. */
  vocabulary: Vocabulary | null;
}

interface Search {
  pattern: string;
  isGlob: boolean;
  /** In lower case. */
  texts: readonly string[];
}

type Part = "nodes" | Extra;

interface Finding {
  /** Of the graph. */
  key: string;
  text: string;
  /** Columns that were asked for. */
  sent: { [part in Part]?: Packed & Pick<GraphColumns, "info"> };
}

/** Of groups and tensors nothing is known until a query asks for groups. */
const NO_GROUPS: Columns<"groups"> & Pick<GraphColumns, "hasTensor"> = {
  groupOrder: new Int32Array(0),
  groupStart: new Int32Array(0),
  groupEnd: new Int32Array(0),
  groupParent: new Int32Array(0),
  groupAlike: new Int32Array(0),
  groupRepeats: new Int32Array(0),
  groupSource: new Uint8Array(0),
  groupNames: new StringColumn(new Int32Array(0), []),
  nodeGroup: new Int32Array(0),
  hasTensor: new Uint8Array(0),
};

/** Graphs that are kept between two queries: a run, and one it is compared with. */
const MOST_KEPT = 2;
const kept = new Map<string, Facts>();

/** Gives the tree of a query; or what is wrong with it, and at which character. */
export function readQuery(request: string): string {
  const { text, vocabulary } = JSON.parse(request) as Reading;
  return answered(text, () => ({ tree: parse(text, vocabulary ?? undefined) }));
}

/** Gives the nodes that a query finds, which columns it needs first, or what is wrong with it and where. */
export function findNodes(request: string): string {
  const { key, text, sent } = JSON.parse(request) as Finding;
  return answered(text, () => {
    const tree = parse(text);
    if (!tree) return { nodes: [], unknown: {}, notes: [] };
    const facts = opened(key, sent);
    const needs = missing(tree, facts);
    if (!facts || needs.length) return { needs };
    const evaluation = new Evaluation(facts);
    const nodes = finished(evaluation.nodes(tree));
    return {
      nodes: Array.from(nodes),
      unknown: Object.fromEntries(evaluation.unknown),
      notes: unknownNotes(evaluation.unknown, facts.graph.kinds.length),
    };
  });
}

/** The graph of a key with what was sent of it; null where it is not kept. */
function opened(key: string, { nodes, groups, facts }: Finding["sent"]): Facts | null {
  const found = nodes
    ? new Facts(new Links({ ...NO_GROUPS, ...unpacked<"nodes">(nodes), info: nodes.info ?? null }))
    : kept.get(key);
  if (!found) return null;
  kept.delete(key);
  kept.set(key, found);
  for (const [old] of kept) if (kept.size > MOST_KEPT) kept.delete(old);
  if (groups) Object.assign(found.graph, unpacked<"groups">(groups));
  if (facts) found.more = unpacked<"facts">(facts);
  return found;
}

function missing(tree: Query, facts: Facts | null): Part[] {
  const all: Part[] = ["nodes", ...extras(tree)];
  if (!facts) return all;
  const held = {
    nodes: true,
    groups: facts.graph.nodeGroup.length === facts.graph.kinds.length,
    facts: !!facts.more,
  };
  return all.filter((part) => !held[part]);
}

function answered(text: string, answer: () => object): string {
  try {
    return JSON.stringify(answer(), written);
  } catch (error) {
    if (error instanceof QueryError) {
      return JSON.stringify({ error: error.message, at: characters(text, error.at) });
    }
    if (!(error instanceof RegexError)) throw error;
    const at = Math.max(0, text.indexOf("/"));
    return JSON.stringify({ error: error.message, at: characters(text, at) });
  }
}

/** Gives a 1 for each text that has a match, else a 0; or what is wrong with the expression, and where. */
export function searchTexts(request: string): string {
  const { pattern, isGlob, texts } = JSON.parse(request) as Search;
  try {
    const regex = new Regex(isGlob ? globRegex(pattern) : pattern);
    return JSON.stringify({
      found: texts.map((text) => (regex.search(text) ? "1" : "0")).join(""),
    });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return JSON.stringify({ error: error.message, at: characters(pattern, error.at) });
  }
}

/** How many characters, as Python counts them, come before a place. */
function characters(text: string, at: number): number {
  return [...text.slice(0, at)].length;
}

/** JSON has no infinite numbers. */
function written(_key: string, value: unknown): unknown {
  return value === Infinity || value === -Infinity ? String(value) : value;
}
