import { describe, expect, it } from "vitest";
import {
  binLines,
  chartWords,
  elapsed,
  headline,
  remedyParts,
  scopeText,
  trialLines,
} from "../../src/tuning/descriptions.ts";
import { sorted, taskRows } from "../../src/tuning/task_table.ts";
import { logOf } from "./log.ts";

const DATA = logOf([
  { task: 0, cost: 4e-3, time: 0 },
  { task: 1, error: 6, time: 20 },
  { task: 0, cost: 2e-3, time: 90 },
  { task: 1, cost: 1e-3, time: 3700 },
]);

describe("the scope of counted trials", () => {
  it("names range, task and query in this order", () => {
    expect(scopeText({ task: null, trials: null, query: "" })).toBe("of all trials");
    expect(scopeText({ task: 3, trials: null, query: "" })).toBe("of the trials of task 3");
    expect(scopeText({ task: null, trials: [64, 1128], query: "" })).toBe("of trials 64 to 1,127");
    expect(scopeText({ task: 0, trials: [64, 65], query: "error:6" })).toBe(
      "of trial 64 of task 0 that error:6 finds",
    );
  });
});

describe("texts of a log", () => {
  it("summarize the whole log and a single task", () => {
    expect(headline(DATA)).toBe("2 tasks, 4 trials; best 3.000 ms (unweighted sum of task bests)");
    expect(chartWords(DATA, 1)).toBe(
      "task 1: matmul 1: 1 of 2 trials failed (50.0 %), best 1.000 ms at trial 3",
    );
  });

  it("give no total latency if a task has no valid trial", () => {
    const data = logOf([
      { task: 0, cost: 1 },
      { task: 1, error: 6 },
    ]);
    expect(headline(data)).toBe("2 tasks, 2 trials; no total latency: 1 task has no valid trial");
    expect(headline(logOf([{ error: 6 }], { summary: "1 of 1 trial failed" }))).toBe(
      "1 task, 1 of 1 trial failed",
    );
  });

  it("describe a trial", () => {
    expect(trialLines(DATA, 0)).toEqual([
      "trial 0: 4.000 ms",
      "task 0, matmul 0",
      "1st of 2 trials, 2.00× the best of its task",
    ]);
    expect(trialLines(DATA, 1)[0]).toBe("trial 1: BuildTimeoutError");
    expect(trialLines(DATA, 2).at(-1)).toMatch(/, the best of its task$/);
    expect(trialLines(DATA, 1)).toHaveLength(3);
  });

  it("describe a bar of the error strip", () => {
    const slots = new Int32Array(10);
    [slots[0], slots[6]] = [60, 4];
    expect(binLines(DATA, "trial", { from: 64, to: 128, trials: 64, all: 64, slots })).toEqual([
      "trials 64 to 127",
      "4 of 64 trials failed (6.25 %)",
      "4 BuildTimeoutError",
    ]);
    expect(binLines(DATA, "trial", { from: 64, to: 128, trials: 64, all: 80, slots })[0]).toBe(
      "trials 64 to 127, 64 of 80 found",
    );
  });

  it("separate code from prose in remedies", () => {
    const text = [
      "Give builds more time:",
      "from tvm import auto_scheduler",
      "builder = auto_scheduler.LocalBuilder(timeout=60)",
      "It runs on Linux only. There is more.",
      "find . \\",
      "  -name '*.py'",
    ];
    expect(remedyParts(text.join("\n"))).toEqual([
      { isCode: false, text: text[0] },
      { isCode: true, text: text.slice(1, 3).join("\n") },
      { isCode: false, text: text[3] },
      { isCode: true, text: text.slice(4).join("\n") },
    ]);
    expect(remedyParts("")).toEqual([]);
  });

  it.each([
    [0, "0\u00a0s"],
    [59.6, "1\u00a0min"],
    [200, "3\u00a0min\u00a020\u00a0s"],
    [3600, "1\u00a0h"],
    [4321, "1\u00a0h\u00a012\u00a0min"],
  ])("format %d s as %s", (seconds, text) => {
    expect(elapsed(seconds)).toBe(text);
  });
});

describe("the table of tasks", () => {
  it("is sorted by time, errors and number, unknown last", () => {
    const order = (sort: Parameters<typeof sorted>[1]) =>
      sorted(DATA.info.tasks, sort).map(({ index }) => index);
    expect(order("time")).toEqual([0, 1]);
    expect(order("errors")).toEqual([1, 0]);
    expect(order("task")).toEqual([0, 1]);
  });

  it("marks tasks without a valid trial", () => {
    const { info } = logOf([
      { task: 0, cost: 1 },
      { task: 1, error: 6 },
    ]);
    expect(taskRows(info, "task", null).map(({ best }) => best)).toEqual(["1.000 s", "none valid"]);
  });

  it("shows the counts of a range of trials", () => {
    const counts = {
      trials: Int32Array.of(1, 0),
      failed: Int32Array.of(1, 0),
      best: Float64Array.of(Number.NaN, Number.NaN),
    };
    const [first, second] = taskRows(DATA.info, "task", counts);
    expect([first!.trials, first!.failed, first!.best]).toEqual(["1", "100.0 %", "none valid"]);
    expect([second!.trials, second!.failed, second!.best]).toEqual(["0", "", ""]);
  });
});
