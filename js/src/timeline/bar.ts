import { COPY_KEY } from "../shared/client/code_copy.ts";
import * as icons from "../shared/drawing/icons.ts";
import {
  button,
  captioned,
  element,
  iconButton,
  KEEP_KEYS,
  select,
  span,
} from "../shared/ui/dom.ts";
import { HitList } from "../shared/ui/hit_list.ts";
import { helpButton } from "../shared/ui/keys.ts";
import { Overflow } from "../shared/ui/overflow.ts";
import { fullScreenButton } from "../shared/ui/view.ts";
import { OtherCharts } from "./charts/other_charts.ts";
import type { ChartKind, ColorBy, ShownPart, SliceColorChoice, SliceColors } from "./data/state.ts";

export interface TimelineBarEvents {
  zoom: (factor: number) => void;
  all: () => void;
  measure: () => void;
  critical: () => void;
  show: (part: ShownPart) => void;
  chart: (kind: ChartKind) => void;
  search: (text: string) => void;
  go: (row: number) => void;
  step: (by: number) => void;
  copy: () => void;
  color: (by: SliceColorChoice) => void;
  leave: () => void;
}

const PARTS: readonly [ShownPart, icons.Icon, string, string][] = [
  ["chart", icons.CHART, "chart only", "show the chart only"],
  ["both", icons.BOTH, "chart and table", "show chart and table"],
  ["table", icons.TABLE, "table only", "show the table only"],
];

const COLOR_LABELS: Record<ColorBy, string> = {
  kind: "op kind",
  block: "block",
  share: "share of time",
  change: "difference",
};

