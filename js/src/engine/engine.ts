/** The views' code without a DOM: `tvmdbg_widgets/engine.py` calls the exported functions. */
import "./text_decoder.ts";
import { Links, openStates } from "../graph/data/links.ts";
import { Evaluation, type Extra, extras } from "../graph/data/query_evaluation.ts";
import { Facts, type Vocabulary } from "../graph/data/query_fields.ts";
import { parse, type Query, QueryError, unknownNotes } from "../graph/data/query_parser.ts";
import { nodeColors } from "../graph/figure/figure_legend.ts";
import type { GraphRequest } from "../graph/figure/sheet.ts";
import type { GraphColumns } from "../shared/client/answers.ts";
import { Client } from "../shared/client/client.ts";
import { type ColumnHeader, fields, StringColumn } from "../shared/client/columns.ts";
import type { Columns, WIRE } from "../shared/client/wire.ts";
import {
  type Drawing,
  type FigureMaker,
  type FigurePanel,
  type FigureRequest,
  panelDrawing,
} from "../shared/drawing/figure.ts";
import { TextWidths } from "../shared/drawing/text_widths.ts";
import { finished, ofBytes } from "../shared/many.ts";
import { globRegex, Regex, RegexError } from "../shared/regex.ts";
import { byteMapFigure } from "./byte_map.ts";
import { begin, bytesOf, engineHost } from "./engine_host.ts";
import { sequenceFigure } from "./sequence_figure.ts";
import { structFigure } from "./struct_figure.ts";

export { fail, goOn, tell } from "./engine_host.ts";

/** Columns as packed by `tvmdbg_widgets/engine.py`, their buffer in base64. */
interface PackedColumns {
  columns?: ColumnHeader[];
  base64: string;
}

function unpacked<Answer extends keyof typeof WIRE>({
  columns = [],
  base64,
}: PackedColumns): Columns<Answer> {
  return fields(columns, [bytesOf(base64)]) as Columns<Answer>;
}

/** Figures without a live view; js/build.mjs adds those of the views. */
export const figures: Record<string, FigureMaker> = {
  bytes: byteMapFigure,
  sequence: sequenceFigure,
  struct: structFigure,
};

interface Reading {
  text: string;
  /** Null for the vocabulary of graphs. */
  vocabulary: Vocabulary | null;
}

interface Search {
  pattern: string;
  isGlob: boolean;
  /** In lower case. */
  texts: readonly string[];
}

type SentPart = "nodes" | Extra;

interface FindRequest {
  key: string;
  text: string;
}

interface KeepRequest {
  key: string;
  part: SentPart;
  columns: ColumnHeader[];
  info: NonNullable<GraphColumns["info"]>;
}

/** Placeholder for groups and tensors until a query needs groups. */
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

const MOST_KEPT = 2;
const kept = new Map<string, Facts>();

/** Parses a query; returns its tree, or an error with its position. */
export function readQuery(request: string): string {
  const { text, vocabulary } = JSON.parse(request) as Reading;
  return answered(text, () => ({ tree: parse(text, vocabulary ?? undefined) }));
}

/** Finds nodes by a query; returns their ids, the columns it needs first, or an error with its position. */
export function findNodes(request: string): string {
  const { key, text } = JSON.parse(request) as FindRequest;
  return answered(text, () => {
    const tree = parse(text);
    if (!tree) return { nodes: [], unknown: {}, notes: [] };
    const facts = kept.get(key) ?? null;
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

/** Keeps requested columns of a graph; the buffer is no part of the JSON, which would double its memory. */
export function keepColumns(request: string, base64: string): string {
  const { key, part, columns, info } = JSON.parse(request) as KeepRequest;
  const packed = { columns, base64 };
  const facts =
    part === "nodes"
      ? new Facts(new Links({ ...NO_GROUPS, ...unpacked<"nodes">(packed), info }))
      : kept.get(key);
  if (!facts) return "";
  kept.delete(key);
  kept.set(key, facts);
  for (const [old] of kept) if (kept.size > MOST_KEPT) kept.delete(old);
  if (part === "groups") Object.assign(facts.graph, unpacked<"groups">(packed));
  if (part === "facts") facts.more = unpacked<"facts">(packed);
  return "";
}

function missing(tree: Query, facts: Facts | null): SentPart[] {
  const all: SentPart[] = ["nodes", ...extras(tree)];
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

function characters(text: string, at: number): number {
  return [...text.slice(0, at)].length;
}

/** JSON has no infinite numbers. */
function written(_key: string, value: unknown): unknown {
  return value === Infinity || value === -Infinity ? String(value) : value;
}

/** Begins one figure, for `figures/engine.py`; `request` is JSON, the answer as of `goOn`. */
export function draw(view: string, request: string): string {
  if (!Object.hasOwn(figures, view)) throw new Error(`no view ${view} draws figures`);
  return drawn(view, figures[view]!, request);
}

/** Begins the colors and values of nodes, for `export/nodes.py`. */
export function colorsOfNodes(request: string): string {
  return begin(() => nodeColors(opened("graph", request) as GraphRequest));
}

/** Automatic open states of groups, for `analysis/view_columns.py`. */
export function openGroups(graph: string): string {
  const [open] = openStates(unpacked<"graph">(JSON.parse(graph)));
  return JSON.stringify(Array.from(open!.keys()).filter((group) => open![group]));
}

export function drawn(view: string, maker: FigureMaker, request: string): string {
  return begin(() => {
    const wanted = opened(view, request);
    const made = maker(wanted);
    const drawing = (panel: FigurePanel) => sent(panelDrawing(wanted, panel));
    return made instanceof Promise ? made.then(drawing) : drawing(made);
  });
}

function sent({ images = [], ...drawing }: Drawing): object {
  const written = images.map(({ cols, rows, pixels }) => ({ cols, rows, base64: base64(pixels) }));
  return { ...drawing, images: written };
}

function opened(view: string, request: string): FigureRequest {
  return { ...JSON.parse(request), view, client: new Client(engineHost), text: new TextWidths() };
}

function base64(bytes: Uint8ClampedArray): string {
  const { buffer, byteLength, byteOffset } = bytes;
  const plain = new Uint8Array(buffer, byteOffset, byteLength) as Uint8Array & {
    toBase64?: () => string;
  };
  if (plain.toBase64) return plain.toBase64();
  return btoa(ofBytes(plain));
}
