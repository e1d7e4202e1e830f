import { type TaskInfo, TuningData, type TuningInfo } from "../../src/tuning/data.ts";

export interface TrialSpec {
  task?: number;
  /** Seconds; left out where the trial failed. */
  cost?: number;
  error?: number;
  time?: number;
}

/** A log of these trials, with what Python would have counted of them. */
export function logOf(trials: readonly TrialSpec[], more: Partial<TuningInfo> = {}): TuningData {
  const count = Math.max(0, ...trials.map(({ task = 0 }) => task)) + 1;
  const best: (number | null)[] = Array(count).fill(null);
  const bestTrial: (number | null)[] = Array(count).fill(null);
  const curves: number[][] = Array.from({ length: count }, () => []);
  const totalRows: number[] = [];
  const totals: number[] = [];
  trials.forEach(({ task = 0, cost, error = 0 }, row) => {
    if (error || cost === undefined || !(best[task] === null || cost < best[task]!)) return;
    [best[task], bestTrial[task]] = [cost, row];
    curves[task]!.push(row);
    if (best.some((each) => each === null)) return;
    totalRows.push(row);
    totals.push(best.reduce<number>((sum, each) => sum + each!, 0));
  });
  const total = totals.at(-1) ?? null;
  const tasks: TaskInfo[] = best.map((each, index) => ({
    index,
    name: `matmul ${index}`,
    key: `["matmul", ${index}]`,
    target: "llvm",
    trials: trials.filter(({ task = 0 }) => task === index).length,
    valid: trials.filter(({ task = 0, error = 0 }) => task === index && !error).length,
    best: each,
    bestTrial: bestTrial[index]!,
    gflops: null,
    assumed: false,
    gain: null,
    weight: 1,
    share: total && each !== null ? each / total : null,
    nodes: [],
    linkedBy: "",
  }));
  const info: TuningInfo = {
    title: "tuning.json",
    about: [],
    tasks,
    findings: [],
    errorNames: { 0: "NoError", 4: "RuntimeDeviceError", 6: "BuildTimeoutError" },
    errorsBy: ["unroll", "round"],
    refused: 0,
    refusedWhy: [],
    weighted: false,
    total,
    timed: trials.some(({ time }) => time !== undefined),
    summary: `${trials.length} trials`,
    ...more,
  };
  return new TuningData({
    info,
    task: Int32Array.from(trials, ({ task = 0 }) => task),
    cost: Float64Array.from(trials, ({ cost = Number.NaN }) => cost),
    error: Uint8Array.from(trials, ({ error = 0 }) => error),
    time: Float64Array.from(trials, ({ time = Number.NaN }) => time),
    curveRows: Int32Array.from(curves.flat()),
    curveOffsets: Int32Array.from([
      0,
      ...curves.map((_, at) => curves.slice(0, at + 1).flat().length),
    ]),
    totalRows: Int32Array.from(totalRows),
    totals: Float64Array.from(totals),
  });
}
