/** What is shown of the view. */
export type Part = "chart" | "table" | "both";

/** The traits of the Flamechart's model. */
export interface TimelineOptions {
  show: Part;
  /** The part of the time axis in view, nanoseconds; null is all. */
  time_range: [start: number, end: number] | null;
  sort: "time" | "order";
  /** Height of chart and table in CSS pixels. */
  height: number;
}
