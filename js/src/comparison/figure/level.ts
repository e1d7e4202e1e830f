import { type Arranged, seen } from "../../graph/figure/arrange.ts";
import { wordings } from "../../graph/figure/box_texts.ts";
import { describeScene } from "../../graph/figure/description.ts";
import { sizeOf } from "../../graph/figure/figure.ts";
import { type LaidOut, Narrowing } from "../../graph/figure/narrowing.ts";
import { panelOf, pictureTop } from "../../graph/figure/panel.ts";
import type { GraphRequest } from "../../graph/figure/request.ts";
import { GraphSheet } from "../../graph/figure/sheet.ts";
import { graphText } from "../../graph/figure/text.ts";
import { MARGIN } from "../../graph/placed/legible.ts";
import { LEGIBLE_SCALE } from "../../graph/placed/scales.ts";
import { boxesOf } from "../../graph/placed/scene.ts";
import { type FigurePanel, panelDrawing } from "../../shared/drawing/figure.ts";
import { largest, smallest } from "../../shared/many.ts";
import { aligned } from "../align.ts";

/** Of both graphs together. */
const MOST_BOXES = 240;
/** px. */
const HIGHEST = 2400;

type Both<T> = readonly [a: T, b: T];

/** Both graphs with all groups closed, matches at the same height; null where they have no room so. */
export function levelPanels(
  requests: Both<GraphRequest>,
  pairs: readonly (readonly [a: number, b: number])[],
): Both<FigurePanel> | null {
  if (requests[0].options.direction !== "down") return null;
  const sheets = both(requests, (request) => new GraphSheet(request));
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
  const scale = Math.min(1, (width - 2 * MARGIN) / wide);
  if (scale < LEGIBLE_SCALE || (maxY - minY) * scale > HIGHEST) return null;
  const arranged = both([a, b], ({ scene }, side) => {
    const result = results[side]!;
    return seen(scene, { ...result, bounds: { ...result.bounds, minY, maxY } }, scale, width);
  });
  const top = largest(both(sheets, (sheet, side) => pictureTop(sheet, arranged[side]!)));
  const panels = both(sheets, (sheet, side) => panel(sheet, arranged[side]!, top));
  const isLarge = panels.some((each, side) => {
    const request = requests[side]!;
    return sizeOf(panelDrawing(request, each).svg) > request.data.most.bytes;
  });
  return isLarge ? null : panels;
}

/** The graph in compact boxes with all groups closed, as wide as has room; null where none does. */
function closed(sheet: GraphSheet): LaidOut | null {
  const { request, model } = sheet;
  const open = request.options.grouped ? new Uint8Array(model.groups.count) : null;
  const words = wordings(sheet).at(1) ?? sheet.words;
  const stage = { width: request.width, height: HIGHEST };
  const room = (request.width - 2 * MARGIN) / LEGIBLE_SCALE;
  const scene = sheet.scene({ open, words });
  if (scene.count > MOST_BOXES) return null;
  const all = [...new Narrowing(sheet, scene, "down", stage).scenes(null)];
  return all.find(({ result: { bounds } }) => bounds.maxX - bounds.minX <= room) ?? null;
}

/** The box that is named after a node, -1 where none is. */
function ownBox({ scene }: LaidOut, node: number): number {
  const box = boxesOf(scene, node)[0] ?? -1;
  return box >= 0 && scene.node[box] === node ? box : -1;
}

function panel(sheet: GraphSheet, found: Arranged, top: number): FigurePanel {
  const { scene } = found.placed;
  const [text, facts] = [graphText(sheet, scene), describeScene(sheet, scene)];
  return panelOf(sheet, found, { note: "", text, facts, below: "", top });
}

function both<T, U>(of: Both<T>, make: (each: T, side: number) => U): Both<U> {
  return [make(of[0], 0), make(of[1], 1)];
}
