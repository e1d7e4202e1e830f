/** Trials of a tuning log as columns, and counts from Python. */

import { measureErrors } from "../../../tvmdbg_widgets/figures/tokens.json";
import type { TuningOptions } from "../shared/client/options.ts";
import type { Columns } from "../shared/client/wire.ts";
import type { Theme } from "../shared/drawing/theme.ts";

/** One task, as in `answers/tuning.py`. Times in seconds; null if unknown. */
export interface TaskInfo {
  index: number;
  /** Short name: `matmul_add 1024×1024×1024`. */
  name: string;
  key: string;
  target: string;
  trials: number;
  valid: number;
  best: number | null;
  bestTrial: number | null;
  gflops: number | null;
  /** The compute DAG, and so the GFLOPS and the names of loops, is only assumed. */
  assumed: boolean;
  /** Gain expected of another round by the task scheduler, seconds of the total. */
  gain: number | null;
  weight: number;
  /** Share of the weighted total; null while that is unknown. */
  share: number | null;
  nodes: number[];
  /** Confidence of the linked nodes; empty without any. */
  linkedBy: string;
}

export interface FindingInfo {
  rule: string;
  severity: "error" | "warning" | "hotspot" | "info";
  title: string;
  evidence: string[];
  confidence: string;
  why: string;
  nextStep: string;
  tasks: number[];
  trials: number[];
}

/** Errors of trials by a common property: round, unroll setting, number of threads. */
export interface ErrorTableInfo {
  note: string;
  /** Kinds of failures; one code may have two. */
  kinds: { label: string; code: number }[];
  rows: ErrorRow[];
}

export interface ErrorRow {
  label: string;
  /** Query for its trials; may be empty. */
  query: string;
  trials: number;
  counts: number[];
}

export interface TuningInfo {
  title: string;
  /** Texts after the title: the tuner, files, versions. */
  about: string[];
  tasks: TaskInfo[];
  findings: FindingInfo[];
  errorNames: Record<string, string>;
  /** Properties by which errors are counted. */
  errorsBy: ErrorsBy[];
  /** Number of unreadable lines, and the error of the first. */
  refused: number;
  refusedWhy: string[];
  /** True if costs are weighted; without weights the total is the plain sum. */
  weighted: boolean;
  /** Seconds; null if a task has no valid trial. */
  total: number | null;
  timed: boolean;
  /** Failed trials in words: "1,638 of 3,008 trials failed". */
  summary: string;
}

export type TuningColumns = Columns<"tuning"> & { info: TuningInfo };

/** N trials in the order of the log, and the curves over them. */
export class TuningData {
  readonly info: TuningInfo;
  readonly task: Int32Array;
  /** Seconds; NaN if the trial failed. */
  readonly cost: Float64Array;
  /** Error code; 255 is a failure without a code. */
  readonly error: Uint8Array;
  /** Seconds since the first trial; NaN if unknown. */
  readonly time: Float64Array;
  readonly #curveRows: Int32Array;
  readonly #curveOffsets: Int32Array;
  /** Trials that changed the total, and the new totals. */
  readonly totalRows: Int32Array;
  readonly totals: Float64Array;

  constructor(columns: TuningColumns) {
    this.info = columns.info;
    this.task = columns.task;
    this.cost = columns.cost;
    this.error = columns.error;
    this.time = columns.time;
    this.#curveRows = columns.curveRows;
    this.#curveOffsets = columns.curveOffsets;
    this.totalRows = columns.totalRows;
    this.totals = columns.totals;
  }

  get count(): number {
    return this.task.length;
  }

  curve(task: number): Int32Array {
    return this.#curveRows.subarray(this.#curveOffsets[task]!, this.#curveOffsets[task + 1]!);
  }

  errorName(code: number): string {
    return this.info.errorNames[code] ?? `error ${code}`;
  }
}

export const PANES = ["schedule", "tiles", "errors", "findings"] as const;
export type PaneName = (typeof PANES)[number];

export type Along = "trial" | "time";

export const SORTS = ["time", "gain", "errors", "task"] as const;
export type Sort = (typeof SORTS)[number];

export type ErrorsBy = "unroll" | "round" | "threads";

/** Limits of the counted trials; null or empty sets no limit. */
export interface TrialScope {
  task: number | null;
  /** Trial numbers, half-open. */
  trials: readonly [first: number, end: number] | null;
  query: string;
}

export type { TuningOptions };

/** Trials, failures and best costs by task among some of the trials. */
export interface TaskCounts {
  trials: Int32Array;
  failed: Int32Array;
  /** Seconds; NaN without valid trials. */
  best: Float64Array;
}

/** Counts the trials of every task in a range and in a mask; null if that is all of them. */
export function countTrials(
  data: TuningData,
  range: readonly [first: number, end: number] | null,
  chosen: Uint8Array | null,
): TaskCounts | null {
  if (!range && !chosen) return null;
  const [first, end] = range ?? [0, data.count];
  const tasks = data.info.tasks.length;
  const counts: TaskCounts = {
    trials: new Int32Array(tasks),
    failed: new Int32Array(tasks),
    best: new Float64Array(tasks).fill(Number.NaN),
  };
  for (let row = Math.max(0, first); row < Math.min(end, data.count); row++) {
    if (chosen && !chosen[row]) continue;
    const task = data.task[row]!;
    counts.trials[task]!++;
    if (data.error[row]) counts.failed[task]!++;
    else if (!(counts.best[task]! <= data.cost[row]!)) counts.best[task] = data.cost[row]!;
  }
  return counts;
}

/** Slots of a bin: codes 0 to 8, and failures without a code. */
export const SLOTS = 10;
/** Measurements of a round (TuningOptions, num_measures_per_round). */
export const ROUND = 64;

/** Color of an error code; 0 is a measured trial. */
export function errorFill({ dark }: Theme, code: number): string {
  const fills: Record<string, string> = measureErrors[dark ? "dark" : "light"];
  return fills[code] ?? fills.other!;
}

export function slotFill(theme: Theme, slot: number): string {
  return errorFill(theme, slot < SLOTS - 1 ? slot : 255);
}

/** Color of a loop by its annotation in TVM. */
export function annotationColor({ dark }: Theme, word: string): string {
  const [light, onDark] = ANNOTATIONS[word.split(".")[0]!] ?? ["", ""];
  return dark ? onDark : light;
}

const ANNOTATIONS: Record<string, readonly [light: string, dark: string]> = {
  parallel: ["#0b5fd0", "#6cb0ff"],
  vectorize: ["#1b7f3b", "#7cc48b"],
  unroll: ["#8a5300", "#e8b04b"],
  blockIdx: ["#7d4cae", "#c7a4ec"],
  threadIdx: ["#a81f6b", "#f08cc0"],
  vthread: ["#0f6f78", "#5cc4cd"],
  tensorize: ["#5c6400", "#c4d04a"],
};
