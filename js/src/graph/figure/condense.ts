import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { NodeKind } from "../../shared/client/answers.ts";
import { counted, entryText, givenText, integer } from "../../shared/format.ts";
import { addTo } from "../../shared/many.ts";
import { LEGIBLE_SCALE } from "../camera.ts";
import type { GraphModel } from "../data/model.ts";
import { BADGE_PADDING, GAP, TEXT_START } from "../layout/labels.ts";
import { type BoxText, foldedInto, type GraphScene } from "../layout/scene.ts";
import { type Cluster, type Clusters, joined, Runs } from "./clusters.ts";
import type { GraphSheet } from "./sheet.ts";

const OWN_INPUTS = 3;
const NAMED = 3;
/** Weight of all nodes by number, relative to that of their times. */
const COUNT_WEIGHT = 0.25;

export interface CondensedPart {
  nodes: number[];
  inside: number[];
  repeats: number;
  run: number;
  /** Sum of the known times, ns; NaN if none is known. */
  ns: number;
  own: string;
  shared: string;
  unknown: number;
  share: number;
  title: string;
  given: string;
  result: string;
}

export interface PartEdge {
  source: number;
  target: number;
  edge: number;
}

export interface CondensedGraph {
  parts: CondensedPart[];
  edges: PartEdge[];
  runs: number[];
  /** True if blocks feed each other: edges between them are not drawn. */
  isCarried: boolean;
  scene: GraphScene;
}

export function timeText({ given, ns, shared, own: ownTime, unknown }: CondensedPart): string {
  if (given) return given;
  if (Number.isNaN(ns) && !shared) return "time unknown";
  const own = ns === 0 && shared ? "" : ownTime;
  const times = [own, shared].filter(Boolean).join(" + ");
  return unknown ? `${times} + ${unknown} unknown` : times;
}

export function countText({ nodes }: CondensedPart): string {
  if (nodes.length === 1) return `#${nodes[0]}`;
  return `${counted(nodes.length, "node")} · #${nodes[0]} … #${nodes.at(-1)}`;
}

export function repeatText({ repeats }: CondensedPart): string {
  return repeats > 1 ? `× ${integer(repeats)}` : "";
}

export function condensed(model: GraphModel, scene: GraphScene, most: number): CondensedGraph {
  const { graph, groups, labels, times } = model;
  const boxOf = new Int32Array(graph.kinds.length).fill(-1);
  const outer: number[] = [];
  for (let box = 0; box < scene.count; box++) {
    const node = scene.node[box]!;
    if (graph.kinds[node]! <= NodeKind.PARAMETER) outer.push(box);
    else boxOf[node] = box;
  }
  const nodes = Array.from(graph.groupOrder).filter((node) => boxOf[node]! >= 0);
  const own = nodes.map((node) => boxOf[node]!);
  const even = COUNT_WEIGHT / Math.max(1, own.length);
  const weights = Float64Array.from(
    nodes,
    (node) => Math.max(0, times.ns[node]! || 0) / (times.total || 1) + even,
  );
  const given = givenClusters(model, scene, outer);
  const runs = new Runs(
    groups,
    nodes,
    nodes.map((node) => labels.title(node)),
  );
  const grouped = joined(runs, weights, Math.max(1, most - given.length));
  const clusters = [
    ...given,
    ...grouped.clusters.map((cluster) => ({
      ...cluster,
      boxes: cluster.boxes.map((at) => own[at]!),
    })),
  ];
  const place = new Int32Array(scene.count);
  for (const [at, box] of own.entries()) place[box] = at;
  const isDrawn = new Set(grouped.stretches.keys());
  return {
    parts: clusters.map((cluster) => partOf(model, scene, cluster)),
    ...edgesBetween(scene, clusters, grouped, place),
    runs: [...isDrawn],
    scene,
  };
}

