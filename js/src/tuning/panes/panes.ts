import { element, KEEP_KEYS } from "../../shared/dom.ts";
import { PANES, type Pane } from "../data/options.ts";

export const PANE_LABELS: Record<Pane, string> = {
  schedule: "Schedule",
  tiles: "Tile sizes",
  errors: "Errors",
  findings: "Findings",
};

/** The tabs of the lower part of the view. */
export class Panes {
  readonly node: HTMLElement;
  readonly #tabs = new Map<Pane, HTMLButtonElement>();
  readonly #bodies: Record<Pane, HTMLElement>;

  constructor(bodies: Record<Pane, HTMLElement>, pick: (pane: Pane) => void) {
    this.#bodies = bodies;
    const tabs = PANES.map((pane, at) => {
      const tab = element(
        "button",
        { type: "button", role: "tab", title: `${PANE_LABELS[pane]} (${at + 1})`, ...KEEP_KEYS },
        PANE_LABELS[pane],
      );
      tab.addEventListener("click", () => pick(pane));
      this.#tabs.set(pane, tab);
      bodies[pane].setAttribute("role", "tabpanel");
      return tab;
    });
    this.node = element(
      "div",
      { class: "tvmdbg-tuning-panes" },
      element("div", { class: "tvmdbg-tuning-tabs", role: "tablist" }, ...tabs),
      ...PANES.map((pane) => bodies[pane]),
    );
  }

  show(shown: Pane): void {
    for (const [pane, tab] of this.#tabs) {
      tab.setAttribute("aria-selected", String(pane === shown));
      this.#bodies[pane].hidden = pane !== shown;
    }
  }

  /** Tells beside a tab's name how much there is in it. */
  count(pane: Pane, text: string): void {
    this.#tabs.get(pane)!.textContent = text ? `${PANE_LABELS[pane]} (${text})` : PANE_LABELS[pane];
  }
}
