import * as tokens from "../../../../../tvmdbg_widgets/figures/tokens.json";
import { counted } from "../../../shared/format.ts";
import { BADGE_PADDING, GAP, TEXT_START } from "../../placed/labels.ts";
import { LEGIBLE_SCALE } from "../../placed/scales.ts";
import type { BoxText, Scene } from "../../placed/scene.ts";
import type { GraphSheet } from "../sheet.ts";
import { type Condensed, countText, type Part, repeatText, timeText } from "./condense.ts";

const { height, minWidth, maxWidth, padding } = tokens.node;
const { size: LARGE, small: SMALL } = tokens.font;

/** The parts of a condensed graph as boxes. */
export function condensedScene(sheet: GraphSheet, found: Condensed): Scene {
  const { parts, edges, runs, scene } = found;
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
    width: Float32Array.from(words, (each) => Math.min(maxWidth, widthOf(sheet, each))),
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

function wordsOf(part: Part): BoxText {
  const told = [timeText(part), countText(part), part.result].filter(Boolean).join(" · ");
  const badge = part.inside.length ? counted(part.inside.length, "param") : "";
  return { title: part.title, mark: repeatText(part), head: false, shape: told, time: told, badge };
}

/** Room for the title, and for the time and the number of nodes. */
function widthOf({ request }: GraphSheet, { title, mark, shape, badge }: BoxText): number {
  const { text } = request;
  const extra = (words: string) => (words ? GAP + 2 * BADGE_PADDING + text.width(words, SMALL) : 0);
  const told = shape.split(" · ").slice(0, 3).join(" · ");
  const second = (text.width(told, SMALL) + extra(badge)) / LEGIBLE_SCALE;
  const wide = Math.max(text.width(title, LARGE) + extra(mark), second);
  return Math.ceil(Math.max(minWidth, TEXT_START + wide + padding));
}

function rowsOf(lists: readonly (readonly number[])[]) {
  const start = new Int32Array(lists.length + 1);
  for (const [row, list] of lists.entries()) start[row + 1] = start[row]! + list.length;
  return { start, items: Int32Array.from(lists.flat()) };
}