/** Inputs, unread parameters, and memory that a program plans for itself. */
function givenClusters(
  { graph: { roles } }: GraphModel,
  scene: GraphScene,
  outer: readonly number[],
): Cluster[] {
  const clusters: Cluster[] = [];
  const add = (boxes: number[]) => clusters.push({ boxes, repeats: 1, run: -1, unit: 1 });
  const byRole = new Map<string, number[]>();
  for (const box of outer) {
    const role = roles.at(scene.node[box]!);
    if (role) addTo(byRole, role, box);
  }
  const places = roles.unique.filter((role) => byRole.has(role));
  for (const role of places) {
    const own = byRole.get(role)!;
    if (own.length <= (role === "input" ? OWN_INPUTS : 0)) for (const box of own) add([box]);
    else add(own);
  }
  return clusters;
}

function partOf(model: GraphModel, scene: GraphScene, cluster: Cluster): CondensedPart {
  const { graph, times } = model;
  const nodes = cluster.boxes.map((box) => scene.node[box]!).sort((a, b) => a - b);
  const unknown = nodes.filter((node) => Number.isNaN(times.shown[node]!)).length;
  const total = times.of(nodes);
  const given = givenText(graph, nodes[0]!);
  const last = nodes.at(-1)!;
  const hasOutput = graph.entryOffsets[last]! < graph.entryOffsets[last + 1]!;
  return {
    nodes,
    inside: [...new Set(cluster.boxes.flatMap((box) => Array.from(foldedInto(scene, box))))],
    repeats: cluster.repeats,
    run: cluster.run,
    ns: total,
    shared: times.together(nodes),
    unknown,
    own: times.text(total) || (total === 0 ? times.timeText(total) : ""),
    share: times.total > 0 ? total / times.total : Number.NaN,
    title:
      given && nodes.length > 1 ? several(nodes.length, given) : titleOf(model, cluster, nodes),
    given,
    result: hasOutput ? entryText(graph, last, 0) : "",
  };
}

function several(count: number, given: string): string {
  const [noun = "", rest = ""] = given.split(/(?= without )/);
  return `${counted(count, noun)}${rest}`;
}

