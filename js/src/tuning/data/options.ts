/** What the lower part of the view shows. */
export const PANES = ["schedule", "tiles", "errors", "findings"] as const;
export type Pane = (typeof PANES)[number];

/** What trials are drawn over. */
export type Along = "trial" | "time";

/** How the table of tasks is sorted. */
export const SORTS = ["time", "gain", "errors", "task"] as const;
export type Sort = (typeof SORTS)[number];

/** What trials have in common where their errors are counted. */
export const ERRORS_BY = ["unroll", "round", "threads"] as const;
export type ErrorsBy = (typeof ERRORS_BY)[number];

/** The trials that are counted: what is null or empty is no limit. */
export interface TrialScope {
  task: number | null;
  /** By number, the last one left out. */
  trials: readonly [first: number, end: number] | null;
  query: string;
}

/** The traits of the TuningView's model. */
export interface TuningOptions {
  /** The task that is looked at; null is all of them. */
  task: number | null;
  /** The trial whose schedule is shown; null is the best of the task. */
  trial: number | null;
  along: Along;
  /** The trials in view and counted, by number, the last one left out; null is all. */
  trial_range: [first: number, end: number] | null;
  query: string;
  pane: Pane;
  sort: Sort;
  /** CSS pixels. */
  height: number;
}
