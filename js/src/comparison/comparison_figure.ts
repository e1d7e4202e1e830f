import { LEGIBLE_SCALE, STAGE_MARGIN } from "../graph/camera.ts";
import { type ArrangedGraph, Narrowing, type SceneLayout, seen } from "../graph/figure/arrange.ts";
import { describeScene, graphText } from "../graph/figure/description.ts";
import { panelOfSheet, sizeOf, wordings } from "../graph/figure/graph_figure.ts";
import { panelOf, pictureTop } from "../graph/figure/picture_panel.ts";
import { type GraphFigureOptions, GraphSheet } from "../graph/figure/sheet.ts";
import { boxesOf } from "../graph/layout/scene.ts";
import {
  type Drawing,
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heading,
  heightOf,
  LINE,
  MARGIN,
  type Note,
  paintParts,
  panelDrawing,
  paragraph,
  SMALL,
  smallWriter,
  space,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { largest, smallest } from "../shared/many.ts";
import { aligned } from "./align.ts";

/** Limit for both graphs together. */
const MOST_BOXES = 240;
const HIGHEST = 2400;

type ReadonlyBoth<T> = readonly [a: T, b: T];

/** Both graphs with all groups closed, matches at the same height; null if there is no room. */
function levelPanels(
  sheets: ReadonlyBoth<GraphSheet>,
  pairs: readonly (readonly [a: number, b: number])[],
): ReadonlyBoth<FigurePanel> | null {
  const requests = both(sheets, ({ request }) => request);
  if (requests[0].options.direction !== "down") return null;
  const laidOut = both(sheets, closed);
  const [a, b] = laidOut;
  if (!a || !b || a.scene.count + b.scene.count > MOST_BOXES) return null;
  const boxes = pairs.flatMap(([one, other]) => {
    const [box, match] = [ownBox(a, one), boxesOf(b.scene, other)[0] ?? -1];
    return box < 0 || match < 0 ? [] : [[box, match] as const];
  });
  const results = aligned([a.result, b.result], boxes);
  const minY = smallest(results.map(({ bounds }) => bounds.minY));
  const maxY = largest(results.map(({ bounds }) => bounds.maxY));
  const { width } = requests[0];
  const wide = largest(results.map(({ bounds }) => bounds.maxX - bounds.minX));
  const scale = Math.min(1, (width - 2 * STAGE_MARGIN) / wide);
  if (scale < LEGIBLE_SCALE || (maxY - minY) * scale > HIGHEST) return null;
  const arranged = both([a, b], ({ scene }, side) => {
    const result = results[side]!;
    return seen(scene, { ...result, bounds: { ...result.bounds, minY, maxY } }, scale, width);
  });
  const top = largest(both(sheets, (sheet, side) => pictureTop(sheet, arranged[side]!)));
  const panels = both(sheets, (sheet, side) => panel(sheet, arranged[side]!, top));
  const isLarge = panels.some((panel, side) => {
    const request = requests[side]!;
    return sizeOf(panelDrawing(request, panel).svg) > request.options.most.bytes;
  });
  return isLarge ? null : panels;
}

function closed(sheet: GraphSheet): SceneLayout | null {
  const { request, model } = sheet;
  const open = request.options.grouped ? new Uint8Array(model.groups.count) : null;
  const words = wordings(sheet).at(1) ?? sheet.words;
  const stage = { width: request.width, height: HIGHEST };
  const room = (request.width - 2 * STAGE_MARGIN) / LEGIBLE_SCALE;
  const scene = sheet.scene({ open, words });
  if (scene.count > MOST_BOXES) return null;
  const all = [...new Narrowing(sheet, scene, "down", stage).scenes(null)];
  return all.find(({ result: { bounds } }) => bounds.maxX - bounds.minX <= room) ?? null;
}

function ownBox({ scene }: SceneLayout, node: number): number {
  const box = boxesOf(scene, node)[0] ?? -1;
  return box >= 0 && scene.node[box] === node ? box : -1;
}

function panel(sheet: GraphSheet, arranged: ArrangedGraph, top: number): FigurePanel {
  const { scene } = arranged.placed;
  const [text, facts] = [graphText(sheet, scene), describeScene(sheet, scene)];
  return panelOf(sheet, arranged, { note: "", text, facts, below: "", top });
}

function both<T, U>(of: ReadonlyBoth<T>, make: (item: T, side: number) => U): ReadonlyBoth<U> {
  return [make(of[0], 0), make(of[1], 1)];
}

/** A node of one side: its name, and a suffix that is not cut. */
type NodeName = readonly [name: string, rest: string];

interface DifferenceRow {
  kind: string;
  alone: boolean;
  a: NodeName;
  b: NodeName;
  change: string;
}

const ROW = 17;
const HEADS = ["difference", "A", "B", "A → B"];
const STARTS = [0, 0.1, 0.38, 0.66, 1];
const GAP = 8;

export function differences(
  rows: readonly DifferenceRow[],
  width: number,
  text: TextWidths,
): FigurePart {
  const room = width - 2 * MARGIN;
  const fitted = (words: string, column: number, rest = "") => {
    const wide = (STARTS[column + 1]! - STARTS[column]!) * room - GAP;
    return text.fit(words, wide - text.width(rest, SMALL), SMALL) + rest;
  };
  return {
    height: rows.length ? LINE + rows.length * ROW + 4 : 0,
    paint(pen, theme, top) {
      if (!rows.length) return;
      const put = smallWriter(pen, theme);
      const line = (cells: readonly string[], y: number, colors: readonly string[]) => {
        for (const [at, cell] of cells.entries()) put(cell, STARTS[at]! * room, y, colors[at]!);
      };
      line(
        HEADS,
        top + LINE / 2,
        HEADS.map(() => theme.muted),
      );
      pen.fillStyle = theme.line;
      pen.fillRect(MARGIN, top + LINE, room, 1);
      for (const [at, { kind, alone, a, b, change }] of rows.entries()) {
        const cells = [
          fitted(kind, 0),
          fitted(a[0], 1, a[1]),
          fitted(b[0], 2, b[1]),
          fitted(change, 3),
        ];
        const colors = [alone ? theme.error : theme.text, theme.text, theme.text, theme.text];
        line(cells, top + LINE + (at + 0.5) * ROW + 2, colors);
      }
    },
  };
}

interface ComparisonFigureData {
  title: string;
  sentence: string;
  matched: string;
  graphs: { title: string; options: GraphFigureOptions }[];
  pairs: [a: number, b: number][];
  rows: DifferenceRow[];
  below: Note[];
  text: string;
}

type ComparisonFigureRequest = FigureRequest<ComparisonFigureData>;

export async function comparisonFigure(request: ComparisonFigureRequest): Promise<Drawing> {
  const { data, width, text } = request;
  const room = width - 2 * MARGIN;
  const paragraphOf = (note: Note) => paragraph(note, room, text, note.most);
  const panels = await panelsOf(request);
  const parts: FigurePart[] = [
    heading("Comparison", "", room, text),
    paragraphOf({ text: data.sentence, bold: true, most: 4 }),
    paragraphOf({ text: data.matched, color: "muted", most: 2 }),
    space(4),
    ...(panels.length ? [beside(panels, width)] : []),
    differences(data.rows, width, text),
    ...data.below.map(paragraphOf),
  ];
  return panelDrawing(request, {
    height: heightOf(parts),
    title: data.title,
    words: data.sentence,
    text: data.text,
    // The titles of the runs stay.
    description: { graphs: panels.map(({ description: { title, ...facts } }) => facts) },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  });
}

async function panelsOf({
  data,
  client,
  ...request
}: ComparisonFigureRequest): Promise<readonly FigurePanel[]> {
  const sheets: GraphSheet[] = [];
  for (const [at, side] of data.graphs.entries()) {
    const own = { ...request, ...side, data, width: request.width / 2 };
    const sheet = await GraphSheet.of({ ...own, client: client.with({ run: "ab"[at] }) });
    if (sheet) sheets.push(sheet);
  }
  const [a, b] = sheets;
  if (!a || !b) return [];
  return levelPanels([a, b], data.pairs) ?? [await panelOfSheet(a), await panelOfSheet(b)];
}

function beside(panels: readonly FigurePanel[], width: number): FigurePart {
  const height = largest(panels.map((panel) => panel.height));
  return {
    height: height + 4,
    paint(pen, theme, top) {
      for (const [at, panel] of panels.entries()) {
        pen.save();
        pen.translate((at * width) / 2, top);
        panel.paint(pen, theme);
        pen.restore();
      }
      pen.strokeStyle = theme.line;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(width / 2, top);
      pen.lineTo(width / 2, top + height);
      pen.moveTo(0, top + height);
      pen.lineTo(width, top + height);
      pen.stroke();
    },
  };
}
