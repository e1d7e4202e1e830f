import * as icons from "../shared/drawing/icons.ts";
import { unbroken } from "../shared/format.ts";
import { button, captioned, element, KEEP_KEYS, relabel, select, span } from "../shell/dom.ts";
import { HitList } from "../shell/hit_list.ts";
import { barSpace, barTitle, chartTools, type Tool, Toolbar, tool } from "../shell/toolbar.ts";
import { OtherCharts } from "./charts/other_charts.ts";
import type { ChartKind, ColorBy, ShownPart, SliceColorChoice, SliceColors } from "./data/state.ts";

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

/** Buttons that leave the visible part, with what they do. */
const LEAVES = {
  "show all": "zoom out to everything (0)",
  "loading too": "zoom out to loading, too (0)",
  executions: "zoom to the executions, without loading (h)",
};

/** What the bar asks of the view. */
interface BarHost {
  readonly charts: OtherCharts;
  readonly data: { readonly graph: unknown };
  readonly body: HTMLElement;
  readonly ranges: { measure(): void };
  readonly critical: { readonly isOn: boolean; toggle(): void };
  readonly searching: { search(text: string): void; next(by: number): void; go(row: number): void };
  all(): void;
  home(): void;
  isAll(): boolean;
  act(act: () => void): void;
  focus(): void;
  zoom(factor: number): void;
  copy(): void;
  activate(part: "chart" | "table"): void;
  showPart(part: ShownPart): void;
  showChart(kind: ChartKind): void;
  colorBy(by: SliceColorChoice): void;
}

/** Toolbar of a flamechart; `tools` are also actions of the view. */
export class TimelineBar {
  readonly node: HTMLElement;
  readonly tools: Readonly<Record<"zoomIn" | "zoomOut" | "fit" | "copy" | "measure", Tool>>;
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
  readonly #field: HTMLInputElement;
  readonly #chart: HTMLSelectElement;
  readonly #color: HTMLSelectElement;
  readonly #bar: Toolbar;
  readonly #space = barSpace();
  readonly #view: BarHost;

