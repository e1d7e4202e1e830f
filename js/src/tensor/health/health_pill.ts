import { isSuspicious, VERDICT_LABELS, Verdict } from "../../shared/client/health.ts";
import type { TensorStatistics } from "../../shared/client/tensor_questions.ts";
import { integer } from "../../shared/format.ts";
import { element } from "../../shared/ui/dom.ts";
import { placeButton } from "../choose/place_button.ts";
import { SPECIAL_TEXT, type Special } from "../colors/colors.ts";
import { refill } from "../distribution/refill.ts";
import { part, piece } from "../parts.ts";
import type { InspectorCommands, Shown } from "../state.ts";
import { type Health, specialText, valueWords } from "../value_words.ts";

const SIGNS: Record<Health, string> = { error: "⚠ ", doubt: "⚠ ", good: "✓ ", empty: "" };

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
    const words = known && valueWords(known, shown.answer?.valueDtype ?? "");
    if (!known?.statistics || !words) {
      this.node.className = "tvmdbg-tensor-health";
      refill(this.node, document.createTextNode(known?.reason || "no statistics"));
      return;
    }
    const { statistics } = known;
    const { readings, reading } = shown.answer ?? {};
    const usual = (reading ?? null) === (readings?.[0] ?? null);
    const judged = usual && judgedHealth(statistics, this.#judged);
    const [health, verdict] = judged || [words.health, SIGNS[words.health] + words.verdict];
    const ofSample =
      judged && known.state !== "exact"
        ? `; counts of a sample of ${integer(statistics.size)}`
        : "";
    this.node.className = `tvmdbg-tensor-health tvmdbg-tensor-health-${health}`;
    refill(
      this.node,
      element("strong", {}, verdict + ofSample),
      ...this.#specials(statistics, words.specials),
      ...words.counts.map(({ text, isLoud }) =>
        element("span", { class: isLoud ? "tvmdbg-tensor-loud" : undefined }, text),
      ),
    );
    this.node.title = [...this.node.children].map((each) => each.textContent).join(", ");
  }

  #specials(statistics: TensorStatistics, specials: readonly Special[]): HTMLElement[] {
    const first = {
      nan: statistics.firstNan,
      posInf: statistics.firstPosInf,
      negInf: statistics.firstNegInf,
    };
    return specials.map((each) => {
      const text = specialText(statistics, each);
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
