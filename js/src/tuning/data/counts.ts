import type { TuningData } from "./data.ts";

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

/** The code of a slot. */
export function codeOf(slot: number): number {
  return slot < SLOTS - 1 ? slot : 255;
}