  constructor(view: BarHost, root: HTMLElement, query: string, signal: AbortSignal) {
    this.#view = view;
    const { charts } = view;
    const isOther = () => charts.kind !== "time";
    this.#leave = button("show all", LEAVES["show all"], () =>
      view.act(() => (this.#leave.textContent === "executions" ? view.home() : view.all())),
    );
    this.range = span("tvmdbg-timeline-part tvmdbg-inline", this.#part, this.#leave);
    this.#field = element("input", {
      type: "search",
      placeholder: `search ${query} (/)`,
      title:
        "words, id or /regular expression/; ↓ and ↑ go through the list, Enter and Shift+Enter from hit to hit, Esc ends",
      "aria-label": `search ${query}`,
      ...KEEP_KEYS,
    });
    this.list = new HitList(this.#field, `${query} found`, (row) =>
      view.act(() => view.searching.go(row)),
    );
    this.#listen(root);
    const { fit, copy, zoom } = chartTools(view, view, "the whole flamechart", "the selection");
    const [zoomOut, zoomIn] = zoom.tools.map((each) => ({
      ...each,
      isHidden: () => !charts.zooms,
    }));
    const measure = tool(
      ["m"],
      "measure",
      "measure between two edges",
      () => {
        view.activate("chart");
        view.ranges.measure();
        view.focus();
      },
      { icon: icons.MEASURE, isHidden: isOther },
    );
    const critical = tool(
      ["p"],
      "critical path",
      "mark the critical path",
      () => view.critical.toggle(),
      {
        icon: icons.CRITICAL,
        isOn: () => view.critical.isOn,
        isHidden: () => isOther() || !view.data.graph,
      },
    );
    const shown = PARTS.map(([part, icon, label, does]) =>
      tool(["v"], label, does, () => view.showPart(part), {
        icon,
        isOn: () => view.body.dataset.show === part,
      }),
    );
    const { offered } = OtherCharts;
    this.#chart = select(
      "chart",
      offered.map(([kind, label]) => [kind, label]),
      "time",
      (kind) => view.act(() => view.showChart(kind as ChartKind)),
    );
    offered.forEach(([, , title], at) => {
      this.#chart.options[at]!.title = title;
    });
    this.#chart.hidden = offered.length < 2;
    this.#color = select("color by (l)", [], "", (by) => view.colorBy(by as SliceColorChoice));
    const color = captioned("color by", this.#color);
    const zooms = { tools: [zoomOut!, zoomIn!] };
    const parts = { label: "show", tools: shown };
    this.#bar = new Toolbar(
      root,
      "flamechart",
      [
        ...[barTitle("Flamechart"), this.#chart, zooms, fit, measure, critical],
        ...[this.#space, this.#field, parts, color, copy],
      ],
      { always: [color, copy], sometimes: [critical, zooms, parts, measure] },
      signal,
    );
    this.node = this.#bar.node;
    this.tools = { zoomIn: zoomIn!, zoomOut: zoomOut!, fit, copy, measure };
  }

  /** Puts the hits below the field. */
  #place(root: HTMLElement): void {
    const [field, box] = [this.#field, root].map((node) => node.getBoundingClientRect());
    const { style, offsetWidth } = this.list.node;
    const top = field!.bottom - box!.top + 2;
    const left = Math.min(field!.left - box!.left, box!.width - offsetWidth - 6);
    style.top = `${top}px`;
    style.left = `${Math.max(4, left)}px`;
    style.maxHeight = `${Math.max(80, box!.height - top - 6)}px`;
  }

  #listen(root: HTMLElement): void {
    const { searching } = this.#view;
    const field = this.#field;
    const search = () => {
      searching.search(field.value);
      this.#place(root);
    };
    field.addEventListener("input", search);
    field.addEventListener("focus", () => {
      if (field.value) search();
    });
    field.addEventListener("blur", () => this.list.hide());
    field.addEventListener("keydown", (event) => {
      if (this.list.key(event)) return;
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Enter") searching.next(event.shiftKey ? -1 : 1);
      else {
        field.value = "";
        searching.search("");
      }
      this.#view.focus();
    });
  }

  /** Moves the line on the meaning of the times into the bar. */
  hold(line: HTMLElement): void {
    if (line.parentElement === this.node) return;
    this.#space.after(line);
    this.refresh();
  }

  clearSearch(): void {
    this.#field.value = "";
  }

  focusSearch(): void {
    this.#field.focus();
    this.#field.select();
  }

  showColor({ offered, by }: SliceColors): void {
    this.#color.replaceChildren(
      ...offered.map((option) => element("option", { value: option }, COLOR_LABELS[option])),
    );
    this.#color.value = by;
  }

  /** Shows the current chart, its controls, and what is on. */
  refresh(): void {
    const { kind } = this.#view.charts;
    this.#chart.value = kind;
    this.range.hidden = kind !== "time";
    this.#bar.refresh();
  }

  /** Shows the visible range, and a button that leaves it; "" for none. */
  showRange(said: string, leave: keyof typeof LEAVES | ""): void {
    const text = unbroken(said);
    if (this.#part.textContent === text) return;
    this.#part.textContent = text;
    this.#part.title = text;
    const isSame = this.#leave.hidden === (leave === "") && this.#leave.textContent === leave;
    this.#leave.hidden = leave === "";
    if (leave) relabel(this.#leave, leave, LEAVES[leave]);
    if (!isSame) this.refresh();
  }

  /** `wrong` marks an invalid query. */
  showHits(said: string, wrong: boolean): void {
    const text = unbroken(said);
    if (this.hits.textContent === text) return;
    this.hits.textContent = text;
    this.hits.title = text;
    this.hits.classList.toggle("tvmdbg-error", wrong);
    this.hits.classList.toggle("tvmdbg-muted", !wrong);
    this.#field.setAttribute("aria-invalid", String(wrong));
  }
}
