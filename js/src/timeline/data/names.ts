import { type GraphColumns, NodeKind } from "../../shared/client/answers.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { niceStep } from "../../shared/drawing/value_axis.ts";
import { counted, givenText, UNITS } from "../../shared/format.ts";
import { type Change, changeFills, fillOfChange } from "./change.ts";
import type { Slices } from "./slices.ts";
import { SliceColors } from "./state.ts";

/** Title of an operator, a name or a group in its parts: `conv2d + add + relu`, `#38`, `1×64×8×8`. */
export interface Title {
  label: string;
  /** "" unless it is a node. */
  id: string;
  /** Shape of its output if other operators have the same label; else "". */
  shape: string;
}

/** `#38 conv2d + add + relu · 1×64×8×8`. */
export function titleText({ label, id, shape }: Title): string {
  return [named({ label, id }), shape].filter(Boolean).join(" · ");
}

function named({ label, id }: Pick<Title, "label" | "id">): string {
  return [id, label].filter(Boolean).join(" ");
}

/** The first operator of a fusion. */
export function firstOf(label: string): string {
  return label.split(" + ", 1)[0]!;
}

/** As much of a title as fits: without its shape, then shortened in the middle; the id is kept longest. */
export function fitTitle(measure: TextMeasure, title: Title, room: number): string {
  const text = titleText(title);
  return measure.width(text) <= room ? text : measure.fit(named(title), room);
}

/** Writes as much of a title as fits into `room`, its middle at `y`; returns its width. */
export function writeTitle(
  brush: ChartBrush,
  title: Title,
  x: number,
  y: number,
  color: string,
  room: number,
  weight?: string,
): number {
  brush.font(weight);
  const shown = fitTitle(brush.measure, title, room);
  return shown ? brush.write(shown, x, y, color) : 0;
}

