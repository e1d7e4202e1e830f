import { errorText, isAbort } from "../shared/client/request.ts";
import { readTheme, type Theme } from "../shared/drawing/theme.ts";
import { agree, counted } from "../shared/format.ts";
import { button, div, element, KEEP_KEYS, span } from "../shell/dom.ts";
import { message } from "../shell/message.ts";
import { table } from "../shell/table.ts";
import {
  factorText,
  lineParts,
  type NestLineInfo,
  newTouches,
  type ScheduleChange,
  type ScheduleChangeRow,
  type ScheduleInfo,
} from "./client.ts";
import { annotationColor } from "./data.ts";
import { unbrokenFactors } from "./descriptions.ts";

const BUSY_AFTER_MS = 150;
const MOST_LINES = 2000;
const SIGNS = { same: "", changed: "≠", "only A": "A", "only B": "B" } as const;

interface ScheduleView {
  /** True if schedules cannot be compared. */
  readonly isSaved: boolean;
  pin(): void;
}

/** The loop nest of one trial beside its steps; or two schedules side by side. */
export class SchedulePane {
  readonly node = div("tvmdbg-tuning-schedule tvmdbg-column");
  readonly #root: HTMLElement;
  readonly #view: ScheduleView;
  shown: ScheduleInfo | null = null;
  /** The trial that is shown or awaited; -1 for none, and for a comparison. */
  asked = -1;
  #render: (() => HTMLElement[]) | null = null;
  #isKept = false;
  #isEmpty = false;
  #serial = 0;

