import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { type GraphColumns, NodeKind } from "../../shared/client/answers.ts";
import { layer, TextMeasure } from "../../shared/drawing/canvas.ts";
import {
  counted,
  duration,
  entryText,
  givenText,
  nodeTitle,
  percent,
  shapeText,
} from "../../shared/format.ts";
import { addTo, largest } from "../../shared/many.ts";
import { shortName } from "../../shared/short_name.ts";
import { LEGIBLE_SCALE } from "../camera.ts";
import { type Groups, idOf } from "../data/links.ts";
import { valueText } from "../data/node_columns.ts";
import type { NodeTimes } from "../data/times.ts";
import type { BoxText, BoxTexts } from "./scene.ts";

/** Placeholder of the colored value, which is filled in when the box is drawn. */
export const SLOT = "\ufffc";

const PART = /\{\{|\}\}|\{([^{}]*)\}/g;

/** Lines of a label template without empty parts; unknown fields stay (`model/graph/node_columns.py`). */
export function filled(template: string, field: (name: string) => string | undefined): string[] {
  return template.split("\n").map((line) =>
    line
      .replace(PART, (whole: string, name?: string) =>
        name === undefined ? whole.charAt(0) : (field(name) ?? whole),
      )
      .split(" · ")
      .map((part) => part.trim())
      .filter(Boolean)
      .join(" · "),
  );
}

/** Names in a file may have any length. */
const MOST_LETTERS = 1000;

/** Text widths in the fonts of a box's two lines, px at scale 1. */
export interface LabelMeasure {
  title(text: string): number;
  small(text: string): number;
}

const MARKS: Record<string, string> = {
  input: "input",
  parameter: "param",
  "mutable buffer": "buffer",
  "buffer without a start value": "buffer",
};

const { height, minWidth, maxWidth, padding, stripe } = tokens.node;

export const GAP = 8;
export const BADGE_PADDING = 4;
/** Start of a box's text, from its left border. */
export const TEXT_START = stripe + padding - 2;

/** Room for the kind of a closed group at its left, and for its button at its right. */
const TAG = tokens.group.tag;
const BUTTON = tokens.group.button;
/** Width that the sheets behind a run of blocks take. */
const SHEETS = 2 * tokens.group.stack;

/** Digits have one width in the fonts of user interfaces: as zeros, 10,000 ids leave few texts to measure. */
function zeroed(words: string): string {
  return words.replace(/\d/g, "0");
}

function widthIn(
  known: Map<string, number>,
  text: string,
  measure: (text: string) => number,
): number {
  let width = known.get(text);
  if (width === undefined) {
    width = measure(text);
    known.set(text, width);
  }
  return width;
}

const LABELS = 2 ** 20;
const DIMS = 12;
const MOST = 16;

/** Number of digits of an integer below 10^9; NaN for other numbers. */
function digits(value: number): number {
  if (!(value >= 0 && value < 1e9 && Number.isInteger(value))) return Number.NaN;
  let count = 1;
  for (let rest = value; rest >= 10; rest /= 10) count += 1;
  return count;
}

export class BoxLabels implements BoxTexts {
  readonly compact = false;
  readonly valued = false;
  readonly height = () => height;
  readonly heightOfGroup = tokens.group.height;
  readonly #graph: GraphColumns;
  readonly #times: NodeTimes;
  readonly #measure: LabelMeasure;
  readonly #groups: Groups;
  readonly #titles = new Map<string, number>();
  readonly #smalls = new Map<string, number>();
  readonly #widths = new Map<number, number>();
  readonly #shapes = new Map<number, number>();
  readonly #heads = new Map<number, number[]>();
  /** Layout of a node's output, if a view has asked for it. */
  layoutOf: (node: number) => string = () => "";

