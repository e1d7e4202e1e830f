import { isSuspicious, VERDICT_LABELS, Verdict } from "../../shared/client/health.ts";
import type { StatisticsAnswer, TensorStatistics } from "../../shared/client/tensor_questions.ts";
import { integer } from "../../shared/format.ts";
import { aboutText } from "../../shared/number_text.ts";
import { element } from "../../shared/ui/dom.ts";
import { placeButton } from "../choose/place_button.ts";
import { SPECIAL_TEXT, SPECIALS, type Special } from "../colors/colors.ts";
import { refill } from "../distribution/refill.ts";
import { share } from "../distribution/share.ts";
import { part, piece } from "../parts.ts";
import type { InspectorCommands, Shown } from "../state.ts";

/** From this share of values at an end code on, it is said aloud; `SHARE` in `analysis/findings/values/saturated.py`. */
const SATURATED = 0.05;

type Health = "error" | "doubt" | "good" | "empty";

/** How many values at an end of an integer type are worth a warning; null where that says nothing. */
export function saturated({ atLowest, atHighest, size }: TensorStatistics, dtype: string) {
  if (!/^u?int\d/.test(dtype) || atLowest === null || atHighest === null || size === 0) return null;
  const unsigned = dtype.startsWith("u");
  const ends = (unsigned ? 0 : atLowest) + atHighest;
  return { ends, loud: ends / size >= SATURATED };
}

/** `59 +Inf, 0 NaN, 0 −Inf`, those that are there first; no zeros of what the dtype cannot hold. */
export function specialCounts(statistics: TensorStatistics, dtype: string): string[] {
  return told(statistics, dtype).map(
    (each) => `${integer(statistics[each])} ${SPECIAL_TEXT[each]}`,
  );
}

/** Those that are there first; of the others those that the dtype can hold. */
function told(statistics: TensorStatistics, dtype: string): Special[] {
  const whole = /^(u?int\d|bool$|float[46]_)/.test(dtype);
  const held = whole ? 0 : /^float8_\w+fn/.test(dtype) ? 1 : 3;
  const there = (each: Special) => Number(statistics[each] > 0);
  return SPECIALS.filter((each, at) => there(each) || at < held).sort(
    (a, b) => there(b) - there(a),
  );
}

/** What the health of the run says of one entry. */
export interface Judgement {
  verdict: number;
  brief: string;
}

/** Whether the tensor is OK, and the counts that say so; the first of each fault is a click away. */
export class HealthPill {
  readonly node = part("health");
  readonly #commands: Pick<InspectorCommands, "go">;
  #shown: Shown | null = null;
  #judged: Judgement | null = null;

  constructor(commands: Pick<InspectorCommands, "go">) {
    this.#commands = commands;
    this.node.setAttribute("role", "group");
    this.node.setAttribute("aria-label", "Health");
  }

  show(shown: Shown): void {
    const before = this.#shown;
    this.#shown = shown;
    const same = before?.statistics === shown.statistics && before.entry === shown.entry;
    if (same && before.answer?.layout === shown.answer?.layout) return;
    this.#draw(shown);
  }

