import { type Drawing, type FigurePanel, panelDrawing } from "../../shared/drawing/figure.ts";
import { counted, integer } from "../../shared/format.ts";
import { largest } from "../../shared/many.ts";
import type { BoxTexts } from "../placed/scene.ts";
import { arrange, arrangeWhole } from "./arrange.ts";
import { wordings } from "./box_texts.ts";
import { condensed } from "./condense/condense.ts";
import { condensedScene } from "./condense/scene.ts";
import { describeCondensed, describeScene } from "./description.ts";
import { firstNodes } from "./first_nodes.ts";
import { closedNote, condensedNote, sparedNote } from "./notes.ts";
import { openings } from "./openings.ts";
import { emptyPanel, panelOf, picturePanel, SLOWEST } from "./panel.ts";
import { seenFrom } from "./picture.ts";
import type { GraphRequest } from "./request.ts";
import { GraphSheet } from "./sheet.ts";
import { spared } from "./spared.ts";
import { condensedText, graphText } from "./text.ts";

/** How high a graph may be, px: the next where the one before does not hold it. */
const HEIGHTS = [806, 1120, 1700];
const CONDENSED_HEIGHT = 1100;
/** In how many parts a graph is condensed, until they fit. */
const PARTS = [44, 30, 20, 12, 6, 3];
/** Boxes of a part of a graph that is too large. */
const SOME = 20;
/** Edges that are drawn at all, and the fewest bytes that each takes. */
const MOST_EDGES = 100_000;
const BYTES_OF_EDGE = 12;

interface Sized {
  panel: FigurePanel;
  /** px. */
  width: number;
}

/** The graph of a run as a static figure: whole, with some groups closed, condensed, or a part of it. */
export function graphFigure(request: GraphRequest): Drawing {
  return fitting(request).drawing;
}

/** The same as a panel, to stand beside others. */
export function graphPanel(request: GraphRequest): FigurePanel {
  return fitting(request).panel;
}

/** The first that is no larger than it may be, else the last. */
function fitting(request: GraphRequest): { panel: FigurePanel; drawing: Drawing } {
  let found: { panel: FigurePanel; drawing: Drawing } | null = null;
  for (const { panel, width } of panels(new GraphSheet(request))) {
    found = { panel, drawing: panelDrawing({ ...request, width }, panel) };
    if (sizeOf(found.drawing.svg) <= request.data.most.bytes) break;
  }
  return found!;
}

/** What may be drawn of a graph, what tells most first. */
function* panels(sheet: GraphSheet): Generator<Sized> {
  const { data, options, width } = sheet.request;
  for (const { open, boxes } of openings(sheet)) {
    if (boxes > data.most.boxes) continue;
    const isClosed = boxes < sheet.boxed.length;
    if (isClosed && data.focus >= 0 && options.open_groups === null && !data.whole) break;
    yield* scenePanels(sheet, open);
  }
  if (data.focus < 0) yield* condensedPanels(sheet);
  yield { panel: somePanel(sheet), width };
}

function* scenePanels(sheet: GraphSheet, open: Uint8Array | null): Generator<Sized> {
  const { data, width } = sheet.request;
  const { scene, left } = spared(sheet.scene({ open }));
  if (scene.edgeSource.length > Math.min(MOST_EDGES, data.most.bytes / BYTES_OF_EDGE)) return;
  const worded = (words: BoxTexts) => spared(sheet.scene({ open, words })).scene;
  const variants = wordings(sheet).map((words) => () => worded(words));
  const found = data.whole ? arrangeWhole(sheet, scene) : arrange(sheet, variants, width, HEIGHTS);
  if (!found) return;
  const { camera, placed } = found;
  camera.resize(Math.max(width, camera.width), camera.height);
  const isClosed = scene.group.some((group) => group >= 0);
  const note = [closedNote(sheet, scene), sparedNote(scene, left)].filter(Boolean).join(" ");
  const told = {
    note,
    text: graphText(sheet, isClosed ? placed.scene : sheet.flat),
    facts: describeScene(sheet, placed.scene),
    below: isClosed ? SLOWEST : "",
  };
  const seen = seenFrom(sheet, found);
  for (const isTitled of [true, false]) {
    const all = { ...told, isTitled };
    if (seen) yield { panel: picturePanel(sheet, seen, all), width };
    else yield { panel: panelOf(sheet, found, all), width: camera.width };
  }
}

/** The whole graph as parts, each of several nodes. */
function* condensedPanels(sheet: GraphSheet): Generator<Sized> {
  const { width } = sheet.request;
  const flat = sheet.scene({ fold: true, words: unmeasured(sheet.words) });
  for (const most of PARTS) {
    const found = condensed(sheet.model, flat, most);
    const slowest = largest(
      found.parts.map(({ ns }) => ns || 0),
      0,
    );
    const scene = condensedScene(sheet, found);
    const placed = arrange(sheet, [() => scene], width, [CONDENSED_HEIGHT]);
    if (!placed) continue;
    if (sheet.colorBy === "time") sheet.limits.set(placed.placed.scene, [0, slowest]);
    const told = {
      note: condensedNote(found),
      text: condensedText(sheet, found, placed.placed.scene),
      facts: describeCondensed(found),
      below: SLOWEST,
      isTitled: true,
    };
    yield { panel: panelOf(sheet, placed, told), width };
  }
}

/** Words of boxes that are not drawn one by one: nobody asks how wide they are. */
function unmeasured(words: BoxTexts): BoxTexts {
  return {
    compact: words.compact,
    valued: words.valued,
    title: (node) => words.title(node),
    box: (node, folded) => words.box(node, folded),
    boxOfGroup: (...group) => words.boxOfGroup(...group),
    width: () => 0,
    widthOfGroup: () => 0,
    height: (node) => words.height(node),
    heightOfGroup: words.heightOfGroup,
  };
}

/** Some nodes around the focus, or the first, and the slowest operators. */
function somePanel(sheet: GraphSheet): FigurePanel {
  const { request, model } = sheet;
  const isFirst = request.data.focus < 0;
  const which = isFirst ? "first in execution order" : "those around the focus";
  const text = graphText(sheet, sheet.flat);
  const below = (boxes: number) => {
    const said = `Drawn: ${integer(boxes)} of ${counted(sheet.boxed.length, "box")}, ${which}.`;
    return model.times.known ? `${said} ${SLOWEST}` : said;
  };
  for (let most = SOME; most > 0; most >>= 1) {
    const only = firstNodes(sheet, most);
    const variants = wordings(sheet).map((words) => () => sheet.scene({ only, words }));
    const found = arrange(sheet, variants, request.width, HEIGHTS.slice(0, 1));
    if (!found) continue;
    const { scene } = found.placed;
    const facts = { drawn: Array.from(scene.node) };
    const told = { note: "", text, facts, below: below(scene.count), isTitled: true };
    return panelOf(sheet, found, told);
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
