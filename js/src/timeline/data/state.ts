import type { TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { blockFill, heatFill, kindFill, type Theme } from "../../shared/drawing/theme.ts";
import type { Change } from "./change.ts";

/** Op kind; block; share of the time, where one kind takes nearly all of it; difference of two runs. */
export type ColorBy = "kind" | "block" | "share" | "change";
/** "auto" chooses the most telling one. */
export type SliceColorChoice = ColorBy | "auto";

/** What slices, and the marks of operators in lists, are colored by. */
export class SliceColors {
  chosen: SliceColorChoice = "auto";
  /** Time of a name over that of the longest row. */
  shareOfName: (code: number) => number = () => 0;
  /** The end of the scale of times: that of the longest operator or call. */
  longest = 0;
  readonly #columns: TimelineColumns;
  readonly #change: Change | null;

  constructor(columns: TimelineColumns, change: Change | null) {
    this.#columns = columns;
    this.#change = change;
  }

  get offered(): ColorBy[] {
    if (this.#change) return ["kind", "change"];
    return this.#columns.info.colors.blocks.length ? ["kind", "block", "share"] : ["kind", "share"];
  }

  get by(): ColorBy {
    const { chosen } = this;
    if (chosen !== "auto" && this.offered.includes(chosen)) return chosen;
    return this.#change ? "kind" : this.#columns.info.colors.by;
  }

  get next(): ColorBy {
    const { offered } = this;
    return offered[(offered.indexOf(this.by) + 1) % offered.length]!;
  }

  /** Kind of the outermost block around a node, -1 for none. */
  block(node: number): number {
    return this.#columns.nodeBlock[node] ?? -1;
  }

  /** What the blocks of a kind are called: `A residual block`. */
  blockTitle(kind: number): string {
    return this.#columns.info.colors.blocks.find(([each]) => each === kind)?.[1] ?? "";
  }

  shareOf(node: number): number {
    return this.shareOfTime(this.#columns.nodeNs[node]!);
  }

  shareOfTime(ns: number): number {
    return this.longest > 0 && ns > 0 ? Math.min(1, ns / this.longest) : 0;
  }

  /** The op kind that takes nearly all of the time; "" for none. */
  get kind(): string {
    return this.#columns.info.colors.kind;
  }

  /** Whether what is of an op kind is colored by its share of the time. */
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

export type ShownPart = "chart" | "table" | "both";

/** What the chart shows: tracks in time, merged by path, repeats on one axis, operators × repeats, work against time. */
export type ChartKind = "time" | "merged" | "folded" | "repeats" | "roofline";

/** What a row of the table sums up. */
export type TableBy =
  | "node"
  | "kind"
  | "part"
  | "group"
  | "module"
  | "device"
  | "name"
  | "callers"
  | "change";

/** The traits of the Flamechart's model. */
export interface TimelineOptions {
  show: ShownPart;
  chart: ChartKind;
  table_by: TableBy;
  slice_color: SliceColorChoice;
  critical: boolean;
  /** Ceilings of the roofline, operations and bytes a second; null where nobody said. */
  peak_flops: number | null;
  bandwidth: number | null;
  /** The part of the time axis in view, nanoseconds; null is all. */
  time_range: [start: number, end: number] | null;
  sort: "time" | "order";
  /** Height of chart and table in CSS pixels. */
  height: number;
}
