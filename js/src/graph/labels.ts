import tokens from "../../../tvmdbg_widgets/figures/tokens.json";
import { duration, percent, shapeText } from "../shared/format.ts";
import { type GraphColumns, NodeKind } from "../shared/run_client.ts";
import type { Times } from "./times.ts";

/** Text widths in the fonts of a box's two lines, px at scale 1. */
export interface Measure {
  title(text: string): number;
  small(text: string): number;
}

/** The words of one box, the same in every colour mode so that a change of colours moves nothing. */
export interface BoxText {
  title: string;
  /** At the right of the title: what sets this node apart. */
  mark: string;
  /** Whether one of its outputs is an output of the graph. */
  head: boolean;
  /** Second line when the boxes show op kinds, and when they show time. */
  shape: string;
  time: string;
  /** At the right of the second line: what is folded into the box. */
  badge: string;
  width: number;
  height: number;
}

const { height, minWidth, maxWidth, padding, stripe } = tokens.node;

/** Free space between a line's text and what stands at its right. */
export const GAP = 8;
/** Padding inside a mark or badge. */
export const BADGE_PADDING = 4;
/** Where a box's text starts, from its left border. */
export const TEXT_START = stripe + padding - 2;

/** Digits are equally wide in the fonts of user interfaces: as zeros, 10,000 ids leave few texts to measure. */
function alike(words: string): string {
  return words.replace(/\d/g, "0");
}

/** The words of the boxes of one graph. */
export class Labels {
  readonly #graph: GraphColumns;
  readonly #times: Times;
  readonly #measure: Measure;
  readonly #heads = new Map<number, number[]>();

  constructor(graph: GraphColumns, times: Times, measure: Measure) {
    this.#graph = graph;
    this.#times = times;
    this.#measure = measure;
    for (const [row, node] of graph.headNode.entries()) {
      this.#heads.set(node, [...(this.#heads.get(node) ?? []), row]);
    }
  }

  /** Whether one of the node's outputs is an output of the graph. */
  isHead(node: number): boolean {
    return this.#heads.has(node);
  }

  title(node: number): string {
    const { labels, names } = this.#graph;
    return labels.at(node) || names.at(node) || `node ${node}`;
  }

  /** What the node is apart from its kind: input, parameter, an output of the graph, the slowest. */
  mark(node: number): string {
    const kind = this.#graph.kinds[node];
    if (node === this.#times.slowest) return "slowest";
    const heads = this.#heads.get(node);
    if (heads) return this.#heads.size > 1 ? `output ${heads.join(", ")}` : "output";
    if (kind === NodeKind.INPUT) return "input";
    return kind === NodeKind.PARAMETER ? "param" : "";
  }

  shape(node: number): string {
    const { entryOffsets, shapeKnown, shapeOffsets, shapeDims } = this.#graph;
    const [entry, end] = [entryOffsets[node]!, entryOffsets[node + 1]!];
    if (end === entry) return "no output";
    const more = end - entry > 1 ? `, ${end - entry} outputs` : "";
    if (!shapeKnown[entry]) return `shape unknown${more}`;
    const dims = shapeDims.subarray(shapeOffsets[entry]!, shapeOffsets[entry + 1]!);
    return `${dims.length ? Array.from(dims).join("×") : "scalar"}${more}`;
  }

  time(node: number): string {
    const ns = this.#times.ns[node]!;
    if (ns > 0) return `${duration(ns)} · ${percent(this.#times.share(node))}`;
    const kind = this.#graph.kinds[node];
    if (kind === NodeKind.INPUT || kind === NodeKind.PARAMETER) return "not run";
    return Number.isNaN(ns) ? "time unknown" : duration(ns);
  }

  box(node: number, folded: number): BoxText {
    const text = {
      title: this.title(node),
      mark: this.mark(node),
      head: this.isHead(node),
      shape: `#${node} · ${this.shape(node)}`,
      time: `#${node} · ${this.time(node)}`,
      badge: folded === 0 ? "" : folded === 1 ? "1 param" : `${folded} params`,
    };
    const small = (words: string) => this.#measure.small(alike(words));
    const extra = (words: string) => (words ? GAP + 2 * BADGE_PADDING + small(words) : 0);
    const title = this.#measure.title(alike(text.title)) + extra(text.mark);
    const second = Math.max(small(text.shape), small(text.time));
    const wanted = TEXT_START + Math.max(title, second + extra(text.badge)) + padding;
    return { ...text, width: Math.ceil(Math.min(maxWidth, Math.max(minWidth, wanted))), height };
  }

  /** Shape of an entry as Python writes it, with its dtype: `float32 (1, 64, 8, 8)`. */
  entry(node: number, output: number): string {
    const { entryOffsets, shapeKnown, shapeOffsets, shapeDims, dtypes } = this.#graph;
    const entry = entryOffsets[node]! + output;
    if (entry >= entryOffsets[node + 1]!) return "unknown";
    const dtype = dtypes.at(entry) || "unknown dtype";
    if (!shapeKnown[entry]) return `${dtype} of unknown shape`;
    return `${dtype} ${shapeText(shapeDims.subarray(shapeOffsets[entry]!, shapeOffsets[entry + 1]!))}`;
  }
}
