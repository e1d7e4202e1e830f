import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { GraphColumns, MatchColumns, RunReplies } from "../../shared/client/answers.ts";
import { OWN_COLORS } from "../../shared/client/options.ts";
import type { HealthAnswer } from "../../shared/client/tensor_questions.ts";
import type { FigureRequest } from "../../shared/drawing/figure.ts";
import { figureTheme, type Theme } from "../../shared/drawing/theme.ts";
import { agree, counted, integer } from "../../shared/format.ts";
import { finished } from "../../shared/many.ts";
import type { Camera } from "../camera.ts";
import { Coloring, type GivenColumns, layoutName } from "../data/coloring.ts";
import type { BoxColors } from "../data/colors.ts";
import { NodeHealth } from "../data/health.ts";
import { hiddenNodes } from "../data/hits.ts";
import { type Bridge, type Isolation, nodesIn, rowOf, shownPart } from "../data/links.ts";
import { GraphModel } from "../data/model.ts";
import { readColumn } from "../data/node_columns.ts";
import type { PlacedScene } from "../layout/placed_scene.ts";
import {
  type BoxTexts,
  boxesOf,
  buildScene,
  foldedParameters,
  type GraphScene,
  type SceneOptions,
} from "../layout/scene.ts";
import type { Direction } from "../layout/types.ts";
import type { OverlayMarks } from "../paint/painter.ts";
import { Palette } from "../paint/palette.ts";
import type { GraphPicture } from "../paint/picture.ts";

/** Options of the view, checked, and the size of the figure; see `figures/graph.py`. */
export interface GraphFigureOptions {
  color_by: string;
  color_limits: [low: number, high: number] | null;
  /** Of a column that was given, to ask with. */
  color_number: number | null;
  direction: Direction;
  fold_parameters: boolean;
  label: string;
  /** Null: no choice was made. */
  open_groups: number[] | null;
  grouped: boolean;
  focus: number | null;
  /** Why there is no focus; may be empty. */
  lost: string;
  hops: number | null;
  isolate: Isolation | null;
  hidden: string[];
  search: string;
  selected: number[];
  outlined?: number[];
  whole: boolean;
  camera: { node: number; dx: number; dy: number; scale: number } | null;
  height: number;
  most: { boxes: number; bytes: number };
  /** Marks nodes by the health of their values. */
  judged: boolean;
  /** The graph has too many nodes to be asked for completely. */
  many: boolean;
}

export type GraphRequest = FigureRequest<GraphFigureOptions>;

const { size: LARGE, small: SMALL } = tokens.font;
const MOST_LISTED = 2000;
const MOST_QUOTED = 80;

/** Replies that a figure is drawn from, and the shown part. */
interface Gathered {
  model: GraphModel;
  /** Columns of Python that colors or labels show. */
  given: GivenColumns;
  health: HealthAnswer | null;
  hits: readonly number[] | Int32Array;
  /** Flags of shown nodes (null for all), and connections through hidden ones. */
  only: Uint8Array | null;
  bridges: readonly Bridge[];
  /** The shown part in words; may be empty. */
  part: string;
  notes: readonly string[];
}

/** Boxes of the picture of a graph with too many nodes to try it twice. */
export const MANY_PARTS = 12;

/** Contents of one graph's figure, with its texts and colors. */
export class GraphSheet {
  readonly request: GraphRequest;
  readonly model: GraphModel;
  readonly health: NodeHealth | null;
  readonly words: BoxTexts;
  readonly gathered: Gathered;
  readonly boxed: Int32Array;
  /** The sheet of the complete graph; itself unless this one is condensed. */
  readonly whole: GraphSheet;
  #flat: GraphScene | null = null;
  readonly #coloring: Coloring;
  readonly #kept = new Map<GraphScene, [light?: BoxColors, dark?: BoxColors]>();

  constructor(request: GraphRequest, gathered: Gathered, whole?: GraphSheet) {
    const { options } = request;
    const { model, given, health, only } = gathered;
    const { graph, labels, links, times } = model;
    this.request = request;
    this.gathered = gathered;
    this.whole = whole ?? this;
    this.model = model;
    this.#coloring = new Coloring(graph, times);
    const layout = this.#coloring.column("layout", given);
    labels.layoutOf = (node) => layoutName(graph, layout, node);
    this.words = labels.labelled(options.label);
    const node = health?.node.map((node) => rowOf(graph, node)) ?? new Int32Array();
    this.health = health ? new NodeHealth({ ...health, node }, graph.kinds.length) : null;
    const isShown = only?.slice() ?? new Uint8Array(graph.kinds.length).fill(1);
    const folded = options.fold_parameters ? foldedParameters(links, isShown) : [];
    for (let node = 0; node < folded.length; node++) if (folded[node]) isShown[node] = 0;
    const nodes = new Int32Array(graph.kinds.length);
    let count = 0;
    for (let node = 0; node < nodes.length; node++) if (isShown[node]) nodes[count++] = node;
    this.boxed = nodes.subarray(0, count);
  }