  constructor(root: HTMLElement, view: ScheduleView) {
    this.#root = root;
    this.#view = view;
    this.node.addEventListener("pointerover", (event) => {
      const at = (event.target as HTMLElement).closest<HTMLElement>("[data-steps]");
      this.#light(at, at?.dataset.steps?.split(" ") ?? []);
    });
    this.node.addEventListener("pointerleave", () => this.#light(null, []));
    this.node.addEventListener("click", (event) => {
      if ((event.target as HTMLElement).closest("[data-steps]")) this.#bringLit();
    });
    this.node.addEventListener("keydown", (event) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!by || !this.#walk(event.target as HTMLElement, by)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** Shows a schedule when it comes, unless another one is requested meanwhile. */
  async show(
    asked: number,
    schedule: Promise<ScheduleInfo> | null,
    isEmpty = false,
  ): Promise<void> {
    this.#isEmpty = isEmpty;
    await this.#await(asked, schedule, (result) => {
      this.shown = result;
      this.#render = () => this.#parts(result);
      this.refresh();
    });
  }

  async showChange(change: Promise<ScheduleChange>): Promise<void> {
    await this.#await(-1, change, (result) => {
      this.shown = null;
      this.#render = () => {
        const close = button("close", "back to the schedule (p)", () => this.#view.pin());
        return changeParts(result, close, readTheme(this.#root));
      };
      this.refresh();
    });
  }

  /** Repaints in the colors of the current theme. */
  refresh(): void {
    if (this.#render) this.node.replaceChildren(...this.#render());
  }

  /** Shows whether the schedule is kept for comparison. */
  keep(isKept: boolean): void {
    this.#isKept = isKept;
    this.refresh();
  }

  async #await<T>(
    asked: number,
    answer: Promise<T> | null,
    show: (result: T) => void,
  ): Promise<void> {
    const mine = ++this.#serial;
    this.asked = asked;
    if (!answer) {
      this.shown = this.#render = null;
      this.node.replaceChildren(
        this.#isEmpty
          ? message("empty", "No trials", "The log has no records so far.")
          : message("empty", "No valid trial", "Select a trial in the chart to see its schedule."),
      );
      return;
    }
    const busy = setTimeout(() => {
      if (mine === this.#serial) this.node.dataset.busy = "true";
    }, BUSY_AFTER_MS);
    try {
      const result = await answer;
      if (mine === this.#serial) show(result);
    } catch (error) {
      if (mine !== this.#serial || isAbort(error)) return;
      this.shown = this.#render = null;
      this.asked = -1;
      const title = "This schedule could not be read";
      this.node.replaceChildren(message("error", title, errorText(error)));
    } finally {
      clearTimeout(busy);
      if (mine === this.#serial) delete this.node.dataset.busy;
    }
  }

  #parts(schedule: ScheduleInfo): HTMLElement[] {
    const theme = readTheme(this.#root);
    const facts = schedule.facts.map(([name, value]) =>
      element("span", {}, span("tvmdbg-muted", `${name} `), value),
    );
    const head = div(
      "tvmdbg-tuning-facts tvmdbg-wrap tvmdbg-fixed tvmdbg-gap-12",
      element("strong", {}, schedule.title),
      !this.#view.isSaved && this.#pinButton(),
      ...facts,
      ...schedule.notes.map((note) => span("tvmdbg-muted", note)),
    );
    const nest = element(
      "pre",
      { class: "tvmdbg-tuning-nest", "aria-label": "loop nest", tabindex: 0, ...KEEP_KEYS },
      ...schedule.lines
        .slice(0, MOST_LINES)
        .map((line, at) => nestLine(line, theme, newTouches(schedule.lines, at))),
    );
    const steps = element(
      "ol",
      {
        class: "tvmdbg-tuning-steps",
        "aria-label": "transform steps",
        tabindex: 0,
        start: 0,
        ...KEEP_KEYS,
      },
      ...schedule.steps
        .slice(0, MOST_LINES)
        .map(({ code, text }, at) =>
          element(
            "li",
            { "data-steps": at, value: at },
            element("code", {}, code),
            ` ${unbrokenFactors(text)}`,
          ),
        ),
    );
    if (!schedule.lines.length && !schedule.steps.length) {
      return [head, message("empty", "No steps", "This record says nothing of its schedule.")];
    }
    const parts = schedule.lines.length ? [nest, steps] : [steps];
    const columns = div("tvmdbg-tuning-columns", ...parts);
    return schedule.tiles.length ? [head, columns, tileTable(schedule)] : [head, columns];
  }

  #pinButton(): HTMLElement {
    const isKept = this.#isKept;
    const node = button(
      isKept ? "select a trial to compare…" : "compare…",
      isKept ? "compare with none (p)" : "keep this schedule to compare the next one with it (p)",
      () => this.#view.pin(),
    );
    node.setAttribute("aria-pressed", String(isKept));
    return node;
  }

  /** Highlights the next line of the column with the focus; returns false without one. */
  #walk(column: HTMLElement, by: number): boolean {
    if (!column.matches(".tvmdbg-tuning-nest, .tvmdbg-tuning-steps")) return false;
    const lines = [...column.querySelectorAll<HTMLElement>("[data-steps]")];
    const from = lines.findIndex((line) => line.matches(".tvmdbg-tuning-pointed"));
    const next = lines[Math.max(0, Math.min(lines.length - 1, from + by))];
    if (!next) return false;
    this.#light(next, next.dataset.steps!.split(" "));
    this.#bringLit();
    return true;
  }

  #bringLit(): void {
    for (const column of this.node.querySelectorAll<HTMLElement>(
      ".tvmdbg-tuning-nest, .tvmdbg-tuning-steps",
    )) {
      const pointed = column.querySelector<HTMLElement>(".tvmdbg-tuning-pointed");
      const lit = pointed ?? column.querySelector<HTMLElement>(".tvmdbg-tuning-lit");
      if (!lit) continue;
      const [box, line] = [column.getBoundingClientRect(), lit.getBoundingClientRect()];
      if (line.top < box.top) column.scrollTop += line.top - box.top;
      else if (line.bottom > box.bottom) column.scrollTop += line.bottom - box.bottom;
    }
  }

  /** Highlights a line and its counterparts on the other side: steps and the lines they made. */
  #light(pointed: HTMLElement | null, steps: readonly string[]): void {
    for (const line of this.node.querySelectorAll<HTMLElement>("[data-steps]")) {
      const other = line.tagName !== pointed?.tagName;
      const linked = other && line.dataset.steps!.split(" ").some((step) => steps.includes(step));
      line.classList.toggle("tvmdbg-tuning-lit", line === pointed || linked);
      line.classList.toggle("tvmdbg-tuning-pointed", line === pointed);
    }
  }
}

function nestLine(line: NestLineInfo, theme: Theme, touched: string): HTMLElement {
  const [word, rest] = lineParts(line);
  const strong = element("b", {}, word);
  const color = annotationColor(theme, word);
  if (color) strong.style.color = color;
  const factor = factorText(line);
  const title = [
    line.steps.length ? `steps ${line.steps.join(", ")}` : "",
    ...line.touches.map((touch) => `touches ${touch}`),
  ].filter(Boolean);
  return element(
    "span",
    {
      class: `tvmdbg-tuning-line tvmdbg-tuning-${line.kind}`,
      "data-steps": line.steps.length ? line.steps.join(" ") : undefined,
      title: title.join("\n") || undefined,
    },
    "  ".repeat(line.depth),
    strong,
    rest,
    factor ? element("i", { class: "tvmdbg-muted" }, factor) : null,
    touched ? element("i", { class: "tvmdbg-tuning-touches tvmdbg-muted" }, `  ${touched}`) : null,
    "\n",
  );
}

function tileTable({ tiles }: ScheduleInfo): HTMLElement {
  const rows = tiles.map((tile) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, tile.stage),
      element("td", {}, tile.axis),
      element(
        "td",
        { class: "tvmdbg-tuning-number" },
        tile.extent === null ? "unknown" : String(tile.extent),
      ),
      element("td", {}, tile.factors.map((factor) => factor ?? "?").join(" · ")),
      element("td", { class: "tvmdbg-muted" }, tile.words.join(", ")),
    ),
  );
  return table(
    { class: "tvmdbg-tuning-tiles-table tvmdbg-fixed", "aria-label": "tile structure" },
    ["stage", "axis", "extent", "tiles, outermost first", "bound to"],
    rows,
  );
}

