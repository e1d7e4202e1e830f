/** A tuning log as the view has it: trials as columns, and what was counted of them in Python. */
import type { Columns } from "../../shared/client/wire.ts";

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
  /** Nodes of the linked run. */
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
  /** By kind. */
  counts: number[];
}

export interface TuningInfo {
  title: string;
  /** What stands behind the title: the tuner, files, versions. */
  about: string[];
  tasks: TaskInfo[];
  findings: FindingInfo[];
  /** Names of the error codes that occur. */
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
  /** Whether there are timestamps. */
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
  /** Trials that were better than all before them of their task, by task. */
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

  /** The trials that improved on all before them of the task. */
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

  /** The name of an error code. */
  errorName(code: number): string {
    return this.info.errorNames[code] ?? `error ${code}`;
  }
}