  /** Null if the run has no graph. */
  static async of(request: GraphRequest, beside: GivenColumns = {}): Promise<GraphSheet | null> {
    const { client, options } = request;
    const { focus, hops, hidden, search } = options;
    const graph = await askGraph(request, options.many ? MANY_PARTS : null);
    if (!graph?.kinds.length) return null;
    const health = options.judged ? await client.ask("health") : null;
    const found = search.trim() ? await client.ask("matches", { query: search }) : null;
    const failed: string[] = [];
    const left = await hiddenNodes(graph, hidden, async (query) => {
      const { nodes, info } = await client.ask("matches", { query });
      if (info.problem) failed.push(`Nothing is hidden by “${query}”: ${info.problem}.`);
      return nodes;
    });
    const near = focus !== null && hops !== null;
    const around = near ? { kind: "around" as const, nodes: [focus], hops } : null;
    const isolation = options.isolate ?? around;
    const model = modelOf(request, graph);
    const shown = finished(shownPart(model.links, isolation, left));
    const part = partText(model, hidden, isolation, left, failed, shown.only);
    const given = await askedColumns(request, graph, beside);
    const notes = [part, options.lost, found ? searchNote(search.trim(), found) : ""];
    const hits = found?.nodes ?? [];
    return new GraphSheet(request, {
      ...{ model, given, health, hits, part, notes: notes.filter(Boolean) },
      ...shown,
    });
  }

  /** The same graph with groups that leave at most so many boxes. */
  async condensed(most: number): Promise<GraphSheet> {
    if (this.request.options.many && most === MANY_PARTS) return this;
    const graph = (await askGraph(this.request, most))!;
    const { edgeSource, edgeOutput, edgeTarget, edgePosition, edgeTrust } = this.model.graph;
    // Those of the reply are edges between its boxes, of which some nodes may be hidden here.
    const edges = { edgeSource, edgeOutput, edgeTarget, edgePosition, edgeTrust };
    const model = modelOf(this.request, this.request.options.many ? graph : { ...graph, ...edges });
    return new GraphSheet(this.request, { ...this.gathered, model }, this.whole);
  }

  /** Number of nodes in `boxed`. */
  get boxes(): number {
    return nodesIn(this.model.graph, this.boxed);
  }

  get isCondensed(): boolean {
    return this.whole !== this || this.request.options.many;
  }

  get colorBy(): string {
    return this.request.options.color_by;
  }

  get flat(): GraphScene {
    if (!this.#flat) {
      const { length } = this.model.graph.kinds;
      const isCut = this.gathered.only === null && length > MOST_LISTED;
      const only = new Uint8Array(length).fill(1, 0, MOST_LISTED);
      this.#flat = this.scene(isCut ? { only } : {});
    }
    return this.#flat;
  }

  scene(own: Partial<SceneOptions> = {}): GraphScene {
    const { links, groups } = this.model;
    const { words, gathered } = this;
    const { only, bridges } = gathered;
    const { fold_parameters: fold } = this.request.options;
    return buildScene(links, { fold, groups, open: null, only, bridges, words, ...own });
  }

  colors(scene: GraphScene, theme: Theme): BoxColors {
    const kept = this.#kept.get(scene) ?? [];
    this.#kept.set(scene, kept);
    const { color_limits: limits } = this.request.options;
    const at = Number(theme.dark);
    kept[at] ??= this.#coloring.colors(
      { name: this.colorBy, given: this.gathered.given, limits },
      scene,
      new Palette(theme),
      this.#coloring.health(this.health, scene),
    );
    return kept[at];
  }

  theme(dark: boolean): Theme {
    return figureTheme(dark, this.request.text.font);
  }

  picture(placed: PlacedScene, camera: Camera, theme: Theme): GraphPicture {
    const { graph, groups, times } = this.model;
    const { scene } = placed;
    return {
      graph,
      groups,
      times,
      placed,
      camera,
      palette: new Palette(theme),
      colorBy: this.colorBy,
      colors: this.colors(scene, theme),
      health: this.#coloring.health(this.health, scene),
      highlight: null,
      isStill: true,
    };
  }

  /** Marks of the selection and the hits; a node's own box has no hit count. */
  marks({ scene }: PlacedScene): OverlayMarks {
    const { focus, selected, outlined = [] } = this.request.options;
    const { graph } = this.model;
    const counts = new Map<number, number>();
    for (const node of this.gathered.hits) {
      for (const box of boxesOf(scene, rowOf(graph, node)))
        counts.set(box, (counts.get(box) ?? 0) + 1);
    }
    const boxes = (nodes: readonly number[]) => {
      const [rows, found] = [new Set<number>(), new Set<number>()];
      // A million nodes share few rows.
      for (const node of nodes) rows.add(rowOf(graph, node));
      for (const row of rows) {
        const own = boxesOf(scene, row);
        for (let at = own.length - 1; at >= 0; at--) found.add(own[at]!);
      }
      return [...found];
    };
    return {
      selected: boxes([...(focus === null ? [] : [focus]), ...selected]),
      outlined: boxes(outlined),
      ...{ frame: -1, hovered: -1, hits: counts, noted: [] },
    };
  }
}

