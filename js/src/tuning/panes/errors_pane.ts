import { button, element, KEEP_KEYS } from "../../shared/dom.ts";
import { integer, percent } from "../../shared/format.ts";
import { errorText } from "../../shared/message.ts";
import { readTheme } from "../../shared/theme.ts";
import { errorFill } from "../chart/colors.ts";
import type { ErrorRow, ErrorTableInfo, TuningData } from "../data/data.ts";

/** Which trials failed, by what they have in common: task, unroll setting, threads. */
export class ErrorsPane {
  readonly node = element("div", {
    class: "tvmdbg-tuning-errors",
    tabindex: 0,
    "aria-label": "errors",
    ...KEEP_KEYS,
  });
  readonly #root: HTMLElement;
  readonly #filter: ((query: string) => void) | null;
  #later: HTMLElement | null = null;

  /** @param filter  null where nobody answers queries. */
  constructor(root: HTMLElement, filter: ((query: string) => void) | null) {
    this.#root = root;
    this.#filter = filter;
  }

  /** Fills in what takes reading every schedule, once it is looked at. */
  async complete(ask: () => Promise<ErrorTableInfo>): Promise<void> {
    const place = this.#later;
    this.#later = null;
    if (!place) return;
    try {
      place.replaceWith(this.#table(await ask()));
    } catch (error) {
      place.textContent = `by threads: ${errorText(error)}`;
    }
  }

  show(data: TuningData): void {
    const { errorsBy } = data.info;
    const tables = errorsBy.map((table) => this.#table(table));
    this.#later = null;
    if (data.info.onGpu) {
      this.#later = element("p", { class: "tvmdbg-muted" }, "by threads: reading all schedules …");
      tables.push(this.#later);
    }
    this.node.replaceChildren(...tables);
  }

  #table({ by, note, kinds, rows }: ErrorTableInfo): HTMLElement {
    const told = `of all trials${note && `; ${note}`}`;
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

  /** The label of a row, which shows its trials alone. */
  #label(label: string, query: string): HTMLElement | string {
    const filter = this.#filter;
    if (!query || !filter) return label;
    const link = button(label, `${label}: show these trials alone (${query})`, () => filter(query));
    link.classList.add("tvmdbg-tuning-link");
    return link;
  }
}
