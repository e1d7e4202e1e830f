/** Trials of a tuning log as columns, and counts from Python. */

import { measureErrors } from "../../../tvmdbg_widgets/figures/tokens.json";
import type { Columns } from "../shared/client/wire.ts";
import type { Theme } from "../shared/drawing/theme.ts";

/** One task, as `widgets/tuning.py` tells it. Times in seconds; null is unknown. */
export interface TaskInfo {
  index: number;
  /** Short: `matmul_add 1024×1024×1024`. */
  name: string;
  key: string;
  target: string;
  trials: number;
  valid: number;
  best: number | null;
  bestTrial: number | null;
  gflops: number | null;
  /** Whether the compute DAG, and so the GFLOPS and the names of loops, is only assumed. */
  assumed: boolean;
  /** What the task scheduler estimates that another round may gain, seconds of the total. */
  gain: number | null;
  /** Seconds that building and running took. */
  spent: number | null;
  weight: number;
  /** Of the weighted total; null while that is unknown. */
  share: number | null;
  nodes: number[];
  /** How sure they are, empty where there are none. */
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

/** Errors of trials that have something in common: a round, an unroll setting, a number of threads. */
export interface ErrorTableInfo {
  /** Which rows are left out. */
  note: string;
  /** What failed trials say; of one code there may be two kinds. */
  kinds: { label: string; code: number }[];
  rows: ErrorRow[];
}

export interface ErrorRow {
  label: string;
  /** Finds its trials; empty where no query does. */
  query: string;
  trials: number;
  counts: number[];
}

export interface TuningInfo {
  title: string;
  /** What stands behind the title: the tuner, files, versions. */
  about: string[];
  tasks: TaskInfo[];
  findings: FindingInfo[];
  errorNames: Record<string, string>;
  /** Whether a task is for a GPU: blocks have threads. */
  onGpu: boolean;
  /** Lines that could not be read, and why the first could not. */
  refused: number;
  refusedWhy: string[];
  /** Whether costs are weighted; without weights the total is the plain sum. */
  weighted: boolean;
  /** Seconds; null where a task has no valid trial. */
  total: number | null;
  timed: boolean;
  /** Failed trials in words: "1,638 of 3,008 trials failed". */
  summary: string;
}

export type TuningColumns = Columns<"tuning">;

/** N trials in the order of the log, and the curves over them. */
export class TuningData {
  readonly info: TuningInfo;
  readonly task: Int32Array;
  /** Seconds, NaN where the trial failed. */
  readonly cost: Float64Array;
  /** Error code; 255 is a failure without a code. */
  readonly error: Uint8Array;
  /** Seconds since the first trial, NaN where unknown. */
  readonly time: Float64Array;
  readonly #curveRows: Int32Array;
  readonly #curveOffsets: Int32Array;
  /** Trials after which the total is another, and that total. */
  readonly totalRows: Int32Array;
  readonly totals: Float64Array;
  readonly #rowsOf = new Map<number, Int32Array>();

  constructor(info: TuningInfo, columns: TuningColumns) {
    this.info = info;
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

  /** The trials of a task, ascending. */
  rowsOf(task: number): Int32Array {
    let rows = this.#rowsOf.get(task);
    if (!rows) {
      rows = Int32Array.from(this.#filtered((row) => this.task[row] === task));
      this.#rowsOf.set(task, rows);
    }
    return rows;
  }

  *#filtered(fits: (row: number) => boolean): Iterable<number> {
    for (let row = 0; row < this.count; row++) if (fits(row)) yield row;
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

export interface TuningOptions {
  /** The task that is looked at; null is all of them. */
  task: number | null;
  /** The trial whose schedule is shown; null is the best of the task. */
  trial: number | null;
  along: Along;
  /** The trials in view and counted, by number, the last one left out; null is all. */
  trial_range: [first: number, end: number] | null;
  query: string;
  pane: PaneName;
  sort: Sort;
  /** CSS pixels. */
  height: number;
}

/** Trials, failures and the best cost of each task among some of the trials. */
export interface TaskCounts {
  trials: Int32Array;
  failed: Int32Array;
  /** Seconds, NaN where none is valid. */
  best: Float64Array;
}

/** Counts the trials of each task in a range and among those chosen; null where that is all of them. */
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

export function slotOf(code: number): number {
  return code < SLOTS - 1 ? code : SLOTS - 1;
}

/** Fill of an error code; 0 is a trial that was measured. */
export function errorFill({ dark }: Theme, code: number): string {
  const fills: Record<string, string> = measureErrors[dark ? "dark" : "light"];
  return fills[code] ?? fills.other!;
}

export function slotFill(theme: Theme, slot: number): string {
  return errorFill(theme, slot < SLOTS - 1 ? slot : 255);
}

/** Color of what a loop of a nest is bound to, by the word TVM prints. */
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
  tensorize: ["#b3261e", "#ff8a80"],
};
