import { integer, percent } from "../../shared/format.ts";
import type { TaskCounts } from "./counts.ts";
import type { TaskInfo, TuningInfo } from "./data.ts";
import { seconds } from "./descriptions.ts";
import type { Sort } from "./options.ts";

/** One row of the table of tasks, as texts. */
export interface TaskRow {
  task: TaskInfo;
  name: string;
  best: string;
  gflops: string;
  trials: string;
  failed: string;
  /** 0 … 1, for the bar behind the number; NaN without trials. */
  failedShare: number;
  share: string;
  gain: string;
  /** How many nodes of the linked run it tuned, and how they were found. */
  nodes: string;
}

/** The tasks in the order of a sort: most first, unknown last. */
export function sorted(tasks: readonly TaskInfo[], sort: Sort): TaskInfo[] {
  const key = (task: TaskInfo): number => {
    if (sort === "time") return task.best === null ? -1 : task.weight * task.best;
    if (sort === "gain") return task.gain ?? -1;
    if (sort === "errors") return task.trials - task.valid;
    return -task.index;
  };
  return [...tasks].sort((a, b) => key(b) - key(a) || a.index - b.index);
}

/** What the table says; `counts` are those of the trials in view, null where all are. */
export function taskRows(info: TuningInfo, sort: Sort, counts: TaskCounts | null): TaskRow[] {
  return sorted(info.tasks, sort).map((task) => {
    const trials = counts ? counts.trials[task.index]! : task.trials;
    const failed = counts ? counts.failed[task.index]! : task.trials - task.valid;
    const best = counts ? counts.best[task.index]! : (task.best ?? Number.NaN);
    return {
      task,
      name: task.name,
      best: Number.isNaN(best) ? (trials ? "none valid" : "") : seconds(best),
      gflops: task.gflops === null || counts ? "" : gflopsText(task.gflops, task.assumed),
      trials: integer(trials),
      failed: trials ? percent(failed / trials) : "",
      failedShare: trials ? failed / trials : Number.NaN,
      share: task.share === null ? "" : percent(task.share),
      gain: gainText(task.gain),
      nodes: task.nodes.length ? `${task.nodes.length} ${task.linkedBy}` : "",
    };
  });
}

/** Whether any task has a number of floating-point operations. */
function knowsFlops({ tasks }: TuningInfo): boolean {
  return tasks.some(({ gflops }) => gflops !== null);
}

function gflopsText(gflops: number, assumed: boolean): string {
  const text = gflops >= 100 ? integer(Math.round(gflops)) : gflops.toPrecision(3);
  return assumed ? `${text}*` : text;
}

function gainText(gain: number | null): string {
  if (gain === null) return "";
  return gain > 0 ? seconds(gain) : "none";
}

/** The columns of numbers, by what their heads say. */
export const COLUMNS = {
  best: "best",
  gflops: "GFLOPS",
  trials: "trials",
  failed: "failed",
  share: "share",
  gain: "expected gain",
  nodes: "nodes",
} as const;
export type Column = keyof typeof COLUMNS;

/** The columns that hold anything. */
export function shownColumns(info: TuningInfo, rows: readonly TaskRow[]): Column[] {
  return (Object.keys(COLUMNS) as Column[]).filter(
    (name) => (name !== "gflops" || knowsFlops(info)) && rows.some((row) => row[name]),
  );
}

/** What the columns mean, for the heads of the table. */
export const HEADS = {
  task: "number of the task by its first trial, and name",
  best: "lowest mean cost of a valid trial",
  gflops:
    "floating-point operations of the task's compute DAG by its best cost; * of a DAG that is only assumed",
  trials: "trials measured",
  failed: "trials without a valid cost",
  share: "share of the total latency: weight times best cost",
  gain: "what another round may gain, as the task scheduler estimates it",
  nodes: "nodes of the linked run that the task tuned, and how they were found",
} as const;
