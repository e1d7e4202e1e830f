import {
  isSuspicious,
  isUnderWay,
  UNREAD,
  VERDICT_LABELS,
  Verdict,
  verdictCounts,
} from "../../shared/client/health.ts";
import type { HealthAnswer, TensorStatistics } from "../../shared/client/tensor_questions.ts";
import { counted, integer, percent } from "../../shared/format.ts";
import { element } from "../../shell/dom.ts";
import { type Health, specialText, valueWords } from "../descriptions.ts";
import { piece, placeButton, TensorPart } from "../parts.ts";
import { SPECIAL_TEXT } from "../picture/color_scale.ts";
import type { ShownTensor } from "../state.ts";
import { refill } from "./statistics.ts";

/** The state of a run in few words, beside the strip. */
export function stateWords(health: HealthAnswer): string {
  const { state, done, total } = health;
  if (total === 0) return "no tensors";
  if (isUnderWay(health)) return `${integer(done)} of ${integer(total)} …`;
  const words = countsWords(health);
  return state === "cancelled" ? `${words}; ${integer(done)} of ${integer(total)}` : words;
}

/** `16 faulty, 2 suspicious`; OK ones only without others. */
function countsWords({ verdict, brief, total }: HealthAnswer): string {
  const counts = verdictCounts(verdict);
  const unread = brief.filter((text) => text === UNREAD).length;
  const listed = counts.filter(([count]) => count !== Verdict.OK && count !== Verdict.NOT_SCANNED);
  if (listed.length) {
    const words = listed.map(([verdict, count]): [number, string] =>
      verdict === Verdict.UNKNOWN
        ? [count - unread, VERDICT_LABELS[verdict]]
        : [count, VERDICT_LABELS[verdict]!],
    );
    words.push([unread, `of ${integer(total)} could not be read`]);
    return words
      .filter(([count]) => count > 0)
      .map(([count, label]) => `${integer(count)} ${label}`)
      .join(", ");
  }
  const fine = counts.find(([count]) => count === Verdict.OK)?.[1] ?? 0;
  return fine === total ? `all ${integer(total)} OK` : `${integer(fine)} OK`;
}

/** Three lines about one entry of the strip, the worst of `others` besides it. */
export function entryLines(health: HealthAnswer, row: number, title: string, others = 0): string[] {
  const verdict = health.verdict[row]!;
  const words = health.words[row];
  const lines = [
    others ? `${title}, the worst of ${counted(others + 1, "tensor")} here` : title,
    [health.brief[row] !== UNREAD && VERDICT_LABELS[verdict], words].filter(Boolean).join(": "),
  ];
  const facts: string[] = [];
  const [low, high] = [health.low[row]!, health.high[row]!];
  if (!Number.isNaN(low)) facts.push(`${rounded(low)} … ${rounded(high)}`);
  const shares = [
    [health.zero[row]!, "zero"],
    [health.saturated[row]!, "saturated"],
    [health.dead[row]!, "of channels dead"],
    [health.denormal[row]!, "denormal"],
  ] as const;
  for (const [share, what] of shares) if (share > 0) facts.push(`${percent(share)} ${what}`);
  if (facts.length) lines.push(facts.join(" · "));
  return lines;
}

function rounded(value: number): string {
  const text = String(Number(value.toPrecision(5)));
  return Number(text) === value ? text : `≈ ${text}`;
}

/** The suspicious row before (-1) or after (1) a row in execution order, or -1. */
export function suspiciousBeside({ verdict }: HealthAnswer, row: number, by: number): number {
  for (let other = row + by; other >= 0 && other < verdict.length; other += by) {
    if (isSuspicious(verdict[other]!)) return other;
  }
  return -1;
}

export function sentence(health: HealthAnswer): string {
  const of = counted(health.total, "tensor");
  const first =
    health.firstNonfinite < 0
      ? ""
      : ` The first with NaN or Inf is node ${health.node[health.firstNonfinite]!}.`;
  return `Health of ${of}: ${stateWords(health)}.${first}`;
}

const SIGNS: Record<Health, string> = { error: "⚠ ", doubt: "⚠ ", good: "✓ ", empty: "" };

/** Verdict of the run's health on one entry. */
export interface Judgement {
  verdict: number;
  brief: string;
}

const LOOK = "tvmdbg-tensor-health tvmdbg-row tvmdbg-wrap tvmdbg-gap-12";

/** Verdict of the tensor with the counts behind it; buttons lead to the first value of a fault. */
export class HealthPill extends TensorPart {
  readonly node = element("div", {
    class: LOOK,
    role: "group",
    "aria-label": "Health",
  });
  #shown: ShownTensor | null = null;
  #judged: Judgement | null = null;

  show(shown: ShownTensor): void {
    const before = this.#shown;
    this.#shown = shown;
    const same = before?.statistics === shown.statistics && before.entry === shown.entry;
    if (same && before.answer?.layout === shown.answer?.layout) return;
    this.#draw(shown);
  }

  /** Sets the run's verdict on the entry, which takes precedence over its counts. */
  judge(judged: Judgement | null): void {
    const { verdict, brief } = this.#judged ?? {};
    if (verdict === judged?.verdict && brief === judged?.brief) return;
    this.#judged = judged;
    if (this.#shown) this.#draw(this.#shown);
  }

  #draw(shown: ShownTensor): void {
    const known = shown.statistics;
    const words = known && valueWords(known, shown.answer?.valueDtype ?? "");
    if (!known?.statistics || !words) {
      this.node.className = LOOK;
      refill(this.node, document.createTextNode(known?.reason || "no statistics"));
      return;
    }
    const { statistics } = known;
    const { readings, reading } = shown.answer ?? {};
    const usual = (reading ?? null) === (readings?.[0] ?? null);
    const judged = usual && judgedHealth(statistics, this.#judged);
    const [health, verdict] = judged || [
      statistics.verdict,
      SIGNS[statistics.verdict] + words.verdict,
    ];
    const ofSample =
      judged && known.state !== "exact"
        ? `; counts of a sample of ${integer(statistics.size)}`
        : "";
    this.node.className = `${LOOK} tvmdbg-tensor-health-${health}`;
    refill(
      this.node,
      element("strong", {}, verdict + ofSample),
      ...this.#specials(statistics),
      ...words.counts.map(({ text, isLoud }) =>
        element("span", { class: isLoud ? "tvmdbg-tensor-loud" : undefined }, text),
      ),
    );
    this.node.title = [...this.node.children].map((child) => child.textContent).join(", ");
  }

  #specials(statistics: TensorStatistics): HTMLElement[] {
    const first = {
      nan: statistics.firstNan,
      posInf: statistics.firstPosInf,
      negInf: statistics.firstNegInf,
    };
    const there = statistics.specials.filter((special) => statistics[special] > 0);
    return there.map((special) => {
      const text = specialText(statistics, special);
      const title = `Go to the first ${SPECIAL_TEXT[special]}`;
      const place = placeButton(
        this.#shown?.answer ?? null,
        first[special],
        title,
        this.host,
        "first ",
      );
      return element("span", {}, piece("loud", text), place && " ", place);
    });
  }
}

/** Null if the run's health has no judgement of the values beyond their counts. */
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