  /** The verdict of the run's health on the entry goes before what its counts alone would say. */
  judge(judged: Judgement | null): void {
    const { verdict, brief } = this.#judged ?? {};
    if (verdict === judged?.verdict && brief === judged?.brief) return;
    this.#judged = judged;
    if (this.#shown) this.#draw(this.#shown);
  }

  #draw(shown: Shown): void {
    const known = shown.statistics;
    const statistics = known?.statistics;
    if (!known || !statistics) {
      this.node.className = "tvmdbg-tensor-health";
      refill(this.node, document.createTextNode(known?.reason || "no statistics"));
      return;
    }
    const dtype = shown.answer?.valueDtype ?? "";
    const ends = saturated(statistics, dtype);
    const { readings, reading } = shown.answer ?? {};
    const usual = (reading ?? null) === (readings?.[0] ?? null);
    const [health, words] = (usual && judgedHealth(statistics, this.#judged)) || [
      healthOf(statistics, ends?.loud ?? false),
    ];
    this.node.className = `tvmdbg-tensor-health tvmdbg-tensor-health-${health}`;
    const sampled = known.state !== "exact";
    refill(
      this.node,
      element("strong", {}, verdict(health, words, sampled ? statistics.size : null)),
      ...this.#specials(statistics, dtype),
      ...counts(statistics, ends, limitsOf(known, dtype), dtype === "bool"),
    );
    this.node.title = [...this.node.children].map((each) => each.textContent).join(", ");
  }

  #specials(statistics: TensorStatistics, dtype: string): HTMLElement[] {
    const first = {
      nan: statistics.firstNan,
      posInf: statistics.firstPosInf,
      negInf: statistics.firstNegInf,
    };
    return told(statistics, dtype).map((each) => {
      const text = `${integer(statistics[each])} ${SPECIAL_TEXT[each]}`;
      if (statistics[each] === 0) return element("span", { class: "tvmdbg-muted" }, text);
      const title = `Go to the first ${SPECIAL_TEXT[each]}`;
      const place = placeButton(
        this.#shown?.answer ?? null,
        first[each],
        title,
        this.#commands,
        "first ",
      );
      return element("span", {}, piece("loud", text), place && " ", place);
    });
  }
}

/** Where an integer type ends; of an unsigned one the upper end alone says something. */
function limitsOf({ limits }: StatisticsAnswer, dtype: string): readonly number[] {
  return limits ? limits.slice(dtype.startsWith("u") ? 1 : 0) : [];
}

function healthOf(statistics: TensorStatistics, saturates: boolean): Health {
  if (statistics.size === 0) return "empty";
  if (statistics.finite < statistics.size) return "error";
  return saturates ? "doubt" : "good";
}

/** Null where the run's health says nothing of the values, or no more than their counts. */
function judgedHealth(
  { size, finite }: TensorStatistics,
  judged: Judgement | null,
): [Health, words: string] | null {
  if (!judged || size === 0 || finite < size) return null;
  const { verdict, brief } = judged;
  const label = VERDICT_LABELS[verdict]!;
  if (isSuspicious(verdict)) {
    return [verdict === Verdict.FAULTY ? "error" : "doubt", `⚠ ${label}: ${brief}`];
  }
  return verdict === Verdict.OK ? ["good", `✓ ${label}, all finite`] : null;
}

/** The sample's size is null where every value was looked at; a verdict of the run's health is of all. */
function verdict(health: Health, judged: string | undefined, sample: number | null): string {
  if (judged) return sample ? `${judged}; counts of a sample of ${integer(sample)}` : judged;
  const words = {
    error: "⚠ not finite",
    doubt: "⚠ saturated",
    good: "✓ all finite",
    empty: "no values",
  }[health];
  return sample && health !== "empty" ? `${words} in a sample of ${integer(sample)}` : words;
}

function counts(
  { size, finite, zero, negative, denormal }: TensorStatistics,
  ends: ReturnType<typeof saturated>,
  limits: readonly number[],
  isBool: boolean,
): HTMLElement[] {
  const said = [
    element("span", {}, `${integer(zero)} ${isBool ? "False" : "zero"}${share(zero, size)}`),
  ];
  if (!isBool) {
    said.push(element("span", {}, `${integer(negative)} negative${share(negative, size)}`));
  }
  if (denormal > 0) {
    said.push(element("span", {}, `${integer(denormal)} denormal${share(denormal, size)}`));
  }
  if (ends && ends.ends > 0) {
    const text = `${integer(ends.ends)} at ${limits.map((limit) => aboutText(limit)).join(" or ")}${share(ends.ends, size)}`;
    said.push(
      element("span", { class: ends.loud ? "tvmdbg-tensor-loud" : undefined } as never, text),
    );
  }
  if (finite < size) {
    said.push(element("span", {}, `${integer(finite)} of ${integer(size)} finite`));
  }
  return said;
}
