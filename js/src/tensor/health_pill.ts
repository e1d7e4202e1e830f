import { element } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import type { StatisticsAnswer, TensorStatistics } from "../shared/tensor_questions.ts";
import { SPECIAL_TEXT, type Special } from "./colors.ts";
import { part, piece } from "./parts.ts";
import { placeButton } from "./place_button.ts";
import { refill } from "./refill.ts";
import { share } from "./share.ts";
import type { Acts, Shown } from "./state.ts";
import { aboutText } from "./ticks.ts";

const SPECIALS = ["nan", "posInf", "negInf"] as const;
/** From this share of values at an end code on, it is said aloud. */
const SATURATED = 0.01;

type Health = "error" | "doubt" | "good" | "empty";

/** How many values at an end of an integer type are worth a warning; null where that says nothing. */
export function saturated({ atLowest, atHighest, size }: TensorStatistics, dtype: string) {
  if (!/^u?int\d/.test(dtype) || atLowest === null || atHighest === null || size === 0) return null;
  const unsigned = dtype.startsWith("u");
  const ends = (unsigned ? 0 : atLowest) + atHighest;
  return { ends, loud: ends / size >= SATURATED };
}

/** `59 +Inf, 0 NaN, 0 −Inf`, those that are there first. */
export function specialCounts(statistics: TensorStatistics): string[] {
  return ordered(statistics).map((each) => `${integer(statistics[each])} ${SPECIAL_TEXT[each]}`);
}

function ordered(statistics: TensorStatistics): Special[] {
  return [...SPECIALS].sort((a, b) => Number(statistics[b] > 0) - Number(statistics[a] > 0));
}

/** Whether the tensor is sound, and the counts that say so; the first of each fault is a click away. */
export class HealthPill {
  readonly node = part("health");
  readonly #acts: Pick<Acts, "go">;
  #shown: Shown | null = null;

  constructor(acts: Pick<Acts, "go">) {
    this.#acts = acts;
    this.node.setAttribute("role", "group");
    this.node.setAttribute("aria-label", "Health");
  }

  show(shown: Shown): void {
    const before = this.#shown;
    this.#shown = shown;
    const same = before?.statistics === shown.statistics && before.entry === shown.entry;
    if (same && before.answer?.layout === shown.answer?.layout) return;
    const known = shown.statistics;
    const statistics = known?.statistics;
    if (!known || !statistics) {
      this.node.className = "tvmdbg-tensor-health";
      refill(this.node, document.createTextNode(known?.reason || "not counted"));
      return;
    }
    const dtype = shown.answer?.dtype ?? "";
    const ends = saturated(statistics, dtype);
    const health = healthOf(statistics, ends?.loud ?? false);
    this.node.className = `tvmdbg-tensor-health tvmdbg-tensor-health-${health}`;
    const sampled = known.state !== "exact";
    refill(
      this.node,
      element("strong", {}, verdict(health, sampled ? statistics.size : null)),
      ...this.#specials(statistics),
      ...counts(statistics, ends, limitsOf(known, dtype)),
    );
  }

  #specials(statistics: TensorStatistics): HTMLElement[] {
    const first = {
      nan: statistics.firstNan,
      posInf: statistics.firstPosInf,
      negInf: statistics.firstNegInf,
    };
    return ordered(statistics).map((each) => {
      const text = `${integer(statistics[each])} ${SPECIAL_TEXT[each]}`;
      if (statistics[each] === 0) return element("span", { class: "tvmdbg-muted" }, text);
      const title = `Go to the first ${SPECIAL_TEXT[each]}`;
      const place = placeButton(
        this.#shown?.answer ?? null,
        first[each],
        title,
        this.#acts,
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

/** The sample's size is null where every value was looked at. */
function verdict(health: Health, sample: number | null): string {
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
): HTMLElement[] {
  const said = [
    element("span", {}, `${integer(zero)} zero${share(zero, size)}`),
    element("span", {}, `${integer(negative)} negative${share(negative, size)}`),
  ];
  if (denormal > 0) {
    said.push(element("span", {}, `${integer(denormal)} denormal${share(denormal, size)}`));
  }
  if (ends && ends.ends > 0) {
    const text = `${integer(ends.ends)} at ${limits.map(aboutText).join(" or ")}${share(ends.ends, size)}`;
    said.push(
      element("span", { class: ends.loud ? "tvmdbg-tensor-loud" : undefined } as never, text),
    );
  }
  if (finite < size) {
    said.push(element("span", {}, `${integer(finite)} finite of ${integer(size)}`));
  }
  return said;
}
