import { COPY_KEY } from "../shared/client/code_copy.ts";
import { errorText, isAbort } from "../shared/client/request.ts";
import * as icons from "../shared/drawing/icons.ts";
import { readTheme } from "../shared/drawing/theme.ts";
import { integer } from "../shared/format.ts";
import { button, element, iconButton, KEEP_KEYS, select, span } from "../shared/ui/dom.ts";
import { helpButton } from "../shared/ui/keys.ts";
import { Overflow } from "../shared/ui/overflow.ts";
import { fullScreenButton } from "../shared/ui/view.ts";
import type { TuningClient } from "./client.ts";
import { type Along, errorFill, type TuningData } from "./data.ts";
import { codeQuery, codesOf, outcomeName, taskTitle } from "./descriptions.ts";

export interface TuningBarEvents {
  task: (task: number | null) => void;
  along: (along: Along) => void;
  query: (query: string) => void;
  zoom: (factor: number) => void;
  all: () => void;
  best: () => void;
  copy: () => void;
}

const ALL = "all";

export class TuningBar {
  readonly node: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #matches = element("output", { class: "tvmdbg-tuning-found tvmdbg-muted" });
  readonly #tasks: HTMLSelectElement;
  readonly #trial: HTMLButtonElement;
  readonly #time: HTMLButtonElement;
  readonly #all: HTMLButtonElement;
  readonly #overflow: Overflow;
  readonly #title = span("tvmdbg-title");

  constructor(events: TuningBarEvents, root: HTMLElement, signal: AbortSignal) {
    this.#tasks = select("task", [[ALL, "all tasks"]], ALL, (value) =>
      events.task(value === ALL ? null : Number(value)),
    );
    this.#tasks.classList.add("tvmdbg-tuning-tasks-menu");
    this.#trial = button("trials", "show over the trials (x)", () => events.along("trial"));
    this.#time = button("time", "show over wall time (x)", () => events.along("time"));
    const along = element(
      "span",
      { class: "tvmdbg-joined", role: "group", "aria-label": "horizontal axis" },
      this.#trial,
      this.#time,
    );
    this.#all = iconButton(icons.FIT, "fit", "fit all trials (0)", events.all);
    const zoom = span(
      "tvmdbg-joined",
      iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (s)", () => events.zoom(2)),
      iconButton(icons.ZOOM_IN, "zoom in", "zoom in (w)", () => events.zoom(0.5)),
    );
    const best = iconButton(icons.PEAK, "best", "go to the best trial (b)", events.best);
    this.#field = element("input", {
      type: "search",
      class: "tvmdbg-tuning-query",
      placeholder: "Filter trials… (/)",
      "aria-label": "filter trials: error:6 task:3 cost<2ms",
      title: "error:6 task:3 cost<2ms unroll>=512 is:failed",
      spellcheck: "false",
      autocomplete: "off",
      ...KEEP_KEYS,
    });
    this.#field.addEventListener("change", () => events.query(this.#field.value));
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" && event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape") this.#field.value = "";
      events.query(this.#field.value);
      root.focus({ preventScroll: true });
    });
    const copy = iconButton(
      icons.CODE,
      "copy Python code",
      `Copy Python code for the trial (${COPY_KEY})`,
      events.copy,
    );
    const help = helpButton(root);
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "tuning" },
      this.#title,
      this.#tasks,
      along,
      zoom,
      this.#all,
      best,
      span("tvmdbg-space"),
      this.#matches,
      this.#field,
      copy,
      help,
      fullScreenButton(root),
    );
    this.#overflow = new Overflow(
      this.node,
      { always: [copy, help], sometimes: [zoom, this.#all, best, along] },
      signal,
    );
  }

  /** Takes over the tasks of a log, which may have grown. */
  showLog(data: TuningData): void {
    this.#title.textContent = "Tuning";
    const options = data.info.tasks.map((task) =>
      element("option", { value: task.index }, taskTitle(task)),
    );
    this.#tasks.replaceChildren(element("option", { value: ALL }, "all tasks"), ...options);
    this.#tasks.hidden = options.length < 2;
    this.#time.disabled = !data.info.timed;
    if (!data.info.timed) this.#time.title = "this log has no times";
    this.#overflow.fit();
  }

  show(task: number | null, along: Along, all: boolean): void {
    this.#tasks.value = task === null ? ALL : String(task);
    this.#trial.setAttribute("aria-pressed", String(along === "trial"));
    this.#time.setAttribute("aria-pressed", String(along === "time"));
    this.#all.disabled = all;
  }

  showQuery(query: string, text: string, isWrong: boolean): void {
    if (document.activeElement !== this.#field) this.#field.value = query;
    this.#field.setAttribute("aria-invalid", String(isWrong));
    this.#matches.classList.toggle("tvmdbg-error", isWrong);
    if (this.#matches.title === text) return;
    this.#matches.textContent = text.split("\n")[0]!;
    this.#matches.title = text;
    this.#overflow.fit();
  }

  /** Removes the query field in a page without a kernel. */
  hideQuery(): void {
    this.#field.hidden = true;
  }

  focusQuery(): void {
    if (this.#field.hidden) return;
    this.#field.focus();
    this.#field.select();
  }
}

/** Legend of the errors: colors, counts, and buttons that filter by them. */
export class ErrorLegend {
  readonly node = element("span", {
    class: "tvmdbg-tuning-legend",
    role: "group",
    "aria-label": "outcomes of trials",
  });
  readonly #root: HTMLElement;
  readonly #filter: ((query: string) => void) | null;

  /** @param filter Null if there is no kernel for queries. */
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

  mark(query: string): void {
    for (const item of this.node.querySelectorAll<HTMLElement>("button")) {
      item.setAttribute("aria-pressed", String(item.dataset.query === query));
    }
  }
}

interface FilterParts {
  client: TuningClient;
  bar: TuningBar;
  legend: ErrorLegend;
  say: (text: string) => void;
  /** Highlights matches, one byte per trial; null for all. */
  show: (mask: Uint8Array | null) => void;
}

export class TrialFilter {
  /** Query; empty matches all. */
  query = "";
  readonly #parts: FilterParts;

  constructor(parts: FilterParts) {
    this.#parts = parts;
  }

  async find(query: string): Promise<void> {
    const { client, bar, legend, say, show } = this.#parts;
    this.query = query;
    legend.mark(query);
    if (!query) {
      bar.showQuery("", "", false);
      show(null);
      return;
    }
    try {
      const { mask, info } = await client.ask("select", { query });
      const { caption } = info;
      if (query !== this.query) return;
      bar.showQuery(query, caption.replace(`: ${query}`, ""), false);
      say(caption);
      show(mask);
    } catch (error) {
      if (query !== this.query || isAbort(error)) return;
      bar.showQuery(query, errorText(error), true);
      say(errorText(error));
      show(null);
    }
  }
}
