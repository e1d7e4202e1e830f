import { LEGIBLE_SCALE, STAGE_MARGIN } from "../graph/camera.ts";
import { type ArrangedGraph, Narrowing, type SceneLayout, seen } from "../graph/figure/arrange.ts";
import { describeScene, graphText } from "../graph/figure/description.ts";
import { panelOfSheet, sizeOf, wordings } from "../graph/figure/graph_figure.ts";
import { panelOf, pictureTop } from "../graph/figure/picture_panel.ts";
import { type GraphFigureOptions, GraphSheet } from "../graph/figure/sheet.ts";
import { boxesOf } from "../graph/layout/scene.ts";
import type { RunReplies } from "../shared/client/answers.ts";
import {
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heading,
  heightOf,
  LINE,
  MARGIN,
  paintParts,
  panelDrawing,
  paragraph,
  SMALL,
  smallWriter,
  space,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { integer, unbroken } from "../shared/format.ts";
import { largest, smallest } from "../shared/many.ts";
import { aligned } from "./align.ts";
import { ComparisonData, type ComparisonReplies, colorColumns, LETTER, type Side } from "./data.ts";

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
  a: NodeName;
  b: NodeName;
  change: string;
}

const ROW = 17;
const HEADS = ["difference", "A", "B", "A → B"];
/** Least part of the width that the kinds get, and the parts of what is left at which others start. */
const FIRST = 0.1;
const SHARES = [0, 14 / 45, 28 / 45, 1];
const GAP = 8;

export function differences(
  rows: readonly DifferenceRow[],
  width: number,
  text: TextWidths,
): FigurePart {
  const room = width - 2 * MARGIN;
  const kinds = [HEADS[0]!, ...rows.map(({ kind }) => kind)];
  const widest = largest(kinds.map((kind) => text.width(kind, SMALL))) + GAP;
  const first = Math.max(FIRST * room, widest);
  const starts = [0, ...SHARES.map((share) => first + share * (room - first))];
  const fitted = (words: string, column: number, rest = "") => {
    const wide = starts[column + 1]! - starts[column]! - GAP;
    return text.fit(words, wide - text.width(rest, SMALL), SMALL) + rest;
  };
  return {
    height: rows.length ? LINE + rows.length * ROW + 4 : 0,
    paint(pen, theme, top) {
      if (!rows.length) return;
      const put = smallWriter(pen, theme);
      const line = (cells: readonly string[], y: number, colors: readonly string[]) => {
        for (const [at, cell] of cells.entries()) put(cell, starts[at]!, y, colors[at]!);
      };
      line(
        HEADS,
        top + LINE / 2,
        HEADS.map(() => theme.muted),
      );
      pen.fillStyle = theme.line;
      pen.fillRect(MARGIN, top + LINE, room, 1);
      for (const [at, { kind, a, b, change }] of rows.entries()) {
        const cells = [
          fitted(kind, 0),
          fitted(a[0], 1, a[1]),
          fitted(b[0], 2, b[1]),
          fitted(change, 3),
        ];
        line(
          cells,
          top + LINE + (at + 0.5) * ROW + 2,
          cells.map(() => theme.text),
        );
      }
    },
  };
}

interface ComparisonFigureOptions {
  color_by: string;
  /** The only kind of difference listed; null for all. */
  kind: string | null;
  /** Of both graphs; empty where none are drawn. */
  graphs: GraphFigureOptions[];
  /** Titles of the runs. */
  runs: string[];
  /** Above so many nodes no graphs are drawn; null below. */
  most_nodes: number | null;
}

type ComparisonFigureRequest = FigureRequest<
  ComparisonFigureOptions,
  RunReplies & ComparisonReplies
>;

