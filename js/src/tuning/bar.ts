import { errorText, isAbort } from "../shared/client/request.ts";
import { readTheme } from "../shared/drawing/theme.ts";
import { integer } from "../shared/format.ts";
import { element, KEEP_KEYS, type Mirror, select } from "../shell/dom.ts";
import { type ToolGroup, tool } from "../shell/toolbar.ts";
import type { TuningClient } from "./client.ts";
import { type Along, errorFill, type TuningData } from "./data.ts";
import { codeQuery, codesOf, outcomeName, taskTitle } from "./descriptions.ts";
import type { TrialScene } from "./scene.ts";

/** What the toolbar acts on. */
interface TuningBarView {
  readonly scene: TrialScene;
  pickTask(task: number | null): void;
  showAlong(along: Along): void;
  filter(query: string): void;
  focus(): void;
}

const ALL = "all";

/** Tasks, axis, and the filter of trials in the toolbar. */
export class TuningControls {
  readonly field: HTMLInputElement;
  readonly matches = element("output", { class: "tvmdbg-tuning-found tvmdbg-muted tvmdbg-clip" });
  readonly tasks: HTMLSelectElement;
  readonly along: ToolGroup;
  readonly #view: TuningBarView;
  /** Called after changes that the toolbar shows. */
  changed: () => void = () => {};

  constructor(view: TuningBarView) {
    this.#view = view;
    this.tasks = select("task", [[ALL, "all tasks"]], ALL, (value) =>
      view.pickTask(value === ALL ? null : Number(value)),
    );
    this.tasks.classList.add("tvmdbg-tuning-tasks-menu");
    const along = (by: Along, label: string, does: string) =>
      tool(["x"], label, does, () => view.showAlong(by), {
        isOn: () => view.scene.along === by,
        ...(by === "time" && {
          isOff: () => !view.scene.data.info.timed && "this log has no times",
        }),
      });
    this.along = {
      label: "horizontal axis",
      tools: [
        along("trial", "trials", "show over the trials"),
        along("time", "time", "show over wall time"),
      ],
    };
    this.field = element("input", {
      type: "search",
      class: "tvmdbg-tuning-query",
      placeholder: "Filter trials… (/)",
      "aria-label": "filter trials: error:6 task:3 cost<2ms",
      title: "error:6 task:3 cost<2ms unroll>=512 is:failed",
      spellcheck: "false",
      autocomplete: "off",
      ...KEEP_KEYS,
    });
    this.field.addEventListener("change", () => view.filter(this.field.value));
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" && event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape") this.field.value = "";
      view.filter(this.field.value);
      view.focus();
    });
  }

  /** Takes over the tasks of a log, which may have grown. */
  showLog(data: TuningData): void {
    const options = data.info.tasks.map((task) =>
      element("option", { value: task.index }, taskTitle(task)),
    );
    this.tasks.replaceChildren(element("option", { value: ALL }, "all tasks"), ...options);
    this.tasks.hidden = options.length < 2;
    this.changed();
  }

  show(): void {
    const { task } = this.#view.scene;
    this.tasks.value = task < 0 ? ALL : String(task);
    this.changed();
  }

  showQuery(query: string, text: string, isWrong: boolean): void {
    if (document.activeElement !== this.field) this.field.value = query;
    this.field.setAttribute("aria-invalid", String(isWrong));
    this.matches.classList.toggle("tvmdbg-error", isWrong);
    if (this.matches.title === text) return;
    // The place of a slip stands below it in the whole text.
    this.matches.textContent = text.split("\n")[0]!.replace(/ at \d+;/, ";");
    this.matches.title = text;
    this.changed();
  }

  focusQuery(): void {
    if (this.field.hidden) return;
    this.field.focus();
    this.field.select();
  }
}

export interface FilteredView {
  /** True without a kernel for queries. */
  readonly isSaved: boolean;
  filter(query: string): void;
}

/** Legend of the errors: colors, counts, and buttons that filter by them. */
export class ErrorLegend {
  readonly node = element("span", {
    class: "tvmdbg-tuning-legend",
    role: "group",
    "aria-label": "outcomes of trials",
  });
  readonly #root: HTMLElement;
  readonly #view: FilteredView;

  constructor(root: HTMLElement, view: FilteredView) {
    this.#root = root;
    this.#view = view;
  }

  show(data: TuningData, query: string): void {
    const theme = readTheme(this.#root);
    const counts = new Map<number, number>();
    for (const code of data.error) counts.set(code, (counts.get(code) ?? 0) + 1);
    const items = codesOf(data).map((code) => {
      const chip = element("i", { class: "tvmdbg-swatch", "aria-hidden": "true" });
      chip.style.backgroundColor = errorFill(theme, code);
      const text = `${integer(counts.get(code) ?? 0)} ${outcomeName(data, code)}`;
      if (this.#view.isSaved) return element("span", {}, chip, text);
      const own = codeQuery(code);
      const item = element(
        "button",
        { type: "button", title: `show these trials alone: ${own}`, ...KEEP_KEYS },
        chip,
        text,
      );
      item.dataset.query = own;
      item.addEventListener("click", () =>
        this.#view.filter(item.getAttribute("aria-pressed") === "true" ? "" : own),
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

interface FilterHost {
  readonly client: TuningClient;
  readonly bar: TuningControls;
  readonly legend: ErrorLegend;
  readonly mirror: Mirror;
  /** Highlights matches, one byte per trial; null for all. */
  showMatches(mask: Uint8Array | null): void;
}

export class TrialFilter {
  /** Query; empty matches all. */
  query = "";
  readonly #host: FilterHost;

  constructor(host: FilterHost) {
    this.#host = host;
  }

  async find(query: string): Promise<void> {
    const { client, bar, legend, mirror } = this.#host;
    this.query = query;
    legend.mark(query);
    if (!query) {
      bar.showQuery("", "", false);
      this.#host.showMatches(null);
      return;
    }
    try {
      const { mask, info } = await client.ask("select", { query });
      const { caption } = info;
      if (query !== this.query) return;
      bar.showQuery(query, caption.replace(`: ${query}`, ""), false);
      mirror.say(caption);
      this.#host.showMatches(mask);
    } catch (error) {
      if (query !== this.query || isAbort(error)) return;
      bar.showQuery(query, errorText(error), true);
      mirror.say(errorText(error));
      this.#host.showMatches(null);
    }
  }
}
