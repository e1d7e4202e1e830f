import type { TimelineOptions } from "../../shared/client/options.ts";
import type { TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { blockFill, heatFill, kindFill, type Theme } from "../../shared/drawing/theme.ts";
import type { Change } from "./change.ts";

/** Op kind; block; share of the time, if one kind takes nearly all of it; difference of two runs. */
export type ColorBy = "kind" | "block" | "share" | "change";
/** "auto" chooses the most informative one. */
export type SliceColorChoice = ColorBy | "auto";

/** Colors of slices, and of the marks of operators in lists. */
export class SliceColors {
  chosen: SliceColorChoice = "auto";
  /** Time of a name over the time of the longest row. */
  shareOfName: (code: number) => number = () => 0;
  /** End of the scale of times: the longest operator or call. */
  longest = 0;
  readonly #columns: TimelineColumns;
  readonly #change: Change | null;

  constructor(columns: TimelineColumns, change: Change | null) {
    this.#columns = columns;
    this.#change = change;
  }

  get offered(): ColorBy[] {
    if (this.#change) return ["change", "kind"];
    return this.#columns.info.colors.blocks.length ? ["kind", "block", "share"] : ["kind", "share"];
  }

  get by(): ColorBy {
    const { chosen } = this;
    if (chosen !== "auto" && this.offered.includes(chosen)) return chosen;
    return this.#change ? "change" : this.#columns.info.colors.by;
  }

  /** What is colored, in words. */
  get rule(): string {
    return {
      kind: "kind of operator",
      block: "block of the graph",
      share: "share of the time",
      change: "difference",
    }[this.by];
  }

  get next(): ColorBy {
    const { offered } = this;
    return offered[(offered.indexOf(this.by) + 1) % offered.length]!;
  }

  /** Kind of the outermost block around a node, or -1. */
  block(node: number): number {
    return this.#columns.nodeBlock[node] ?? -1;
  }

  /** Title of the blocks of a kind: `A residual block`. */
  blockTitle(kind: number): string {
    return this.#columns.info.colors.blocks.find(([block]) => block === kind)?.[1] ?? "";
  }

  shareOf(node: number): number {
    return this.shareOfTime(this.#columns.nodeNs[node]!);
  }

  shareOfTime(ns: number): number {
    return this.longest > 0 && ns > 0 ? Math.min(1, ns / this.longest) : 0;
  }

  /** The op kind that takes nearly all of the time, or "". */
  get kind(): string {
    return this.#columns.info.colors.kind;
  }

  /** True if an op kind is colored by its share of the time. */
  byShare(kind: string): boolean {
    return this.by === "share" && (this.kind === "" || this.kind === kind);
  }

  ofNode(theme: Theme, node: number, kind: string): string {
    if (this.byShare(kind)) return heatFill(theme, this.shareOf(node));
    const block = this.by === "block" ? this.block(node) : -1;
    return block < 0 ? kindFill(theme, kind) : blockFill(theme, block);
  }

  ofCall(theme: Theme, kind: string, ns: number): string {
    return this.byShare(kind) ? heatFill(theme, this.shareOfTime(ns)) : kindFill(theme, kind);
  }

  ofName(theme: Theme, code: number, kind: string): string {
    return this.byShare(kind) ? heatFill(theme, this.shareOfName(code)) : kindFill(theme, kind);
  }
}

export type TimeRange = readonly [from: number, to: number];
export type { TimelineOptions };
export type ShownPart = TimelineOptions["show"];
export type ChartKind = TimelineOptions["chart"];
export type TableBy = TimelineOptions["table_by"];
