import { readTheme } from "../../shared/drawing/theme.ts";
import { integer } from "../../shared/format.ts";
import { element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import { errorFill } from "../chart/colors.ts";
import type { TuningData } from "../data/data.ts";
import { codeQuery, codesOf, outcomeName } from "../data/descriptions.ts";

/** What the colors of errors mean, how many trials there are of each, and a button that shows these alone. */
export class Legend {
  readonly node = element("span", {
    class: "tvmdbg-tuning-legend",
    role: "group",
    "aria-label": "outcomes of trials",
  });
  readonly #root: HTMLElement;
  readonly #filter: ((query: string) => void) | null;

  /** @param filter  null where nobody answers queries. */
  constructor(root: HTMLElement, filter: ((query: string) => void) | null) {
    this.#root = root;
    this.#filter = filter;
  }

  show(data: TuningData, query: string): void {
    const theme = readTheme(this.#root);
    const counts = new Map<number, number>();
    for (const code of data.error) counts.set(code, (counts.get(code) ?? 0) + 1);
    const items = codesOf(data).map((code) => {
      const chip = element("i", { class: "tvmdbg-tuning-chip", "aria-hidden": "true" });
      chip.style.backgroundColor = errorFill(theme, code);
      const text = `${integer(counts.get(code) ?? 0)} ${outcomeName(data, code)}`;
      if (!this.#filter) return element("span", {}, chip, text);
      const own = codeQuery(code);
      const item = element(
        "button",
        { type: "button", title: `show these trials alone: ${own}`, ...KEEP_KEYS },
        chip,
        text,
      );
      item.dataset.query = own;
      item.addEventListener("click", () =>
        this.#filter!(item.getAttribute("aria-pressed") === "true" ? "" : own),
      );
      return item;
    });
    this.node.replaceChildren(...items);
    this.mark(query);
  }

  /** Marks what the query asks for. */
  mark(query: string): void {
    for (const item of this.node.querySelectorAll<HTMLElement>("button")) {
      item.setAttribute("aria-pressed", String(item.dataset.query === query));
    }
  }
}
