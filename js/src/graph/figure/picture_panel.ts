import {
  type FigurePanel,
  type FigurePart,
  type HoverText,
  heading,
  heightOf,
  LINE,
  MARGIN,
  paintParts,
  paragraph,
  SMALL,
  smallWriter,
  space,
} from "../../shared/drawing/figure.ts";
import type { SvgContext } from "../../shared/drawing/svg_context.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { nodeTitle } from "../../shared/format.ts";
import { Camera } from "../camera.ts";
import { idOf, rowOf } from "../data/links.ts";
import type { PlacedScene } from "../layout/placed_scene.ts";
import { membersOf } from "../layout/scene.ts";
import { EdgePainter } from "../paint/edges.ts";
import { titleOf } from "../paint/frames.ts";
import { GraphPainter, OverlayPainter } from "../paint/painter.ts";
import type { ArrangedGraph } from "./arrange.ts";
import { describeGraph, MOST_SLOWEST, totals } from "./description.ts";
import { legend } from "./figure_legend.ts";
import type { GraphSheet } from "./sheet.ts";

export function picture(sheet: GraphSheet, { placed, camera }: ArrangedGraph): FigurePart {
  return {
    height: camera.height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(0, top);
      paint(sheet, placed, camera, pen, theme);
      pen.restore();
    },
  };
}

function paint(
  sheet: GraphSheet,
  placed: PlacedScene,
  camera: Camera,
  pen: SvgContext,
  theme: Theme,
): void {
  const drawn = sheet.picture(placed, camera, theme);
  const painter = new GraphPainter(pen);
  painter.paint(drawn);
  const overlay = new OverlayPainter(pen, new EdgePainter(pen), painter);
  overlay.paint(drawn, sheet.marks(placed), -1);
}

export function seenFrom(
  { request, model }: GraphSheet,
  { placed }: ArrangedGraph,
): ArrangedGraph | null {
  const { camera: from, height } = request.options;
  const middle = from && placed.placeOfNode(rowOf(model.graph, from.node));
  if (!from || !middle) return null;
  const camera = new Camera();
  camera.resize(request.width, height);
  const [x, y] = [middle.x + from.dx, middle.y + from.dy];
  return { placed, camera: Object.assign(camera, { x, y, scale: from.scale }) };
}

export const SLOWEST = "Slowest operators:";
/** Left edge of their names, px. */
const NAMES = 122;
/** Lines of a note. */
const MOST_OF_NOTE = 6;

export interface PictureWords {
  note: string;
  text: string;
  facts: Record<string, unknown>;
  below: string;
  isTitled?: boolean;
  top?: number;
}

export function panelOf(
  sheet: GraphSheet,
  arranged: ArrangedGraph,
  words: PictureWords,
): FigurePanel {
  const above = [...head(sheet, words.note), legend(sheet, arranged.placed.scene), space(8)];
  above.push(space(Math.max(0, (words.top ?? 0) - topOf(above))));
  const titles = words.isTitled ? titlesOf(sheet, arranged, topOf(above)) : [];
  const parts = [...above, picture(sheet, arranged), ...slowest(sheet, words.below)];
  return { ...panel(sheet, parts, words), titles };
}

export function pictureTop(sheet: GraphSheet, { placed }: ArrangedGraph): number {
  return topOf([...head(sheet, ""), legend(sheet, placed.scene), space(8)]);
}

export function emptyPanel(sheet: GraphSheet, words: PictureWords): FigurePanel {
  return panel(sheet, [...head(sheet, words.note), ...slowest(sheet, words.below)], words);
}

export function picturePanel(
  sheet: GraphSheet,
  arranged: ArrangedGraph,
  words: PictureWords,
): FigurePanel {
  const { height, paint } = picture(sheet, arranged);
  const titles = words.isTitled ? titlesOf(sheet, arranged, 0) : [];
  return { ...panel(sheet, [], words), height, titles, paint: (...to) => paint(...to, 0) };
}

function panel(
  sheet: GraphSheet,
  parts: readonly FigurePart[],
  { text, facts }: PictureWords,
): FigurePanel {
  const { times, labels, graph } = sheet.model;
  const title = `Graph of ${sheet.request.title}: ${totals(sheet)}`;
  const [first] = times.top(MOST_SLOWEST);
  const node = first?.nodes[0] ?? -1;
  const named = first?.name || (node < 0 ? "" : `#${idOf(graph, node)} ${labels.title(node)}`);
  return {
    height: heightOf(parts),
    title,
    words: first ? `${title}. Slowest: ${named}, ${times.text(first.ns)}` : title,
    text,
    description: { ...describeGraph(sheet.whole), ...facts },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

function head(sheet: GraphSheet, note: string): FigurePart[] {
  const { title, width, text } = sheet.request;
  const room = width - 2 * MARGIN;
  const notes = [...sheet.gathered.notes, note].filter(Boolean);
  const paragraphs = notes.map((text_) =>
    paragraph({ text: text_, color: "muted" }, room, text, MOST_OF_NOTE),
  );
  return [heading(title, totals(sheet), room, text), ...paragraphs, space(4)];
}

function topOf(above: readonly FigurePart[]): number {
  return heightOf(above) - MARGIN;
}

function slowest(sheet: GraphSheet, heading: string): FigurePart[] {
  const { model, request } = sheet;
  const { labels, times, graph } = model;
  if (!heading || (heading === SLOWEST && !times.known)) return [];
  const { width, text } = request;
  const room = width - 2 * MARGIN;
  const rows = times.top(MOST_SLOWEST).map(({ name, nodes, ns }) => {
    if (name) return [times.text(ns), text.fit(name, room - NAMES, SMALL)] as const;
    const node = nodes[0]!;
    const named = `${nodeTitle(labels.title(node), idOf(graph, node))} (${graph.names.at(node)})`;
    return [labels.time(node), text.fit(named, room - NAMES, SMALL)] as const;
  });
  return [
    space(6),
    paragraph({ text: heading, color: "muted" }, room, text, 3),
    {
      height: rows.length * LINE,
      paint(pen, theme, top) {
        const put = smallWriter(pen, theme);
        for (const [at, [time, name]] of rows.entries()) {
          put(time, 0, top + (at + 0.5) * LINE, theme.text);
          put(name, NAMES, top + (at + 0.5) * LINE, theme.text);
        }
      },
    },
  ];
}

function titlesOf(
  { model }: GraphSheet,
  { placed, camera }: ArrangedGraph,
  top: number,
): HoverText[] {
  const { scene } = placed;
  const titles: HoverText[] = [];
  placed.eachBox(camera.view(), (box) => {
    const members = membersOf(scene, box);
    const [first, last] = [members[0]!, members.at(-1)!].map((row) => idOf(model.graph, row));
    const ends = `#${first} … #${last}`;
    const name = `#${first} ${model.graph.names.at(scene.node[box]!)}`;
    const group = scene.group[box]!;
    const title = group < 0 ? scene.text(box).title : titleOf(model, group);
    const text = members.length > 1 ? `${title}: ${ends}` : name;
    const { y, ...shape } = camera.screen(placed.rectangle(box));
    titles.push({ ...shape, y: y + top, text });
  });
  return titles;
}