/** The graph, or groups that leave so many boxes, in which nodes of one color share rows. */
function askGraph({ client, options }: GraphRequest, most: number | null) {
  if (most === null) return client.ask("graph");
  const { color_by: color, color_limits: limits, judged } = options;
  if (!options.many) return client.ask("graph", { most });
  const layouts = options.label.includes("{layout}");
  if (color === "health") return client.ask("graph", { most, layouts });
  const isColumn = color !== "layout" && columnsOf(options).includes(color);
  const asked = isColumn ? questionOf(options, color) : { color };
  return client.ask("graph", { most, ...asked, limits, judged, layouts });
}

/** Names of columns that Python has. */
function columnsOf({ color_by: color, color_number: number, label }: GraphFigureOptions): string[] {
  const layout = label.includes("{layout}") ? ["layout"] : [];
  const isOwn = number === null && OWN_COLORS.includes(color);
  return [...new Set([...(isOwn ? [] : [color]), ...layout])];
}

function questionOf({ color_by: color, color_number: number }: GraphFigureOptions, name: string) {
  return name === color && number !== null ? { number } : { name };
}

/** The columns of colors and labels, of which `beside` are known. */
async function askedColumns(
  { client, options }: GraphRequest,
  graph: GraphColumns,
  beside: GivenColumns,
): Promise<GivenColumns> {
  const given = { ...beside };
  for (const name of columnsOf(options)) {
    // An answer with few rows brings its layouts and the column of its colors.
    if (given[name] || (name === "layout" && graph.entryLayouts)) continue;
    const { columnValues: values, columnCodes: codes, info } = graph;
    const isHere = name === options.color_by && info?.column && (values || codes);
    const answer = isHere
      ? { info: info.column!, ...(values ? { values } : { codes }) }
      : await client.ask("nodeColumn", questionOf(options, name));
    given[name] = readColumn(graph, name, answer as RunReplies["nodeColumn"]);
  }
  return given;
}

function modelOf({ text }: GraphRequest, graph: GraphColumns): GraphModel {
  return new GraphModel(graph, null, {
    title: (words) => text.width(words, LARGE),
    small: (words) => text.width(words, SMALL),
  });
}

function partText(
  { graph, describe }: GraphModel,
  queries: readonly string[],
  isolation: Isolation | null,
  hidden: Uint8Array | null,
  failed: readonly string[],
  only: Uint8Array | null,
): string {
  if (!only) return "";
  const count = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0);
  const words = [];
  if (isolation) words.push(`Only ${isolatedText(isolation, (node) => describe.short(node))}.`);
  if (hidden) {
    words.push(`Hidden: ${counted(count(hidden), "node")} (${queries.join(", ")}).`, ...failed);
  }
  words.push(`Shown: ${counted(count(only), "node")} of ${integer(graph.kinds.length)}.`);
  return words.join(" ");
}

function isolatedText({ kind, nodes, hops }: Isolation, title: (node: number) => string): string {
  const named = nodes.slice(0, 2).map(title).join(" and ");
  if (kind === "path") return `what lies between ${named}`;
  const several = nodes.length > 2 ? counted(nodes.length, "node") : named;
  if (kind === "around") return `what is within ${counted(hops ?? 1, "edge")} of ${several}`;
  return `${several} and what is ${kind}`;
}

function searchNote(query: string, { nodes, info }: MatchColumns): string {
  if (info.problem) return `The search “${query.slice(0, MOST_QUOTED)}”: ${info.problem}`;
  const found = `${counted(nodes.length, "node")} ${agree(nodes.length, "matches")} “${query}” (dashed ring).`;
  const unknown = info.notes.join("; ");
  return unknown ? `${found} ${unknown[0]!.toUpperCase()}${unknown.slice(1)}.` : found;
}