/** Time on an axis, with enough decimals to separate neighbors that are `step` apart. */
export function timeText(ns: number, step: number, largest = ns): string {
  if (ns === 0) return "0";
  const [size, name] = UNITS.find(([size]) => Math.abs(largest) >= size) ?? [1, "ns"];
  const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ns / size).toFixed(decimals)} ${name}`;
}

/** Both ends of a range, to a thousandth of it: `1.200 ms – 3.450 ms`. */
export function rangeText([from, to]: readonly [from: number, to: number]): string {
  return [from, to].map((ns) => timeText(ns, (to - from) / 1000, to)).join(" – ");
}

/** Interval, from 1, of the columns whose numbers stand `apart` when written below them. */
export function numbered(count: number, wide: number, apart: number): number[] {
  const step = niceStep(Math.max(1, apart / wide));
  return Array.from({ length: Math.floor(count / step) }, (_, i) => (i + 1) * step);
}

export interface TimeTick {
  ns: number;
  text: string;
}

/** At most `most` ticks in [start, end], at multiples of a nice step. */
export function ticks(start: number, end: number, most: number): TimeTick[] {
  const step = niceStep((end - start) / Math.max(1, most));
  const largest = Math.max(Math.abs(start), Math.abs(end));
  const ticks: TimeTick[] = [];
  for (let i = Math.ceil(start / step - 1e-9); i * step <= end + step * 1e-9; i++) {
    ticks.push({ ns: i * step, text: timeText(i * step, step, largest) });
  }
  return ticks;
}

/** Titles of nodes and slices; without a graph, those of the trace. */
export class Names {
  readonly colors: SliceColors;
  readonly #slices: Slices;
  readonly #graph: GraphColumns | null;
  #kinds: Map<number, string> | null = null;
  /** Number of operators by label. */
  #bearers: Uint32Array | null = null;
  #fills: { theme: Theme; css: string[] } | null = null;

  constructor(
    slices: Slices,
    graph: GraphColumns | null,
    readonly change: Change | null = null,
  ) {
    this.#slices = slices;
    this.#graph = graph;
    this.colors = new SliceColors(slices.columns, change);
  }

  /** Word for a row of the source: node, call, … */
  get item(): string {
    return this.#slices.columns.info.words.item;
  }

  /** True for a slice of the second of two runs: its node is the matched one of the first. */
  isOther(slice: number): boolean {
    return this.change !== null && this.#slices.columns.trackRun[this.#slices.trackOf(slice)] === 1;
  }

  /** Op kind of a slice: of its node, or of its own operator in the second of two runs. */
  kindOf(slice: number): string {
    const node = this.#slices.nodeOf(slice);
    if (!this.isOther(slice)) {
      if (node >= 0) return this.opKind(node);
      const kind = this.nameKind(this.#slices.nameCodeOf(slice));
      const call = kind === "other" ? this.#slices.callOf(slice) : -1;
      return call < 0 ? kind : (this.#slices.columns.setKinds?.at(call) ?? kind);
    }
    return this.change!.named(this.#slices.nameOf(slice))?.[1] ?? "other";
  }

  get known(): boolean {
    return this.#graph !== null;
  }

  /** Short label of a node; "" without a graph. */
  ofNode(node: number): string {
    if (!this.#graph || node < 0) return "";
    return this.#graph.labels.at(node) || this.#graph.names.at(node);
  }

  /** `1×64×8×8` for an operator whose label others have too; else "". */
  shape(node: number): string {
    const graph = this.#graph;
    if (!graph || node < 0 || !this.isOperator(node)) return "";
    this.#bearers ??= bearers(graph);
    if (this.#bearers[graph.labels.codes[node]!]! < 2) return "";
    const entry = graph.entryOffsets[node]!;
    if (entry >= graph.entryOffsets[node + 1]! || !graph.shapeKnown[entry]) return "";
    const [start, end] = [graph.shapeOffsets[entry]!, graph.shapeOffsets[entry + 1]!];
    return Array.from(graph.shapeDims.subarray(start, end)).join("×") || "scalar";
  }

  /** Title of a node; `recorded`: name of its slices, for a run without a graph. */
  titleOf(node: number, recorded = ""): Title {
    const isNumber = node >= 0 && recorded === `${this.item} ${node}`;
    const label = this.ofNode(node) || (isNumber ? "" : recorded);
    return { label, id: node < 0 ? "" : `#${node}`, shape: this.shape(node) };
  }

  /** `#38 conv2d + add + relu`, with its shape if others have the same title. */
  title(node: number, recorded = ""): string {
    return titleText(this.titleOf(node, recorded));
  }

  fullName(node: number): string {
    return node < 0 ? "" : (this.#graph?.names.at(node) ?? "");
  }

  funcName(node: number): string {
    return node < 0 ? "" : (this.#graph?.funcNames.at(node) ?? "");
  }

  ofSlice(slice: number): string {
    if (this.isOther(slice)) {
      const name = this.#slices.nameOf(slice);
      return this.change!.named(name)?.[0] ?? name;
    }
    return this.ofNode(this.#slices.nodeOf(slice)) || this.recorded(slice);
  }

  /** Name of a slice's event; of a delegate's call its title: `XNNPACK call 1 of 2 · 20 operators`. */
  recorded(slice: number): string {
    return this.#callTitle(slice) || this.#slices.nameLabel(this.#slices.nameCodeOf(slice));
  }

  #callTitle(slice: number): string {
    const call = this.#slices.callOf(slice);
    const { setKinds, setNames } = this.#slices.columns;
    if (call < 0 || setKinds?.at(call) !== "delegate") return "";
    const title = setNames!.at(call).replace(/^rest of |, outside its operators$/g, "");
    const count = this.#slices.nodesOfCall(call).length;
    return title.includes(" · ") || count < 2 ? title : `${title} · ${counted(count, "operator")}`;
  }

  opKind(node: number): string {
    if (node < 0) return "other";
    if (this.#graph) return this.#graph.opKinds.at(node) || "other";
    const { rankNode, rankKind } = this.#slices.columns;
    this.#kinds ??= new Map(Array.from(rankNode, (node, row) => [node, rankKind.at(row)]));
    return this.#kinds.get(node) ?? "other";
  }

  /** Op kind of the slices of a name whose node is unknown, from the name alone. */
  nameKind(code: number): string {
    return this.#slices.nameKinds.at(code) || "other";
  }

  /** Color of an operator: by node, or by the name of its slices if no node is known. */
  fill(theme: Theme, node: number, name: number): string {
    return node < 0
      ? this.colors.ofName(theme, name, this.nameKind(name))
      : this.colors.ofNode(theme, node, this.opKind(node));
  }

  /** Color of a row of an op kind, which decides for calls. */
  fillOf(theme: Theme, node: number, name: number, kind: string, ns: number): string {
    if (node >= 0) return this.fill(theme, node, -1);
    if (this.nameKind(name) === kind) return this.fill(theme, -1, name);
    return this.colors.ofCall(theme, kind, ns);
  }

  /** Color of a node by its difference; null unless two runs are compared so. */
  changeFill(theme: Theme, node: number): string | null {
    if (!this.change?.colored) return null;
    if (this.#fills?.theme !== theme) this.#fills = { theme, css: changeFills(theme) };
    return this.#fills.css[fillOfChange(this.change, this.change.rowOf(node))]!;
  }

  isOperator(node: number): boolean {
    const kind = this.#graph?.kinds[node];
    return kind !== NodeKind.INPUT && kind !== NodeKind.PARAMETER;
  }

  /** Why a node takes no time, or "". */
  idle(node: number): string {
    return this.#graph ? givenText(this.#graph, node) : "";
  }

  /** 1 for nodes with a matching label, name, function or op kind; tests distinct texts once. */
  nodesThat(fits: (text: string) => boolean): Uint8Array {
    const nodes = this.#slices.columns.nodeNs.length;
    const flags = new Uint8Array(nodes);
    if (!this.#graph) return flags;
    for (const { codes, unique } of [
      this.#graph.labels,
      this.#graph.names,
      this.#graph.funcNames,
      this.#graph.opKinds,
    ]) {
      const hits = unique.map(fits);
      for (let node = 0; node < nodes; node++) if (hits[codes[node]!]) flags[node] = 1;
    }
    return flags;
  }
}

function bearers({ labels, kinds }: GraphColumns): Uint32Array {
  const counts = new Uint32Array(labels.unique.length);
  labels.codes.forEach((code, node) => {
    if (kinds[node] !== NodeKind.INPUT && kinds[node] !== NodeKind.PARAMETER) counts[code]!++;
  });
  return counts;
}
