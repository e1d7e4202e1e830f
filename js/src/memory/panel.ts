import { heatFill, type Theme } from "../shared/drawing/theme.ts";
import { element } from "../shared/ui/dom.ts";
import { type Fact, short } from "./descriptions.ts";
import { chipsOf } from "./legend.ts";
import type { Plan } from "./plan.ts";

const APART = 14;
const STOPS = 5;

/** Facts as a list of terms. */
export function factList(facts: readonly Fact[]): HTMLElement {
  return element(
    "dl",
    {},
    ...facts.map(([name, text]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, text)),
    ),
  );
}

/** Beside the pointer, inside the view's box. */
export class Tooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", hidden: true });

  hide(): void {
    this.node.hidden = true;
  }

  show(title: string, facts: readonly Fact[], x: number, y: number, root: HTMLElement): void {
    this.node.replaceChildren(element("strong", {}, title), factList(facts));
    this.node.hidden = false;
    const { offsetWidth, offsetHeight, style } = this.node;
    const left = x + APART + offsetWidth < root.clientWidth ? x + APART : x - APART - offsetWidth;
    const top = y + APART + offsetHeight < root.clientHeight ? y + APART : y - APART - offsetHeight;
    style.left = `${Math.max(2, left)}px`;
    style.top = `${Math.max(2, top)}px`;
  }
}

/** What the colors of the lives mean: kinds of operators, those of most bytes first, or sizes. */
export function legend(plan: Plan, bySize: boolean, theme: Theme): HTMLElement[] {
  if (bySize) {
    const stops = Array.from({ length: STOPS }, (_, i) => heatFill(theme, i / (STOPS - 1)));
    const scale = element("i", { class: "tvmdbg-memory-scale" });
    scale.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    return [element("span", {}, "0 B", scale, short(plan.largest))];
  }
  return chipsOf(plan).map(({ name, fill, alpha = 1 }) => {
    if (!fill) return element("span", {}, name);
    const chip = element("i", { class: "tvmdbg-memory-chip" });
    chip.style.backgroundColor = fill(theme);
    chip.style.opacity = `${alpha}`;
    return element("span", {}, chip, name);
  });
}
