import { button, relabel } from "../shared/dom.ts";
import { integer } from "../shared/format.ts";
import type { StatisticsAnswer } from "../shared/tensor_questions.ts";
import type { RangeChoice } from "./color_scale.ts";
import { muted, part } from "./parts.ts";
import type { Acts, Shown } from "./state.ts";

/** `1 of 51,200,000 values beyond`; in a sample it says so. Empty where the range leaves none out. */
export function beyondText(known: StatisticsAnswer | null): string {
  const found = known?.statistics;
  if (!known?.robust || !found) return "";
  const where = known.state === "exact" ? "values" : "sampled values";
  return `${integer(known.robust.beyond)} of ${integer(found.finite)} ${where} beyond`;
}

/** The range after the next press: all values, or all but the few far ones. */
export function switched(range: RangeChoice): RangeChoice {
  return range === "auto" ? "tensor" : "auto";
}

/** Says how many values the range leaves out, and switches to all of them and back. */
export class Beyond {
  readonly node = part("beyond");
  readonly #text = muted();
  readonly #button: HTMLButtonElement;
  #range: RangeChoice = "auto";

  constructor(acts: Pick<Acts, "recolor">) {
    this.#button = button("show all", "", () => acts.recolor({ range: switched(this.#range) }));
    this.node.append(this.#text, " ", this.#button);
    this.node.hidden = true;
  }

  show({ statistics, colors }: Shown): void {
    const text = beyondText(statistics);
    const { range } = colors;
    this.#range = range;
    this.node.hidden = !text || (range !== "auto" && range !== "tensor");
    this.#text.textContent = range === "auto" ? `${text} → ` : "A few far values set the range → ";
    const [label, title] =
      range === "auto"
        ? ["show all", "Let colours and histogram span all values (o)"]
        : ["leave them out", "Let colours and histogram span all but the few far values (o)"];
    relabel(this.#button, label, title);
  }
}