export async function comparisonFigure(request: ComparisonFigureRequest): Promise<FigurePanel> {
  const { client, options, title, width, text } = request;
  const data = new ComparisonData(await client.ask("comparison"));
  const { sentence, matched } = data.info;
  const alone = SIDES.map((side) => aloneNodes(data, side));
  const groups = listed(data, options.kind);
  const shown = shownGroups(data, groups);
  const panels = await panelsOf(request, data, alone);
  const outlined = panels.length && alone.some((nodes) => nodes.length);
  const room = width - 2 * MARGIN;
  const muted = (line: string, most: number) =>
    paragraph({ text: line, color: "muted" }, room, text, most);
  const left = groups.length - shown.length;
  const below = [
    groups.length ? "" : "Nothing differs.",
    left ? `… and ${integer(left)} more` : "",
  ];
  if (options.most_nodes !== null) {
    const most = integer(options.most_nodes);
    below.push(`Graphs of more than ${most} nodes are not drawn beside each other.`);
  }
  const parts: FigurePart[] = [
    heading("Comparison", "", room, text),
    paragraph({ text: unbroken(sentence), bold: true }, room, text, 4),
    muted(outlined ? `${matched}; unmatched nodes are outlined` : matched, 2),
    space(4),
    ...(panels.length ? [beside(panels, width)] : []),
    differences(
      shown.map((group) => rowOf(data, group)),
      width,
      text,
    ),
    ...below.filter(Boolean).map((line) => muted(line, 4)),
  ];
  const [onlyA, onlyB] = alone.map((nodes) => nodes.slice(0, MOST_MARKED));
  return {
    height: heightOf(parts),
    title: `Comparison, ${title}`,
    words: sentence,
    text: "",
    description: {
      ...{ title, sentence, match_quality: matched, matched: matchedNodes(data) },
      ...{ only_a: onlyA, only_b: onlyB },
      differences: shown.map((group) => described(data, group)),
      graphs: panels.map(({ description }, at) => ({ ...description, title: options.runs[at] })),
    },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}

const SIDES = [0, 1] as const;
const MOST_ROWS = 24;
/** Rows that compare times of nodes. */
const MOST_TIMES = 5;
const MOST_MARKED = 2_000;

function listed(data: ComparisonData, kind: string | null): number[] {
  const groups = Array.from(data.columns.groupKind.keys());
  return groups.filter((group) => kind === null || kindOf(data, group) === kind);
}

function shownGroups(data: ComparisonData, groups: readonly number[]): number[] {
  const isTime = (group: number) => kindOf(data, group) === "time";
  const times = groups.filter(isTime).slice(0, MOST_TIMES);
  const others = groups.filter((group) => !isTime(group));
  return [...times, ...others.slice(0, MOST_ROWS - times.length)];
}

/** First members of a group, -1 for none, and the number of the others. */
function membersOf({ columns }: ComparisonData, group: number) {
  const first = columns.groupStart[group]!;
  const nodes = [columns.memberA[first]!, columns.memberB[first]!] as const;
  return { nodes, more: columns.groupStart[group + 1]! - first - 1 };
}

function rowOf(data: ComparisonData, group: number): DifferenceRow {
  const { nodes, more } = membersOf(data, group);
  const kind = kindOf(data, group);
  const [a, b] = both(nodes, (node, side): NodeName => {
    return [node < 0 ? "–" : `#${node} ${data.label(side as Side, node)}`, ""];
  });
  const change = data.columns.groupChange.at(group);
  return { kind, a, b: [b[0], more ? ` +${integer(more)}` : ""], change };
}

function described(data: ComparisonData, group: number) {
  const { nodes, more } = membersOf(data, group);
  const side = nodes[0] < 0 ? 1 : 0;
  const ids = [...new Set(nodes.filter((node) => node >= 0).map((node) => `#${node}`))];
  const shape = data.shape(side, nodes[side]);
  const first = [ids.join(" ~ "), data.label(side, nodes[side]), shape && `(${shape})`];
  const pair = first.filter(Boolean).join(" ");
  return {
    kind: kindOf(data, group),
    times: more + 1,
    nodes: more ? `${pair} and ${integer(more)} more` : pair,
    change: data.columns.groupChange.at(group),
  };
}

async function panelsOf(
  { client, options, ...request }: ComparisonFigureRequest,
  data: ComparisonData,
  alone: readonly number[][],
): Promise<readonly FigurePanel[]> {
  const sheets: GraphSheet[] = [];
  for (const [at, graph] of options.graphs.entries()) {
    const side = at as Side;
    const own = {
      ...request,
      title: `${LETTER[side]}  ${data.info.titles[side]}`,
      width: request.width / 2,
      client: client.with({ run: "ab"[side] }),
      options: {
        ...graph,
        color_by: options.color_by,
        outlined: alone[side]!.slice(0, MOST_MARKED),
      },
    };
    const sheet = await GraphSheet.of(own, colorColumns(data, side));
    if (sheet) sheets.push(sheet);
  }
  const [a, b] = sheets;
  if (!a || !b) return [];
  return levelPanels([a, b], pairs(data)) ?? [await panelOfSheet(a), await panelOfSheet(b)];
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

/** Nodes without a match, ascending. */
function aloneNodes(data: ComparisonData, side: Side): number[] {
  const codes = data.codes(side);
  return Array.from(codes.keys()).filter((node) => codes[node] === data.info.certainties.length);
}

/** Number of nodes of A by the certainty of their least sure match. */
function matchedNodes(data: ComparisonData): Record<string, number> {
  const codes = data.codes(0);
  const count = (code: number) => codes.reduce((sum, other) => sum + Number(other === code), 0);
  return Object.fromEntries(data.info.certainties.map((name, code) => [name, count(code)]));
}

/** Matched nodes of A, each with its last match. */
function pairs(data: ComparisonData): [a: number, b: number][] {
  return Array.from(new Set(data.columns.pairA), (node) => [node, data.partner(0, node)!]);
}

function kindOf({ info, columns }: ComparisonData, group: number): string {
  return info.kinds[columns.groupKind[group]!]!;
}
