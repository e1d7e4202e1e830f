import { element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import { PANES, type Pane } from "../data/options.ts";

export const PANE_LABELS: Record<Pane, string> = {
  schedule: "Schedule",
  tiles: "Tile sizes",
  errors: "Errors",
  findings: "Findings",
};

/** Where an arrow key leads from a tab. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
const ENDS: Record<string, number> = { Home: 0, End: PANES.length - 1 };

/** The tabs of the lower part of the view; Tab leads to the selected one, arrows to the others. */
export class Panes {
  readonly node: HTMLElement;
  readonly #tabs = new Map<Pane, HTMLButtonElement>();
  readonly #bodies: Record<Pane, HTMLElement>;
  readonly #pick: (pane: Pane) => void;

  constructor(bodies: Record<Pane, HTMLElement>, pick: (pane: Pane) => void) {
    this.#bodies = bodies;
    this.#pick = pick;
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
    const list = element("div", { class: "tvmdbg-tuning-tabs", role: "tablist" }, ...tabs);
    list.addEventListener("keydown", (event) => this.#key(event));
    this.node = element(
      "div",
      { class: "tvmdbg-tuning-panes" },
      list,
      ...PANES.map((pane) => bodies[pane]),
    );
  }

  #key(event: KeyboardEvent): void {
    const at = PANES.findIndex((pane) => this.#tabs.get(pane) === event.target);
    const step = STEPS[event.key];
    const to = step ? (at + step + PANES.length) % PANES.length : ENDS[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    this.#pick(PANES[to]!);
    this.#tabs.get(PANES[to]!)!.focus();
  }

  show(shown: Pane): void {
    for (const [pane, tab] of this.#tabs) {
      tab.setAttribute("aria-selected", String(pane === shown));
      tab.tabIndex = pane === shown ? 0 : -1;
      this.#bodies[pane].hidden = pane !== shown;
    }
  }

  /** Tells beside a tab's name how much there is in it. */
  count(pane: Pane, text: string): void {
    this.#tabs.get(pane)!.textContent = text ? `${PANE_LABELS[pane]} (${text})` : PANE_LABELS[pane];
  }
}
