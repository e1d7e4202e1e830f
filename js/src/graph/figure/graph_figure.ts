import { NodeKind } from "../../shared/client/answers.ts";
import { type FigurePanel, lacking, panelDrawing } from "../../shared/drawing/figure.ts";
import { counted, integer } from "../../shared/format.ts";
import { finished, largest } from "../../shared/many.ts";
import { idOf, isolated, rowOf } from "../data/links.ts";
import { compactWords } from "../layout/labels.ts";
import type { BoxTexts, GraphScene } from "../layout/scene.ts";
import { arrange, arrangeWhole } from "./arrange.ts";
import { describeScene, graphText } from "./description.ts";
import { emptyPanel, panelOf, picturePanel, SLOWEST, seenFrom } from "./picture_panel.ts";
import { type GraphRequest, GraphSheet, MANY_PARTS } from "./sheet.ts";

export function wordings({ words, model, request }: GraphSheet): BoxTexts[] {
  if (request.options.label.includes("\n")) return [words];
  const compact = [true, false].map((tells) => compactWords(words, model.labels, tells));
  return [words, ...compact];
}

/** Largest distance of shown nodes from the focus, in edges. */
const MOST_HOPS = 3;

function firstNodes(sheet: GraphSheet, most: number): Uint8Array {
  const { links, graph } = sheet.model;
  const { options } = sheet.request;
  const focus = options.focus === null ? null : rowOf(graph, options.focus);
  const within = sheet.gathered.only;
  const only = new Uint8Array(graph.kinds.length);
  if (focus === null) for (const node of sheet.boxed.subarray(0, most)) only[node] = 1;
  else {
    only[focus] = 1;
    for (let hops = 1; hops <= MOST_HOPS; hops++) {
      const around = finished(isolated(links, { kind: "around", nodes: [focus], hops }));
      const wider = around.map((is, node) => (within && !within[node] ? 0 : is));
      if (sheet.scene({ only: wider }).count > most) break;
      only.set(wider);
    }
  }
  if (!options.fold_parameters) return only;
  for (const [edge, target] of graph.edgeTarget.entries()) {
    const source = graph.edgeSource[edge]!;
    if (source >= 0 && only[target] && graph.kinds[source] === NodeKind.PARAMETER) only[source] = 1;
  }
  return only;
}

export function closedNote({ boxed }: GraphSheet, { count, group }: GraphScene): string {
  const closed = group.reduce((sum, parent) => sum + Number(parent >= 0), 0);
  if (!closed) return "";
  const drawn = `${counted(boxed.length, "box")} drawn as ${integer(count)}`;
  return `${counted(closed, "closed group")}: ${drawn}; times and shares of groups are sums.`;
}

export function sparedNote({ edgeSource }: GraphScene, left: number): string {
  if (!left) return "";
  const drawn = edgeSource.length;
  return `${integer(drawn)} of ${counted(drawn + left, "edge")} drawn: of those between the same two boxes only the first.`;
}

function condensedNote({ whole, request }: GraphSheet, { count }: GraphScene): string {
  const { fold_parameters, grouped } = request.options;
  const idle = [!fold_parameters && "fold_parameters", !grouped && "grouped"].filter(Boolean);
  const drawn = `${counted(whole.boxes, "box")} drawn as ${integer(count)}`;
  return [
    `Condensed: ${drawn}, groups of consecutive nodes with their parameters; times and shares of groups are sums.`,
    "Edges between the same two boxes are drawn as one.",
    idle.length ? `Without effect here: ${idle.join(", ")}.` : "",
  ].join(" ");
}

/** Limit of the drawn edges of one style between two boxes; more would be a black area. */
const MOST_BETWEEN = 200;

/** A scene without excess edges between two boxes, and their number. */
function spared(scene: GraphScene, most = MOST_BETWEEN): { scene: GraphScene; left: number } {
  const between = new Map<number, number>();
  const keep: number[] = [];
  const { edgeSource, edgeTarget, edgeSlot, edgeStyle, edge, count } = scene;
  for (let edge = 0; edge < edgeSource.length; edge++) {
    const key = (edgeSource[edge]! * count + edgeTarget[edge]!) * 4 + edgeStyle[edge]!;
    const drawn = between.get(key) ?? 0;
    between.set(key, drawn + 1);
    if (drawn < most) keep.push(edge);
  }
  const left = edgeSource.length - keep.length;
  if (!left) return { scene, left };
  const kept = (column: Int32Array) => Int32Array.from(keep, (edge) => column[edge]!);
  const edges = {
    edgeSource: kept(edgeSource),
    edgeTarget: kept(edgeTarget),
    edgeSlot: kept(edgeSlot),
    edgeStyle: Uint8Array.from(keep, (edge) => edgeStyle[edge]!),
    edge: kept(edge),
  };
  return { scene: { ...scene, ...edges }, left };
}

