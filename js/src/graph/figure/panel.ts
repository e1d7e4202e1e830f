import type { FigurePanel, Hover } from "../../shared/drawing/figure.ts";
import {
  heading,
  heightOf,
  LINE,
  MARGIN,
  type Note,
  type Part,
  paintParts,
  paragraph,
  SMALL,
  smallWriter,
  space,
} from "../../shared/drawing/figure_parts.ts";
import { nodeTitle } from "../../shared/node_title.ts";
import { titleOf } from "../paint/frames.ts";
import { membersOf } from "../placed/scene.ts";
import type { Arranged } from "./arrange.ts";
import { describeGraph } from "./description.ts";
import { legend } from "./legend.ts";
import { picture } from "./picture.ts";
import type { GraphSheet } from "./sheet.ts";
import { MOST_SLOWEST, totals } from "./text.ts";

/** Stands above the slowest operators. */
export const SLOWEST = "Slowest operators:";
/** Where their names begin, px. */
const NAMES = 122;

/** What is told of a picture beside it. */
export interface Told {
  note: string;
  text: string;
  facts: Record<string, unknown>;
  /** Said below the picture, above the slowest operators; nothing where they are not listed. */
  below: string;
  /** Whether boxes say what they are where the pointer rests. */
  isTitled?: boolean;
  /** Where the picture begins at the least, px. */
  top?: number;
}

/** A picture with heading and legend above it, and the slowest operators below. */
export function panelOf(sheet: GraphSheet, found: Arranged, told: Told): FigurePanel {
  const above = [...head(sheet, told.note), legend(sheet, found.placed.scene), space(8)];
  above.push(space(Math.max(0, (told.top ?? 0) - topOf(above))));
  const titles = told.isTitled ? titlesOf(sheet, found, topOf(above)) : [];
  const parts = [...above, picture(sheet, found), ...slowest(sheet, told.below)];
  return { ...panel(sheet, parts, told), titles };
}

/** Where the picture of a panel begins, px. */
export function pictureTop(sheet: GraphSheet, { placed }: Arranged): number {
  return topOf([...head(sheet, ""), legend(sheet, placed.scene), space(8)]);
}

/** The same without a picture. */
export function emptyPanel(sheet: GraphSheet, told: Told): FigurePanel {
  return panel(sheet, [...head(sheet, told.note), ...slowest(sheet, told.below)], told);
}

/** The picture alone. */
export function picturePanel(sheet: GraphSheet, found: Arranged, told: Told): FigurePanel {
  const { height, paint } = picture(sheet, found);
  const titles = told.isTitled ? titlesOf(sheet, found, 0) : [];
  return { ...panel(sheet, [], told), height, titles, paint: (...to) => paint(...to, 0) };
}

function panel(sheet: GraphSheet, parts: readonly Part[], { text, facts }: Told): FigurePanel {
  const { data } = sheet.request;
  const { times, labels } = sheet.model;
  const title = `Graph of ${data.title}: ${totals(sheet)}`;
  const first = times.ranked[0];
  const node = first?.nodes[0] ?? -1;
  const named = first?.name || (node < 0 ? "" : `#${node} ${labels.title(node)}`);
  return {
    height: heightOf(parts),
    title,
    words: first ? `${title}. Slowest: ${named}, ${times.text(first.ns)}` : title,
    text,
    description: { ...describeGraph(sheet), ...facts },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

function head(sheet: GraphSheet, note: string): Part[] {
  const { data, width, text } = sheet.request;
  const room = width - 2 * MARGIN;
  const own: Note = { text: note, color: "muted", most: 6 };
  const notes = note ? [...data.notes, own] : data.notes;
  const said = notes.map((each) => paragraph(each, room, text, each.most));
  return [heading(data.title, totals(sheet), room, text), ...said, space(4)];
}

function topOf(above: readonly Part[]): number {
  return heightOf(above) - MARGIN;
}

/** The slowest operators in a list. */
function slowest(sheet: GraphSheet, said: string): Part[] {
  const { model, request } = sheet;
  const { labels, times, graph } = model;
  if (!said || (said === SLOWEST && !times.known)) return [];
  const { width, text } = request;
  const room = width - 2 * MARGIN;
  const rows = times.ranked.slice(0, MOST_SLOWEST).map(({ name, nodes, ns }) => {
    if (name) return [times.text(ns), text.fit(name, room - NAMES, SMALL)] as const;
    const node = nodes[0]!;
    const named = `${nodeTitle(labels.title(node), node)} (${graph.names.at(node)})`;
    return [labels.time(node), text.fit(named, room - NAMES, SMALL)] as const;
  });
  return [
    space(6),
    paragraph({ text: said, color: "muted" }, room, text, 3),
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

/** What boxes are, for the pointer that rests there. */
function titlesOf({ model }: GraphSheet, { placed, camera }: Arranged, top: number): Hover[] {
  const { scene } = placed;
  const titles: Hover[] = [];
  placed.eachBox(camera.view(), (box) => {
    const members = membersOf(scene, box);
    const ends = `#${members[0]} … #${members.at(-1)}`;
    const name = `#${scene.node[box]} ${model.graph.names.at(scene.node[box]!)}`;
    const group = scene.group[box]!;
    const title = group < 0 ? scene.text(box).title : titleOf(model, group);
    const text = members.length > 1 ? `${title}: ${ends}` : name;
    const { y, ...shape } = camera.screen(placed.rectangle(box));
    titles.push({ ...shape, y: y + top, text });
  });
  return titles;
}
