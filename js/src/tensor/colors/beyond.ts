import { button, relabel } from "../../shared/ui/dom.ts";
import { muted, part, piece } from "../parts.ts";
import type { InspectorCommands, Shown } from "../state.ts";
import { beyondText, crowdText } from "./adapted_words.ts";
import type { ColorChoice, RangeChoice } from "./color_scale.ts";

/** The range after the next press: all values, or all but the few far ones. */
export function switched(range: RangeChoice): RangeChoice {
  return range === "auto" ? "tensor" : "auto";
}

/** Says how colors and histogram adapt to the values and why, each with a way back. */
export class Beyond {
  readonly node = part("beyond");
  readonly #crowd = muted();
  readonly #crowded = piece("adapted");
  readonly #scale: HTMLButtonElement;
  readonly #far = muted();
  readonly #beyond = piece("adapted");
  readonly #range: HTMLButtonElement;
  #colors: ColorChoice = { scale: "auto", map: "auto", range: "auto" };

  constructor(commands: Pick<InspectorCommands, "recolor">) {
    this.#scale = button("linear", "", () => {
      commands.recolor({ scale: this.#colors.scale === "auto" ? "linear" : "auto" });
    });
    this.#range = button("show all", "", () =>
      commands.recolor({ range: switched(this.#colors.range) }),
    );
    this.#crowded.append(this.#crowd, " ", this.#scale);
    this.#beyond.append(this.#far, " ", this.#range);
    this.node.append(this.#crowded, this.#beyond);
    this.node.hidden = true;
  }

  show({ statistics, colors }: Shown): void {
    this.#colors = colors;
    const crowd = crowdText(statistics, colors);
    this.#crowded.hidden = !crowd;
    this.#crowd.textContent = `${crowd} → `;
    if (colors.scale === "auto") relabel(this.#scale, "linear", "Use a linear scale (l)");
    else relabel(this.#scale, `${statistics?.scale} scale`, `Use a ${statistics?.scale} scale (l)`);
    const beyond = beyondText(statistics, colors);
    const all = colors.range === "tensor" && beyondText(statistics, { ...colors, range: "auto" });
    this.#beyond.hidden = !beyond && !all;
    this.#far.textContent = beyond ? `${beyond} → ` : "A few outliers set the range → ";
    if (beyond) relabel(this.#range, "show all", "Show all values in colors and histogram (o)");
    else relabel(this.#range, "leave them out", "Leave outliers out of the range (o)");
    this.node.hidden = this.#crowded.hidden && this.#beyond.hidden;
  }
}