function titleOf(model: GraphModel, cluster: Cluster, nodes: readonly number[]): string {
  const { groups, labels, times } = model;
  const isBlock = cluster.repeats === 1 && cluster.boxes.length > 1;
  const spent = new Map<string, { ns: number; count: number }>();
  for (const node of nodes) {
    const outer = isBlock ? (groups.around(node).at(-1) ?? -1) : -1;
    const name = outer < 0 ? labels.title(node) : groups.title(outer);
    const sum = spent.get(name) ?? { ns: 0, count: 0 };
    spent.set(name, { ns: sum.ns + Math.max(0, times.ns[node]! || 0), count: sum.count + 1 });
  }
  const names = [...spent].sort(
    ([a, one], [b, two]) => two.ns - one.ns || two.count - one.count || (a < b ? -1 : 1),
  );
  const listed = names.slice(0, NAMED).map(([name]) => name);
  const more = names.length - listed.length;
  return `${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function edgesBetween(
  scene: GraphScene,
  clusters: readonly Cluster[],
  { stretches }: Clusters,
  place: Int32Array,
): Pick<CondensedGraph, "edges" | "isCarried"> {
  const of = new Int32Array(scene.count);
  for (const [at, { boxes }] of clusters.entries()) for (const box of boxes) of[box] = at;
  const edges: PartEdge[] = [];
  const drawn = new Set<string>();
  let isCarried = false;
  for (let edge = 0; edge < scene.edgeSource.length; edge++) {
    const [from, to] = [scene.edgeSource[edge]!, scene.edgeTarget[edge]!];
    const [source, target] = [of[from]!, of[to]!];
    if (source === target) continue;
    const { run } = clusters[source]!;
    const stretch = run === clusters[target]!.run ? stretches.get(run) : undefined;
    if (stretch) {
      const block = (box: number) => Math.floor((place[box]! - stretch.start) / stretch.period);
      if (block(from) !== block(to)) {
        isCarried = true;
        continue;
      }
    }
    const key = `${source} ${target} ${scene.edgeStyle[edge]}`;
    if (drawn.has(key)) continue;
    drawn.add(key);
    edges.push({ source, target, edge });
  }
  return { edges, isCarried };
}

const { height, minWidth, maxWidth, padding } = tokens.node;
const { size: LARGE, small: SMALL } = tokens.font;

export function condensedScene(sheet: GraphSheet, condensedGraph: CondensedGraph): GraphScene {
  const { parts, edges, runs, scene } = condensedGraph;
  const { graph, groups } = sheet.model;
  const count = parts.length;
  const nodes = graph.kinds.length;
  const own = new Int32Array(nodes).fill(-1);
  for (const [box, part] of parts.entries()) for (const node of part.nodes) own[node] = box;
  const members = rowsOf(parts.map((part) => part.nodes));
  const folded = rowsOf(parts.map((part) => part.inside));
  const shown: number[][] = Array.from(own, (box) => (box < 0 ? [] : [box]));
  for (const [box, { inside }] of parts.entries())
    for (const node of inside) shown[node]!.push(box);
  const boxes = rowsOf(shown);
  const frameOfGroup = new Int32Array(groups.count).fill(-1);
  for (const [frame, run] of runs.entries()) frameOfGroup[run] = frame;
  const words = parts.map(wordsOf);
  const of = (column: Int32Array | Uint8Array) => edges.map(({ edge }) => column[edge]!);
  return {
    count,
    node: Int32Array.from(parts, (part) => part.nodes[0]!),
    group: new Int32Array(count).fill(-1),
    memberStart: members.start,
    members: members.items,
    boxStart: boxes.start,
    boxes: boxes.items,
    foldedStart: folded.start,
    folded: folded.items,
    compact: false,
    valued: false,
    text: (box) => words[box]!,
    width: Float32Array.from(words, (boxWords) => Math.min(maxWidth, widthOf(sheet, boxWords))),
    height: new Float32Array(count).fill(height),
    open: null,
    frames: { group: Int32Array.from(runs), parent: new Int32Array(runs.length).fill(-1) },
    frameOf: Int32Array.from(parts, ({ run }) => (run < 0 ? -1 : frameOfGroup[run]!)),
    boxOfGroup: new Int32Array(groups.count).fill(-1),
    frameOfGroup,
    edgeSource: Int32Array.from(edges, ({ source }) => source),
    edgeTarget: Int32Array.from(edges, ({ target }) => target),
    edgeSlot: Int32Array.from(of(scene.edgeStyle)),
    edgeStyle: Uint8Array.from(of(scene.edgeStyle)),
    edge: Int32Array.from(of(scene.edge)),
    dangling: new Uint8Array(count),
    cutInto: new Uint8Array(count),
    cutOutOf: new Uint8Array(count),
  };
}

function wordsOf(part: CondensedPart): BoxText {
  const facts = [timeText(part), countText(part), part.result].filter(Boolean).join(" · ");
  const badge = part.inside.length ? counted(part.inside.length, "param") : "";
  return {
    title: part.title,
    mark: repeatText(part),
    head: false,
    shape: facts,
    time: facts,
    badge,
  };
}

function widthOf({ request }: GraphSheet, { title, mark, shape, badge }: BoxText): number {
  const { text } = request;
  const extra = (words: string) => (words ? GAP + 2 * BADGE_PADDING + text.width(words, SMALL) : 0);
  const parts = shape.split(" · ").slice(0, 3).join(" · ");
  const second = (text.width(parts, SMALL) + extra(badge)) / LEGIBLE_SCALE;
  const wide = Math.max(text.width(title, LARGE) + extra(mark), second);
  return Math.ceil(Math.max(minWidth, TEXT_START + wide + padding));
}

function rowsOf(lists: readonly (readonly number[])[]) {
  const start = new Int32Array(lists.length + 1);
  for (const [row, list] of lists.entries()) start[row + 1] = start[row]! + list.length;
  return { start, items: Int32Array.from(lists.flat()) };
}