function changeParts(change: ScheduleChange, close: HTMLElement, theme: Theme): HTMLElement[] {
  const side = (title: string, rows: readonly ScheduleChangeRow[], isCode: boolean) =>
    table(
      { class: "tvmdbg-tuning-change tvmdbg-fixed", "aria-label": title },
      [
        "",
        ...change.titles.map((name, at) =>
          element(
            "th",
            { scope: "col", class: "tvmdbg-tuning-side" },
            `${title} of ${"AB"[at]}: ${name}`,
          ),
        ),
      ],
      rows.map((row) => changeRow(row, isCode ? theme : null)),
    );
  const differ = change.steps.filter((row) => row.change !== "same").length;
  return [
    div(
      "tvmdbg-tuning-facts tvmdbg-wrap tvmdbg-fixed tvmdbg-gap-12",
      element(
        "strong",
        {},
        `${differ} of ${counted(change.steps.length, "step")} ${agree(differ, "differs")}`,
      ),
      close,
    ),
    side("loops", change.lines, true),
    side("steps", change.steps, false),
  ];
}

/** @param theme Colors of code. */
function changeRow({ change, a, b }: ScheduleChangeRow, theme: Theme | null): HTMLElement {
  const cell = (text: string) => element("td", {}, theme ? loopCode(text, theme) : text);
  return element(
    "tr",
    { class: change === "same" ? undefined : "tvmdbg-tuning-changed" },
    element("td", { title: change === "same" ? undefined : change }, SIGNS[change]),
    cell(a),
    cell(b),
  );
}

function loopCode(text: string, theme: Theme): HTMLElement {
  const [, indent, word, rest] = /^(\s*)(\S*)(.*)$/s.exec(text)!;
  const color = annotationColor(theme, word!);
  if (!color) return element("code", {}, text);
  const strong = element("b", {}, word!);
  strong.style.color = color;
  return element("code", {}, indent!, strong, rest!);
}
