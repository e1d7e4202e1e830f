import { agree, counted, duration, integer, percent } from "../shared/format.ts";
import type { Along, TaskInfo, TrialScope, TuningData } from "./data.ts";
import type { StripBin } from "./scene.ts";

const NS = 1e9;

/** Seconds as a duration, or "unknown". */
export function seconds(value: number | null): string {
  return value === null ? "unknown" : duration(value * NS);
}

/** A time since the start of the tuning: `1 h 12 min`, `3 min 20 s`, `12 s`. */
export function elapsed(value: number): string {
  const whole = Math.round(value);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const parts = [hours && `${hours} h`, minutes && `${minutes} min`, rest && !hours && `${rest} s`];
  return (parts.filter((part) => part).join(" ") || "0 s").replaceAll(" ", "\u00a0");
}

/** Result of a trial: its cost, or its error. */
export function outcome(data: TuningData, row: number): string {
  const error = data.error[row]!;
  return error ? data.errorName(error) : seconds(data.cost[row]!);
}

/** The error codes that occur; measured trials (0) first. */
export function codesOf(data: TuningData): number[] {
  return Object.keys(data.info.errorNames)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Result of trials with an error code. */
export function outcomeName(data: TuningData, code: number): string {
  return code ? data.errorName(code) : "measured";
}

export function codeQuery(code: number): string {
  if (!code) return "is:valid";
  return code === 255 ? "error<0" : `error:${code}`;
}

/** Three lines on a trial: its result, its task, and its place there. */
export function trialLines(data: TuningData, row: number): string[] {
  const task = data.info.tasks[data.task[row]!]!;
  const place = data.task.subarray(0, row).filter((of) => of === task.index).length;
  const nth = `${ordinal(place + 1)} of ${counted(task.trials, "trial")}`;
  const best = task.bestTrial === row ? ", the best of its task" : "";
  const times =
    best || data.error[row] || !task.best
      ? best
      : `, ${(data.cost[row]! / task.best).toFixed(2)}× the best of its task`;
  return [
    `trial ${integer(row)}: ${outcome(data, row)}`,
    `task ${task.index}, ${task.name}`,
    nth + times,
  ];
}

export function binLines(data: TuningData, along: Along, bin: StripBin): string[] {
  const where =
    along === "trial"
      ? trialsText([bin.from, bin.to])
      : `${elapsed(bin.from)} to ${elapsed(bin.to)}`;
  const failed = bin.trials - bin.slots[0]!;
  const filtered =
    bin.trials < bin.all ? `, ${integer(bin.trials)} of ${integer(bin.all)} found` : "";
  const errors: string[] = [];
  bin.slots.forEach((count, slot) => {
    if (slot && count) errors.push(`${integer(count)} ${data.errorName(slot < 9 ? slot : 255)}`);
  });
  return [`${where}${filtered}`, failedOf(failed, bin.trials), errors.join(", ")].filter(Boolean);
}

/** Trial numbers in words; the end is exclusive. */
export function trialsText([first, end]: readonly [first: number, end: number]): string {
  const last = end - 1;
  return first === last
    ? `trial ${integer(first)}`
    : `trials ${integer(first)} to ${integer(last)}`;
}

/** Counted trials in words: `of trials 64 to 127 of task 3 that error:6 finds`. */
export function scopeText({ task, trials, query }: TrialScope): string {
  if (task === null && !trials && !query) return "of all trials";
  const whose = task === null ? "" : ` of task ${task}`;
  const clause = query && ` that ${query} finds`;
  return `of ${trials ? trialsText(trials) : "the trials"}${whose}${clause}`;
}

export function failedOf(failed: number, trials: number): string {
  if (!trials) return "no trials";
  if (!failed) return `${counted(trials, "trial")}, none failed`;
  return `${integer(failed)} of ${counted(trials, "trial")} failed (${percent(failed / trials)})`;
}

/** The current selection in one sentence; also for screen readers. */
export function headline(data: TuningData): string {
  const { info } = data;
  const tasks = counted(info.tasks.length, "task");
  if (!data.count) return `${tasks}, no trials`;
  const kind = info.weighted ? "weighted total" : "unweighted sum of task bests";
  if (info.tasks.every(({ best }) => best === null)) return `${tasks}, ${info.summary}`;
  if (info.total === null) {
    const without = info.tasks.filter(({ best }) => best === null).length;
    return `${tasks}, ${info.summary}; no total latency: ${counted(without, "task")} ${agree(without, "has")} no valid trial`;
  }
  const best =
    info.tasks.length === 1 ? seconds(info.tasks[0]!.best) : `${seconds(info.total)} (${kind})`;
  return `${tasks}, ${info.summary}; best ${best}`;
}

function ordinal(value: number): string {
  const tens = value % 100;
  const ending = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${integer(value)}${ending}`;
}

export function taskTitle(task: TaskInfo): string {
  return `task ${task.index}: ${task.name}`;
}

export function chartWords(data: TuningData, task: number): string {
  if (task < 0) return headline(data);
  const info = data.info.tasks[task]!;
  const failed = info.trials - info.valid;
  const best =
    info.bestTrial === null
      ? "no valid trial"
      : `best ${seconds(info.best)} at trial ${integer(info.bestTrial)}`;
  const nodes = info.nodes.length
    ? `, linked to ${counted(info.nodes.length, "node")} ${info.linkedBy}`
    : "";
  return `${taskTitle(info)}: ${failedOf(failed, info.trials)}, ${best}${nodes}`;
}

/** A sentence on a step whose factors stay on one line: `factors 2 · 4 · 2`. */
export function unbrokenFactors(text: string): string {
  return text.replace(/ · (?=\d)|(?<=factors?|step) (?=\d)/g, (gap) =>
    gap.replaceAll(" ", "\u00a0"),
  );
}

/** Remedy in parts: sentences, and lines of code that belong together. */
export function remedyParts(text: string): { isCode: boolean; text: string }[] {
  const parts: { isCode: boolean; text: string }[] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const isCode = !/\.$|^[A-Z].*:$/.test(line);
    const last = parts.at(-1);
    if (last && last.isCode === isCode) last.text += `${isCode ? "\n" : " "}${line}`;
    else parts.push({ isCode, text: line });
  }
  return parts;
}
