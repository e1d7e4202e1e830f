import type { ColorChoice } from "./data/slice_colors.ts";

/** What is shown of the view. */
export type Part = "chart" | "table" | "both";

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
  show: Part;
  chart: ChartKind;
  table_by: TableBy;
  /** What slices are colored by. */
  slice_color: ColorChoice;
  /** Whether the critical path is marked. */
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