  constructor(graph: GraphColumns, times: NodeTimes, measure: LabelMeasure, groups: Groups) {
    this.#groups = groups;
    this.#graph = graph;
    this.#times = times;
    this.#measure = measure;
    for (const [row, node] of graph.headNode.entries()) addTo(this.#heads, node, row);
  }

  /** True if an output of the node is an output of the graph. */
  isHead(node: number): boolean {
    return this.#heads.has(node);
  }

  title(node: number): string {
    const { labels, names } = this.#graph;
    const title = labels.at(node) || names.at(node) || `node ${idOf(this.#graph, node)}`;
    return title.length > MOST_LETTERS ? `${title.slice(0, MOST_LETTERS)}…` : title;
  }

  /** A node's title, or another text for it, after its id. */
  numbered(node: number, title = this.title(node)): string {
    return nodeTitle(title, idOf(this.#graph, node));
  }

  /** Mark of a node: input, parameter, buffer, output of the graph, the slowest. */
  mark(node: number): string {
    if (node === this.#times.slowest) return "slowest";
    const heads = this.#heads.get(node);
    if (heads) return this.#heads.size > 1 ? `output ${heads.join(", ")}` : "output";
    return MARKS[this.#graph.roles.at(node)] ?? "";
  }

  shape(node: number): string {
    const { entryOffsets, shapeKnown, shapeOffsets, shapeDims } = this.#graph;
    const [entry, end] = [entryOffsets[node]!, entryOffsets[node + 1]!];
    if (end === entry) return "no output";
    const more = end - entry > 1 ? `, ${counted(end - entry, "output")}` : "";
    if (!shapeKnown[entry]) return `shape unknown${more}`;
    const dims = shapeDims.subarray(shapeOffsets[entry]!, shapeOffsets[entry + 1]!);
    return `${dims.length ? Array.from(dims).join("×") : "scalar"}${more}`;
  }

  time(node: number): string {
    const ns = this.#times.ns[node]!;
    if (ns > 0) return this.#times.text(ns);
    const given = givenText(this.#graph, node);
    if (given) return given;
    return Number.isNaN(ns)
      ? this.#times.together([node]) || "time unknown"
      : this.#times.timeText(ns);
  }

  box(node: number, folded: number): BoxText {
    return {
      title: this.numbered(node),
      mark: this.mark(node),
      head: this.isHead(node),
      shape: this.shape(node),
      time: this.time(node),
      badge: folded ? counted(folded, "param") : "",
    };
  }

  /** Texts with the titles and second lines of nodes taken from a template. */
  labelled(template: string): BoxTexts {
    if (!template) return this;
    const lines = (node: number) => {
      const [title, own = ""] = filled(template, (name) => this.#field(node, name));
      return { title: title || this.numbered(node), own };
    };
    const box = (node: number, folded: number) => ({ ...this.box(node, folded), ...lines(node) });
    return {
      compact: false,
      valued: false,
      height: this.height,
      heightOfGroup: this.heightOfGroup,
      title: (node) => lines(node).title,
      box,
      boxOfGroup: (...group) => this.boxOfGroup(...group),
      width: (node, folded) => this.#width(box(node, folded), this.time(node)),
      widthOfGroup: (...group) => this.widthOfGroup(...group),
    };
  }

  /** Value of a template field; undefined for an unknown field. */
  #field(node: number, name: string): string | undefined {
    const { names, funcNames, opKinds, dtypes, entryOffsets, deviceTypes, storageIds, info } =
      this.#graph;
    const entry = entryOffsets[node]!;
    const has = entry < entryOffsets[node + 1]!;
    const share = this.#times.share(node);
    const size = has ? this.#graph.entryBytes[entry]! : Number.NaN;
    const fields: Record<string, string> = {
      op: this.title(node),
      id: String(idOf(this.#graph, node)),
      name: names.at(node),
      func: funcNames.at(node),
      kind: opKinds.at(node),
      shape: this.shape(node),
      dtype: has ? dtypes.at(entry) : "",
      time: this.time(node).split(" · ")[0]!,
      share: share > 0 ? percent(share) : "",
      device: (has && info?.devices[deviceTypes[entry]!]) || "",
      storage: has && storageIds[entry]! >= 0 ? `slot ${storageIds[entry]}` : "",
      layout: this.layoutOf(node),
      bytes: size >= 0 ? valueText(size, "B") : "",
      value: SLOT,
    };
    return fields[name];
  }

  boxOfGroup(group: number, nodes: number, outside: number): BoxText {
    const size = counted(nodes, "node") + (outside ? ` + ${counted(outside, "output")}` : "");
    const time = this.timeOfGroup(group);
    const heads = Array.from(outside ? [] : this.#heads.keys());
    const head = heads.some((node) => node >= 0 && this.#groups.around(node).includes(group));
    return {
      title: this.#groups.title(group),
      mark: head ? "output" : "",
      head,
      shape: time ? `${size} · ${time.split(" · ")[0]}` : size,
      time: time || `time unknown · ${size}`,
      badge: "",
    };
  }

  /** Known time of a group with its share of the run, and its time shared with other nodes; empty if unknown. */
  timeOfGroup(group: number, of = ""): string {
    const nodes = this.#groups.nodes(group);
    const run = nodes.filter((node) => this.#graph.kinds[node]! > NodeKind.PARAMETER);
    const nothing = this.#times.of(run) === 0 ? duration(0) : "";
    const own = this.#times.text(this.#groups.ns(group)) || nothing;
    const shared = this.#times.together(nodes);
    const part = own.includes(" · ") ? of : "";
    return [own && `${own}${part}`, shared].filter(Boolean).join(", ");
  }

  width(node: number, folded: number): number {
    const like = this.#like(node, folded);
    let width = like < 0 ? undefined : this.#widths.get(like);
    if (width === undefined) {
      width = this.#width(this.box(node, folded));
      if (like >= 0) this.#widths.set(like, width);
    }
    return width;
  }

  /** Key of nodes whose texts differ only in digits, so that their boxes are equally wide; -1 for others. */
  #like(node: number, folded: number): number {
    const { labels, roles, entryOffsets, shapeKnown, shapeOffsets, shapeDims } = this.#graph;
    const [entry, end] = [entryOffsets[node]!, entryOffsets[node + 1]!];
    const ns = this.#times.ns[node]!;
    const label = labels.codes[node]!;
    if (end !== entry + 1 || !shapeKnown[entry] || ns > 0 || this.isHead(node)) return -1;
    if (!labels.at(node) || label >= LABELS || folded >= MOST) return -1;
    if ((this.#graph.nodeCall?.[node] ?? -1) >= 0) return -1;
    const [first, last] = [shapeOffsets[entry]!, shapeOffsets[entry + 1]!];
    if (last - first > DIMS) return -1;
    let shape = 0;
    for (let row = first; row < last; row++) shape = 10 * shape + digits(shapeDims[row]!);
    if (Number.isNaN(shape)) return -1;
    let known = this.#shapes.get(shape);
    if (known === undefined) {
      known = this.#shapes.size;
      this.#shapes.set(shape, known);
    }
    const kind = 2 * roles.codes[node]! + (Number.isNaN(ns) ? 1 : 0);
    return (
      (((known * LABELS + label) * MOST + kind) * MOST + digits(idOf(this.#graph, node))) * MOST +
      folded
    );
  }

  /** Width of a box; `value` is about as long as its colored value. */
  #width(text: BoxText, value = ""): number {
    const spoken = (words: string) => words.replaceAll(SLOT, () => value);
    const title = this.titleWidth(spoken(text.title)) + this.#extra(text.mark);
    const second = text.own
      ? this.#small(spoken(text.own))
      : Math.max(this.#small(text.shape), this.#small(text.time));
    const small = (second + this.#extra(text.badge)) / LEGIBLE_SCALE;
    const wanted = TEXT_START + Math.max(title, small) + padding;
    return Math.ceil(Math.min(maxWidth, Math.max(minWidth, wanted)));
  }

  widthOfGroup(group: number, nodes: number, outside: number): number {
    const { title, mark, shape, time } = this.boxOfGroup(group, nodes, outside);
    const small = Math.max(this.#small(shape), this.#small(time)) / LEGIBLE_SCALE;
    const words = Math.max(this.titleWidth(title) + this.#extra(mark), small);
    const beside = TAG + 2 * padding + BUTTON + SHEETS;
    return Math.ceil(Math.min(tokens.group.maxWidth, words + beside));
  }

  widthOfHeader(group: number, compact: boolean): number {
    const title = `${this.#groups.title(group)} · ${this.timeOfGroup(group)}`;
    const words = this.#small(compact ? withoutShare(title) : title);
    return Math.ceil(Math.min(maxWidth, TAG + padding + words + BUTTON));
  }

  titleWidth(words: string): number {
    return widthIn(this.#titles, zeroed(words), this.#measure.title);
  }

  #small(words: string): number {
    return widthIn(this.#smalls, zeroed(words), this.#measure.small);
  }

  #extra(words: string): number {
    return words ? GAP + 2 * BADGE_PADDING + this.#small(words) : 0;
  }

  entry(node: number, output: number): string {
    return entryText(this.#graph, node, output, shapeText);
  }
}

/** A group's title without the share of its time, for which compact boxes have no room. */
export function withoutShare(title: string): string {
  return title.replace(/ · [^·]*%/, "");
}

export function measureFor(font: string): LabelMeasure {
  const [titles, smalls] = [
    `500 ${tokens.font.size}px ${font}`,
    `${tokens.font.small}px ${font}`,
  ].map((word) => {
    const { context } = layer("");
    context.font = word;
    return new TextMeasure(context);
  });
  return { title: (text) => titles!.width(text), small: (text) => smalls!.width(text) };
}

const { height: compactHeight, minWidth: compactMinWidth, stack } = tokens.compact;
/** Text at fractional font sizes is wider than in proportion. */
const SPARE = 4;
/** Share of its full width that an 11 px title takes at the least scale. */
const AT_LEAST = tokens.font.small / tokens.font.size / LEGIBLE_SCALE;
const ONE_LINE = 190;
const LINE = 15;
/** Room for the colored value beside a title. */
export const VALUE = 84;

/** Texts of compact boxes: the title, in two lines if long, and one fact beside it if `valued`. */
export function compactWords(words: BoxTexts, labels: BoxLabels, valued: boolean): BoxTexts {
  const value = valued ? VALUE : 0;
  const known = new Map<number, readonly string[]>();
  const linesOf = (node: number) => {
    const title = labels.numbered(node, words.title(node));
    const lines = known.get(node) ?? linesIn(title, (text) => labels.titleWidth(text));
    known.set(node, lines);
    return lines;
  };
  const room = (lines: readonly string[], beside: number) => {
    const wide = largest(lines.map((line) => labels.titleWidth(line)));
    return Math.ceil(Math.min(maxWidth, wide * AT_LEAST + SPARE + beside + value));
  };
  return {
    compact: true,
    valued,
    heightOfGroup: compactHeight + 2 * stack,
    title: (node) => words.title(node),
    box: (node, folded) => ({ ...words.box(node, folded), lines: linesOf(node) }),
    boxOfGroup: (...group) => words.boxOfGroup(...group),
    height: (node) => compactHeight + LINE * (linesOf(node).length - 1),
    width: (node) => Math.max(compactMinWidth, room(linesOf(node), TEXT_START + padding)),
    widthOfGroup: (...group) =>
      room([words.boxOfGroup(...group).title], TAG + 2 * padding + BUTTON + 2 * stack),
  };
}

/** A title in one line, shortened if operators are fused; or in two of similar length if it is long and has a blank. */
function linesIn(title: string, measure: (text: string) => number): readonly string[] {
  if (measure(title) <= ONE_LINE) return [title];
  const fused = title.split(" + ");
  if (fused.length > 2) {
    const room = Math.max(ONE_LINE, measure(`${fused[0]} + … + ${fused.at(-1)}`));
    return [shortName(title, (words) => measure(words) <= room)];
  }
  let best: readonly string[] = [title];
  let width = measure(title);
  for (let at = title.indexOf(" "); at >= 0; at = title.indexOf(" ", at + 1)) {
    // Break "a + b" after the sign.
    if (title[at + 1] === "+") continue;
    const lines = [title.slice(0, at), title.slice(at + 1)];
    const longer = largest(lines.map(measure));
    if (longer < width) [best, width] = [lines, longer];
  }
  return best;
}
