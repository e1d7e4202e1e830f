import { errorText } from "../../shared/client/message.ts";
import { isAbort } from "../../shared/client/request.ts";
import { readTheme } from "../../shared/drawing/theme.ts";
import { integer, percent } from "../../shared/format.ts";
import { button, element, KEEP_KEYS } from "../../shared/ui/dom.ts";
import { errorFill } from "../chart/colors.ts";
import type { ErrorRow, ErrorTableInfo, TuningData } from "../data/data.ts";
import { scopeText } from "../data/descriptions.ts";
import { ERRORS_BY, type ErrorsBy, type TrialScope } from "../data/options.ts";

/** Which trials failed, by what they have in common: unroll setting, round, threads. */
export class ErrorsPane {
  readonly node = element("div", {
    class: "tvmdbg-tuning-errors",
    tabindex: 0,
    "aria-label": "errors",
    ...KEEP_KEYS,
  });
  readonly #root: HTMLElement;
  readonly #ask: (by: ErrorsBy, scope: TrialScope) => Promise<ErrorTableInfo>;
  readonly #filter: ((query: string) => void) | null;
  #places = new Map<ErrorsBy, HTMLElement>();
  /** What was asked for each place last. */
  #asked = new Map<ErrorsBy, { scope: string }>();
  #query = "";

  /** @param filter  null where nobody answers queries. */
  constructor(
    root: HTMLElement,
    ask: (by: ErrorsBy, scope: TrialScope) => Promise<ErrorTableInfo>,
    filter: ((query: string) => void) | null,
  ) {
    this.#root = root;
    this.#ask = ask;
    this.#filter = filter;
  }

  /** Takes over a log; what is shown stays until it is counted anew. */
  show({ info }: TuningData): void {
    this.#asked.clear();
    const shown = ERRORS_BY.filter((by) => by !== "threads" || info.onGpu);
    const place = (by: ErrorsBy) =>
      this.#places.get(by) ??
      element("div", {}, element("p", { class: "tvmdbg-muted" }, `by ${by}: counting …`));
    this.#places = new Map(shown.map((by) => [by, place(by)]));
    if (this.node.childElementCount !== shown.length) {
      this.node.replaceChildren(...this.#places.values());
    }
  }

  /** Counts the errors of these trials, where they are others than those counted last. */
  look(scope: TrialScope): void {
    this.#query = scope.query;
    for (const [by, place] of this.#places) void this.#fill(by, place, scope);
  }

  /** A table is not limited by a query for one of its own rows, so that another can be chosen. */
  async #fill(by: ErrorsBy, place: HTMLElement, scope: TrialScope): Promise<void> {
    const isOwn = scope.query.startsWith(`${by}=`) && !/\s/.test(scope.query);
    const own = isOwn ? { ...scope, query: "" } : scope;
    const asked = { scope: JSON.stringify(own) };
    if (this.#asked.get(by)?.scope !== asked.scope) {
      this.#asked.set(by, asked);
      place.setAttribute("aria-busy", "true");
      const table = await this.#counted(by, own);
      if (this.#asked.get(by) !== asked) return;
      const { query } = (document.activeElement as HTMLElement | null)?.dataset ?? {};
      const isHeld = place.contains(document.activeElement);
      place.replaceChildren(table);
      place.removeAttribute("aria-busy");
      if (isHeld && query) place.querySelector<HTMLElement>(`[data-query="${query}"]`)?.focus();
    }
    for (const link of place.querySelectorAll<HTMLElement>("[data-query]")) {
      link.setAttribute("aria-pressed", String(link.dataset.query === this.#query));
    }
  }

  async #counted(by: ErrorsBy, scope: TrialScope): Promise<HTMLElement> {
    try {
      return this.#table(by, scope, await this.#ask(by, scope));
    } catch (error) {
      const told = isAbort(error) ? "" : `by ${by}: ${errorText(error)}`;
      return element("p", { class: "tvmdbg-muted" }, told);
    }
  }

  #table(by: ErrorsBy, scope: TrialScope, { note, kinds, rows }: ErrorTableInfo): HTMLElement {
    const told = [scopeText(scope), rows.length ? note : "no trials"].filter(Boolean).join("; ");
    const caption = element(
      "caption",
      {},
      `by ${by} `,
      element("span", { class: "tvmdbg-muted" }, told),
    );
    return element(
      "table",
      { "aria-label": `errors by ${by}` },
      caption,
      element(
        "thead",
        { class: "tvmdbg-muted" },
        element(
          "tr",
          {},
          element("th", { scope: "col" }, by),
          element("th", { scope: "col", class: "tvmdbg-tuning-number" }, "trials"),
          element("td", {}),
          element("th", { scope: "col", class: "tvmdbg-tuning-number" }, "failed"),
          element("td", {}),
        ),
      ),
      element("tbody", {}, ...rows.map((row) => this.#row(row, kinds))),
    );
  }

  #row({ label, query, trials, counts }: ErrorRow, kinds: ErrorTableInfo["kinds"]): HTMLElement {
    const theme = readTheme(this.#root);
    const failed = counts.reduce((sum, count) => sum + count, 0);
    const bar = element("span", { class: "tvmdbg-tuning-bar" });
    const told: string[] = [];
    counts.forEach((count, at) => {
      if (!count) return;
      const part = element("i", {});
      part.style.width = `${(100 * count) / Math.max(1, trials)}%`;
      part.style.backgroundColor = errorFill(theme, kinds[at]!.code);
      bar.append(part);
      told.push(`${integer(count)} ${kinds[at]!.label}`);
    });
    return element(
      "tr",
      { title: told.join(", ") || undefined },
      element("th", { scope: "row" }, this.#label(label, query)),
      element("td", { class: "tvmdbg-tuning-number" }, integer(trials)),
      element("td", {}, bar),
      element("td", { class: "tvmdbg-tuning-number" }, trials ? percent(failed / trials) : ""),
      element("td", { class: "tvmdbg-muted" }, told.join(", ")),
    );
  }

  /** The label of a row: shows its trials alone, and once more all. */
  #label(label: string, query: string): HTMLElement | string {
    const filter = this.#filter;
    if (!query || !filter) return label;
    const link = button(label, `${label}: show these trials alone (${query})`, () =>
      filter(link.getAttribute("aria-pressed") === "true" ? "" : query),
    );
    link.classList.add("tvmdbg-tuning-link");
    link.dataset.query = query;
    return link;
  }
}