/** Least number of boxes with closed groups; a graph with fewer is opened further, one with more is condensed. */
const FEWEST = 8;
const MOST = 90;

export interface OpenGroups {
  open: Uint8Array | null;
  boxes: number;
}

/** Open groups to try: the chosen ones (default: all, as a figure is fixed), then fewer and fewer depths. */
function* openings(sheet: GraphSheet): Generator<OpenGroups> {
  const { groups, graph } = sheet.model;
  const { grouped, open_groups: chosen } = sheet.request.options;
  const { length } = sheet.boxed;
  if (!grouped || groups.count === 0) {
    yield { open: null, boxes: length };
    return;
  }
  const first = new Uint8Array(groups.count).fill(chosen ? 0 : 1);
  for (const group of chosen ?? []) first[group] = 1;
  const depth = new Int32Array(groups.count);
  for (let group = 0; group < groups.count; group++) {
    const parent = graph.groupParent[group]!;
    depth[group] = parent < 0 ? 0 : depth[parent]! + 1;
  }
  let before = "";
  for (let most = largest(depth) + 1; most >= 0; most--) {
    const open = first.map((is, group) => (depth[group]! < most ? is : 0));
    const boxes = boxesWith(sheet, open);
    const isOdd = boxes < length && !chosen && !(boxes >= FEWEST && boxes <= MOST);
    const closed = groups
      .closedBy(open)
      .map((by) => (by < 0 ? 0 : 1))
      .join("");
    if (closed === before) continue;
    before = closed;
    if (!isOdd) yield { open, boxes };
  }
}

function boxesWith({ model, boxed }: GraphSheet, open: Uint8Array): number {
  const closedBy = model.groups.closedBy(open);
  const closed = new Set<number>();
  let boxes = 0;
  for (const node of boxed) {
    const group = model.graph.nodeGroup[node]!;
    const by = group < 0 ? -1 : closedBy[group]!;
    if (by < 0) boxes += 1;
    else closed.add(by);
  }
  return boxes + closed.size;
}

/** Heights of a graph, px; a larger one is used if a smaller one does not fit. */
const HEIGHTS = [806, 1120, 1700];
/** Numbers of boxes of a condensed graph, tried until they fit. */
const PARTS = [44, 24, MANY_PARTS, 6, 3];
const SOME = 20;
const MOST_EDGES = 100_000;
const BYTES_OF_EDGE = 12;

interface SizedPanel {
  panel: FigurePanel;
  width: number;
}

export async function graphFigure(request: GraphRequest): Promise<FigurePanel> {
  const { panel, width } = await fitting(request);
  return { ...panel, width };
}

export async function graphPanel(request: GraphRequest): Promise<FigurePanel> {
  return (await fitting(request)).panel;
}

async function fitting(request: GraphRequest): Promise<SizedPanel> {
  const sheet = await GraphSheet.of(request);
  if (!sheet) {
    const { missing } = await request.client.ask("summary");
    const why = missing.graph ?? "The graph has no nodes.";
    return { panel: lacking({ ...request, view: "graph" }, "No graph", why), width: request.width };
  }
  return sheetPanel(sheet);
}

export async function panelOfSheet(sheet: GraphSheet): Promise<FigurePanel> {
  return (await sheetPanel(sheet)).panel;
}

/** The first panel that fits: the complete graph, with closed groups, condensed. */
async function sheetPanel(sheet: GraphSheet): Promise<SizedPanel> {
  const { options, width } = sheet.request;
  const full = options.many ? null : first(sheet, openPanels(sheet));
  if (full) return full;
  const isPart = options.focus !== null && !options.many;
  const tries = isPart ? [] : PARTS.filter((most) => !options.many || most <= MANY_PARTS);
  for (const most of tries) {
    const parts = await sheet.condensed(most);
    const panel = first(sheet, scenePanels(parts, opened(parts)));
    if (panel) return panel;
  }
  return { panel: somePanel(sheet), width };
}

