import { button, element, KEEP_KEYS } from "../../shared/dom.ts";
import { message } from "../../shared/message.ts";
import { isAbort } from "../../shared/request.ts";
import { readTheme, type Theme } from "../../shared/theme.ts";
import { annotationColor } from "../chart/colors.ts";
import {
  type ChangeRow,
  factorText,
  lineParts,
  type NestLineInfo,
  newTouches,
  type ScheduleChange,
  type ScheduleInfo,
} from "../data/schedule.ts";

const BUSY_AFTER_MS = 150;
const MOST_LINES = 2000;
const SIGNS = { same: "", changed: "≠", "only A": "A", "only B": "B" } as const;

/** The loop nest of one trial beside its steps; or two schedules beside each other. */
export class SchedulePane {
  readonly node = element("div", { class: "tvmdbg-tuning-schedule" });
  readonly #root: HTMLElement;
  readonly #pin: () => void;
  #shown: ScheduleInfo | null = null;
  #asked = 0;

  constructor(root: HTMLElement, pin: () => void) {
    this.#root = root;
    this.#pin = pin;
    this.node.addEventListener("pointerover", (event) => {
      const at = (event.target as HTMLElement).closest<HTMLElement>("[data-steps]");
      this.#light(at, at?.dataset.steps?.split(" ") ?? []);
    });
    this.node.addEventListener("pointerleave", () => this.#light(null, []));
  }

  get shown(): ScheduleInfo | null {
    return this.#shown;
  }

  /** Shows what comes, unless something else is asked for meanwhile. */
  async show(asked: Promise<ScheduleInfo> | null): Promise<void> {
    await this.#await(asked, (found) => {
      this.#shown = found;
      this.node.replaceChildren(...this.#parts(found));
    });
  }

  async showChange(asked: Promise<ScheduleChange>): Promise<void> {
    await this.#await(asked, (found) => {
      this.#shown = null;
      this.node.replaceChildren(
        ...changeParts(found, button("close", "back to the schedule (p)", this.#pin)),
      );
    });
  }

  async #await<T>(asked: Promise<T> | null, show: (found: T) => void): Promise<void> {
    const mine = ++this.#asked;
    if (!asked) {
      this.#shown = null;
      this.node.replaceChildren(
        message("empty", "No valid trial", "Select a trial in the chart to see its schedule."),
      );
      return;
    }
    const busy = setTimeout(() => {
      if (mine === this.#asked) this.node.dataset.busy = "true";
    }, BUSY_AFTER_MS);
    try {
      const found = await asked;
      if (mine === this.#asked) show(found);
    } catch (error) {
      if (mine !== this.#asked || isAbort(error)) return;
      this.#shown = null;
      const why = error instanceof Error ? error.message : String(error);
      this.node.replaceChildren(message("error", "This schedule could not be read", why));
    } finally {
      clearTimeout(busy);
      if (mine === this.#asked) delete this.node.dataset.busy;
    }
  }

  #parts(schedule: ScheduleInfo): HTMLElement[] {
    const theme = readTheme(this.#root);
    const facts = schedule.facts.map(([name, value]) =>
      element("span", {}, element("span", { class: "tvmdbg-muted" }, `${name} `), value),
    );
    const pin = button(
      "compare…",
      "keep this schedule to compare the next one with it (p)",
      this.#pin,
    );
    const head = element(
      "header",
      {},
      element("strong", {}, schedule.title),
      pin,
      ...facts,
      ...schedule.notes.map((note) => element("p", { class: "tvmdbg-muted" }, note)),
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
          element("li", { "data-steps": at, value: at }, element("code", {}, code), ` ${text}`),
        ),
    );
    const columns = element("div", { class: "tvmdbg-tuning-columns" }, nest, steps);
    return schedule.tiles.length ? [head, columns, tileTable(schedule)] : [head, columns];
  }

  /** Marks what is pointed at, and what of the other side it has to do with: steps made lines, lines come from steps. */
  #light(pointed: HTMLElement | null, steps: readonly string[]): void {
    for (const each of this.node.querySelectorAll<HTMLElement>("[data-steps]")) {
      const other = each.tagName !== pointed?.tagName;
      const linked = other && each.dataset.steps!.split(" ").some((step) => steps.includes(step));
      each.classList.toggle("tvmdbg-tuning-lit", each === pointed || linked);
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
    ...line.touches.map((each) => `touches ${each}`),
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
      element("td", {}, tile.factors.map((each) => each ?? "?").join(" · ")),
      element("td", { class: "tvmdbg-muted" }, tile.words.join(", ")),
    ),
  );
  const heads = ["stage", "axis", "extent", "tiles, outermost first", "bound to"];
  return element(
    "table",
    { class: "tvmdbg-tuning-tiles-table", "aria-label": "tile structure" },
    element(
      "thead",
      {},
      element("tr", {}, ...heads.map((each) => element("th", { scope: "col" }, each))),
    ),
    element("tbody", {}, ...rows),
  );
}

function changeParts(change: ScheduleChange, close: HTMLElement): HTMLElement[] {
  const side = (title: string, rows: readonly ChangeRow[], isCode: boolean) =>
    element(
      "table",
      { class: "tvmdbg-tuning-change", "aria-label": title },
      element("caption", {}, title),
      element("tbody", {}, ...rows.map((row) => changeRow(row, isCode))),
    );
  const differ = change.steps.filter((row) => row.change !== "same").length;
  return [
    element(
      "header",
      {},
      element("strong", {}, `A: ${change.titles[0]}`),
      element("strong", {}, `B: ${change.titles[1]}`),
      close,
      element("p", { class: "tvmdbg-muted" }, `${differ} of ${change.steps.length} steps differ`),
    ),
    side("loops", change.lines, true),
    side("steps", change.steps, false),
  ];
}

function changeRow({ change, a, b }: ChangeRow, isCode: boolean): HTMLElement {
  const cell = (text: string) => element("td", {}, isCode ? element("code", {}, text) : text);
  return element(
    "tr",
    { class: change === "same" ? undefined : "tvmdbg-tuning-changed" },
    element("th", { scope: "row", "aria-label": change }, SIGNS[change]),
    cell(a),
    cell(b),
  );
}