export class TimelineBar {
  readonly node: HTMLElement;
  readonly #field: HTMLInputElement;
  /** The hits below the field, to be placed in the view's root. */
  readonly list: HitList;
  /** Number of hits, and the position of the selected slice among them. */
  readonly hits = element("output", { class: "tvmdbg-muted tvmdbg-timeline-hits tvmdbg-numeric" });
  /** The visible part of the time axis, with a button to show all. */
  readonly range: HTMLElement;
  readonly #part = element("output", {
    class: "tvmdbg-timeline-range tvmdbg-numeric",
    "aria-label": "visible range",
  });
  readonly #leave: HTMLButtonElement;
  readonly #all: HTMLButtonElement;
  readonly #parts: HTMLButtonElement[];
  readonly #chart: HTMLSelectElement;
  readonly #color: HTMLSelectElement;
  readonly #critical: HTMLButtonElement;
  #hasPath = false;
  readonly #zoom: HTMLElement;
  readonly #measure: HTMLButtonElement;
  readonly #overflow: Overflow;
  readonly #space = span("tvmdbg-space");

  constructor(events: TimelineBarEvents, root: HTMLElement, query: string, signal: AbortSignal) {
    this.#all = iconButton(icons.FIT, "fit", "fit the whole flamechart (0)", events.all);
    this.#leave = button("show all", "zoom out to everything (0)", events.all);
    this.range = span("tvmdbg-timeline-part", this.#part, this.#leave);
    this.#field = element("input", {
      type: "search",
      placeholder: `search ${query} (/)`,
      title:
        "words, id or /regular expression/; ↓ and ↑ go through the list, Enter and Shift+Enter from hit to hit, Esc ends",
      "aria-label": `search ${query}`,
      ...KEEP_KEYS,
    });
    this.list = new HitList(this.#field, `${query} found`, (row) => {
      events.go(row);
      events.leave();
    });
    const search = () => {
      events.search(this.#field.value);
      const root = this.node.closest<HTMLElement>(".tvmdbg");
      if (root) this.list.place(root);
    };
    this.#field.addEventListener("input", search);
    this.#field.addEventListener("focus", () => {
      if (this.#field.value) search();
    });
    this.#field.addEventListener("blur", () => this.list.hide());
    this.#field.addEventListener("keydown", (event) => {
      if (this.list.key(event)) return;
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") events.step(event.shiftKey ? -1 : 1);
      else {
        this.#field.value = "";
        events.search("");
      }
      events.leave();
    });
    this.#parts = PARTS.map(([part, lines, text, title]) => {
      const node = iconButton(lines, text, `${title} (v)`, () => events.show(part));
      node.dataset.part = part;
      return node;
    });
    this.#zoom = span(
      "tvmdbg-joined",
      iconButton(icons.ZOOM_OUT, "zoom out", "zoom out (s)", () => events.zoom(2)),
      iconButton(icons.ZOOM_IN, "zoom in", "zoom in (w)", () => events.zoom(0.5)),
    );
    const { offered } = OtherCharts;
    const choices = offered.map(([kind, label]) => [kind, label] as const);
    this.#chart = select("chart", choices, "time", (kind) => events.chart(kind as ChartKind));
    offered.forEach(([, , title], at) => {
      this.#chart.options[at]!.title = title;
    });
    this.#chart.hidden = offered.length < 2;
    const copy = `Copy Python code for the selection (${COPY_KEY})`;
    const code = iconButton(icons.CODE, "copy Python code", copy, events.copy);
    this.#measure = iconButton(
      icons.MEASURE,
      "measure",
      "measure between two edges (m)",
      events.measure,
    );
    const help = helpButton(root);
    const parts = element(
      "span",
      { class: "tvmdbg-joined", role: "group", "aria-label": "show" },
      ...this.#parts,
    );
    this.#critical = iconButton(
      icons.CRITICAL,
      "critical path",
      "mark the critical path (p)",
      events.critical,
    );
    this.#critical.hidden = true;
    this.#color = select("color by (l)", [], "", (by) => events.color(by as SliceColorChoice));
    const color = captioned("color by", this.#color);
    this.node = element(
      "div",
      { class: "tvmdbg-bar", role: "toolbar", "aria-label": "flamechart" },
      span("tvmdbg-title", "Flamechart"),
      this.#chart,
      this.#zoom,
      this.#all,
      this.#measure,
      this.#critical,
      this.#space,
      this.#field,
      parts,
      color,
      code,
      help,
      fullScreenButton(root),
    );
    this.#overflow = new Overflow(
      this.node,
      {
        always: [color, code, help],
        sometimes: [this.#critical, this.#zoom, parts, this.#measure],
      },
      signal,
    );
  }

  /** Moves the line on the meaning of the times into the bar. */
  hold(line: HTMLElement): void {
    if (line.parentElement === this.node) return;
    this.#space.after(line);
    this.#overflow.fit();
  }

  clearSearch(): void {
    this.#field.value = "";
  }

  focusSearch(): void {
    this.#field.focus();
    this.#field.select();
  }

  showPart(part: ShownPart): void {
    for (const option of this.#parts) {
      option.setAttribute("aria-pressed", String(option.dataset.part === part));
    }
  }

  showColor({ offered, by }: SliceColors): void {
    const label = (option: ColorBy) => COLOR_LABELS[option];
    this.#color.replaceChildren(
      ...offered.map((option) => element("option", { value: option }, label(option))),
    );
    this.#color.value = by;
  }

  showCritical(on: boolean): void {
    this.#hasPath = true;
    this.#critical.hidden = this.#chart.value !== "time";
    this.#critical.setAttribute("aria-pressed", String(on));
  }

  /** Names the current chart and shows its controls; `zooms`: − and + act on it. */
  showChart(kind: ChartKind, zooms: boolean): void {
    const isTime = kind === "time";
    this.#chart.value = kind;
    this.#zoom.hidden = !zooms;
    this.#measure.hidden = !isTime;
    this.#critical.hidden = !isTime || !this.#hasPath;
    this.range.hidden = !isTime;
    if (!isTime) this.#all.disabled = false;
    this.#overflow.fit();
  }

  showRange(text: string, all: boolean): void {
    if (this.#part.textContent === text) return;
    this.#part.textContent = text;
    this.#all.disabled = all;
    this.#leave.hidden = all;
  }

  /** `wrong` marks an invalid query. */
  showHits(text: string, wrong: boolean): void {
    if (this.hits.textContent === text) return;
    this.hits.textContent = text;
    this.hits.title = text;
    this.hits.classList.toggle("tvmdbg-error", wrong);
    this.hits.classList.toggle("tvmdbg-muted", !wrong);
    this.#field.setAttribute("aria-invalid", String(wrong));
  }
}