function first({ request }: GraphSheet, panels: Generator<SizedPanel>): SizedPanel | null {
  const { bytes } = request.options.most;
  for (const each of panels) {
    const { svg } = panelDrawing({ ...request, width: each.width }, each.panel);
    if (sizeOf(svg) <= bytes) return each;
  }
  return null;
}

function* openPanels(sheet: GraphSheet): Generator<SizedPanel> {
  const { most, focus, open_groups, whole } = sheet.request.options;
  for (const { open, boxes } of openings(sheet)) {
    if (boxes > most.boxes) continue;
    const isClosed = boxes < sheet.boxed.length;
    if (isClosed && focus !== null && open_groups === null && !whole) return;
    yield* scenePanels(sheet, open);
  }
}

/** Flags of the open groups of a condensed graph. */
function opened({ model }: GraphSheet): Uint8Array {
  const open = new Uint8Array(model.groups.count);
  for (const group of model.graph.info?.open ?? []) open[group] = 1;
  return open;
}

function* scenePanels(sheet: GraphSheet, open: Uint8Array | null): Generator<SizedPanel> {
  const { options, width } = sheet.request;
  const isCondensed = sheet.isCondensed;
  const own = isCondensed ? { open, fold: true } : { open };
  const most = isCondensed ? 1 : MOST_BETWEEN;
  const { scene, left } = spared(sheet.scene(own), most);
  if (scene.edgeSource.length > Math.min(MOST_EDGES, options.most.bytes / BYTES_OF_EDGE)) return;
  const variants = wordings(sheet).map((words, at) => () => {
    return at ? spared(sheet.scene({ ...own, words }), most).scene : scene;
  });
  const arranged = options.whole
    ? arrangeWhole(sheet, scene)
    : arrange(
        sheet,
        isCondensed ? variants.slice(0, 1) : variants,
        width,
        isCondensed ? HEIGHTS.slice(0, 2) : HEIGHTS,
      );
  if (!arranged) return;
  const { camera, placed } = arranged;
  camera.resize(Math.max(width, camera.width), camera.height);
  const isClosed = scene.group.some((group) => group >= 0);
  const note = isCondensed ? condensedNote(sheet, scene) : closedNote(sheet, scene);
  const words = {
    note: [note, isCondensed ? "" : sparedNote(scene, left)].filter(Boolean).join(" "),
    text: graphText(sheet, isClosed ? placed.scene : sheet.flat),
    facts: describeScene(sheet, placed.scene),
    below: isClosed ? SLOWEST : "",
  };
  const seen = seenFrom(sheet, arranged);
  for (const isTitled of [true, false]) {
    const all = { ...words, isTitled };
    if (seen) yield { panel: picturePanel(sheet, seen, all), width };
    else yield { panel: panelOf(sheet, arranged, all), width: camera.width };
  }
}

function somePanel(sheet: GraphSheet): FigurePanel {
  const { request, model } = sheet;
  const isFirst = request.options.focus === null;
  const which = isFirst ? "first in execution order" : "those around the focus";
  const text = graphText(sheet, sheet.flat);
  const below = (boxes: number) => {
    const drawnText = `Drawn: ${integer(boxes)} of ${counted(sheet.boxes, "box")}, ${which}.`;
    return model.times.known ? `${drawnText} ${SLOWEST}` : drawnText;
  };
  for (let most = SOME; most > 0; most >>= 1) {
    const only = firstNodes(sheet, most);
    const variants = wordings(sheet).map((words) => () => sheet.scene({ only, words }));
    const arranged = arrange(sheet, variants, request.width, HEIGHTS.slice(0, 1));
    if (!arranged) continue;
    const { scene } = arranged.placed;
    const facts = { drawn: Array.from(scene.node, (node) => idOf(model.graph, node)) };
    const words = { note: "", text, facts, below: below(scene.count), isTitled: true };
    return panelOf(sheet, arranged, words);
  }
  return emptyPanel(sheet, { note: "", text, facts: { drawn: [] }, below: below(0) });
}

/** Bytes of a text in UTF-8. */
export function sizeOf(text: string): number {
  let size = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7ff) size += 2;
    else if (code > 0x7f) size += 1;
  }
  return size;
}
