/** What is told of all values of a tensor: a verdict, and the counts that say why. */
import type { StatisticsAnswer, TensorStatistics } from "../shared/client/tensor_questions.ts";
import { integer } from "../shared/format.ts";
import { aboutText } from "../shared/number_text.ts";
import { SPECIAL_TEXT, SPECIALS, type Special } from "./colors/colors.ts";
import { share } from "./distribution/share.ts";

/** From this share of values at an end code on, it is said aloud; `SHARE` in `analysis/findings/values/range_use.py`. */
const SATURATED = 0.05;

export type Health = "error" | "doubt" | "good" | "empty";

const HEALTH_WORDS = {
  error: "not finite",
  doubt: "saturated",
  good: "all finite",
  empty: "no values",
} as const;

/** What is known of the values of one tensor. */
export interface ValueWords {
  health: Health;
  /** `saturated`, `all finite in a sample of 1,048,576`. */
  verdict: string;
  /** NaN and infinities: those that are there first; of the others those that the dtype can hold. */
  specials: Special[];
  /** All other counts, and whether each is a warning. */
  counts: { text: string; isLoud: boolean }[];
}

/** Null where nothing was counted. */
export function valueWords(known: StatisticsAnswer, dtype: string): ValueWords | null {
  const { statistics } = known;
  if (!statistics) return null;
  const ends = endsOf(statistics, dtype);
  const health = healthOf(statistics, ends);
  const isSampled = known.state !== "exact" && health !== "empty";
  const sample = isSampled ? ` in a sample of ${integer(statistics.size)}` : "";
  return {
    health,
    verdict: HEALTH_WORDS[health] + sample,
    specials: specialsOf(statistics, dtype),
    counts: countsOf(statistics, ends, limitsOf(known, dtype), dtype === "bool"),
  };
}

/** `59 +Inf`. */
export function specialText(statistics: TensorStatistics, special: Special): string {
  return `${integer(statistics[special])} ${SPECIAL_TEXT[special]}`;
}

/** `59 +Inf, 0 NaN, 0 −Inf`. */
export function specialCounts(statistics: TensorStatistics, dtype: string): string[] {
  return specialsOf(statistics, dtype).map((each) => specialText(statistics, each));
}

function specialsOf(statistics: TensorStatistics, dtype: string): Special[] {
  const whole = /^(u?int\d|bool$|float[46]_)/.test(dtype);
  const held = whole ? 0 : /^float8_\w+fn/.test(dtype) ? 1 : 3;
  const there = (each: Special) => Number(statistics[each] > 0);
  return SPECIALS.filter((each, at) => there(each) || at < held).sort(
    (a, b) => there(b) - there(a),
  );
}

/** How many values lie at an end of an integer type; zero is no end of an unsigned one. */
function endsOf({ atLowest, atHighest }: TensorStatistics, dtype: string): number {
  if (!/^u?int\d/.test(dtype) || atLowest === null || atHighest === null) return 0;
  return (dtype.startsWith("u") ? 0 : atLowest) + atHighest;
}

function healthOf({ size, finite }: TensorStatistics, ends: number): Health {
  if (size === 0) return "empty";
  if (finite < size) return "error";
  return ends / size >= SATURATED ? "doubt" : "good";
}

/** Where an integer type ends; of an unsigned one the upper end alone says something. */
function limitsOf({ limits }: StatisticsAnswer, dtype: string): readonly number[] {
  return limits ? limits.slice(dtype.startsWith("u") ? 1 : 0) : [];
}

function countsOf(
  { size, finite, zero, negative, denormal }: TensorStatistics,
  ends: number,
  limits: readonly number[],
  isBool: boolean,
): ValueWords["counts"] {
  const said = (count: number, noun: string) => `${integer(count)} ${noun}${share(count, size)}`;
  const counts = [said(zero, isBool ? "False" : "zero")];
  if (!isBool) counts.push(said(negative, "negative"));
  if (denormal > 0) counts.push(said(denormal, "denormal"));
  const found = counts.map((text) => ({ text, isLoud: false }));
  if (ends > 0) {
    const text = said(ends, `at ${limits.map((limit) => aboutText(limit)).join(" or ")}`);
    found.push({ text, isLoud: ends / size >= SATURATED });
  }
  if (finite < size) {
    found.push({ text: `${integer(finite)} of ${integer(size)} finite`, isLoud: false });
  }
  return found;
}
