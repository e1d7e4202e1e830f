import { button, element, KEEP_KEYS, relabel } from "../shared/dom.ts";
import { counted, duration, percent } from "../shared/format.ts";
import type { GraphColumns } from "../shared/run_client.ts";
import { kindFill } from "../shared/theme.ts";
import type { NodeHealth } from "./health.ts";
import { type HealthActs, healthKey } from "./health_key.ts";
import type { Palette } from "./palette.ts";
import type { ColorBy } from "./picture.ts";
import type { Times } from "./times.ts";

const STOPS = 8;
/** Room of the row's own margins, and of the button for what does not fit, CSS px. */
const PADDING = 14;
const MORE = 40;

export interface LegendState {
  colorBy: ColorBy;
  health: NodeHealth | null;
  highlight: string | null;
  palette: Palette;
}

/** The op kinds with their share of the time, each a button that sets the others back; and the scale of times. */
export class Legend {
  readonly node = element("div", { class: "tvmdbg-graph-legend", role: "group" });
  readonly #kinds: [kind: string, sum: { nodes: number; ns: number }][];
  readonly #times: Times;
  readonly #highlight: (opKind: string | null) => void;
  readonly #acts: HealthActs;
  readonly #more = button("", "", () => {
    this.#all = !this.#all;
    this.#fit();
  });
  #scaleNode: HTMLElement | null = null;
  #items: HTMLElement[] = [];
  #all = false;

  constructor(
    graph: GraphColumns,
    times: Times,
    highlight: (opKind: string | null) => void,
    acts: HealthActs,
    signal: AbortSignal,
  ) {
    this.#acts = acts;
    this.#times = times;
    this.#highlight = highlight;
    this.#kinds = [...times.byKind(graph)].sort(([, a], [, b]) => b.ns - a.ns || b.nodes - a.nodes);
    this.node.setAttribute("aria-label", "legend: op kinds");
    const size = new ResizeObserver(() => this.#fit());
    size.observe(this.node);
    signal.addEventListener("abort", () => size.disconnect());
  }

  show(state: LegendState): void {
    const scale =
      state.colorBy === "time"
        ? this.#scale(state.palette)
        : state.colorBy === "health"
          ? healthKey(state.health, state.palette, this.#acts)
          : null;
    const chips = this.#kinds.map(([kind, sum]) => this.#chip(kind, sum, state));
    const active = document.activeElement as HTMLElement | null;
    const focused = this.node.contains(active) ? active?.dataset.kind : undefined;
    this.#scaleNode = scale;
    this.#items = chips;
    this.node.replaceChildren(...(scale ? [scale] : []), ...chips, this.#more);
    this.#fit();
    if (!focused) return;
    const buttons = this.node.querySelectorAll<HTMLElement>("[data-kind]");
    Array.from(buttons)
      .find((each) => each.dataset.kind === focused)
      ?.focus({ preventScroll: true });
  }

  /** The scale, as many op kinds as the row holds beside it, and a button for the others. */
  #fit(): void {
    const { clientWidth } = this.node;
    for (const part of [...this.#items, this.#more]) part.hidden = false;
    relabel(this.#more, "less", "show one row of the legend");
    if (clientWidth === 0) return;
    const scale = this.#scaleNode?.offsetWidth ?? 0;
    const widths = this.#items.map((item) => item.offsetWidth);
    const sum = widths.reduce((total, width) => total + width, PADDING + scale);
    this.#more.hidden = sum <= clientWidth;
    if (this.#all || sum <= clientWidth) return;
    let room = clientWidth - PADDING - MORE - scale;
    let shown = 0;
    for (; shown < widths.length && widths[shown]! <= room; shown++) room -= widths[shown]!;
    for (const item of this.#items.slice(shown)) item.hidden = true;
    const left = counted(this.#items.length - shown, "op kind");
    relabel(this.#more, `+${this.#items.length - shown}`, `show ${left} more`);
  }

  #chip(
    kind: string,
    { nodes, ns }: { nodes: number; ns: number },
    { palette, highlight }: LegendState,
  ): HTMLElement {
    const swatch = element("span", { class: "tvmdbg-graph-swatch" });
    swatch.style.background = kindFill(palette.theme, kind);
    const share = ns > 0 ? percent(ns / this.#times.total) : "";
    const title = `${kind}: ${counted(nodes, "node")}${share ? `, ${duration(ns)}, ${share} of the time` : ""}`;
    const chip = element(
      "button",
      {
        type: "button",
        title,
        "aria-label": title,
        "aria-pressed": String(highlight === kind),
        "data-kind": kind,
        ...KEEP_KEYS,
      },
      swatch,
      kind,
      element("span", { class: "tvmdbg-muted" }, ` ${share || nodes}`),
    );
    chip.addEventListener("click", () => this.#highlight(highlight === kind ? null : kind));
    return chip;
  }

  #scale(palette: Palette): HTMLElement {
    if (!this.#times.known) {
      return element("span", { class: "tvmdbg-graph-scale" }, "the run holds no times");
    }
    const { largest } = this.#times;
    const ramp = element("span", { class: "tvmdbg-graph-ramp" });
    const colors = Array.from({ length: STOPS + 1 }, (_, i) => palette.heat(i / STOPS));
    ramp.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
    const unknown = element("span", { class: "tvmdbg-graph-swatch tvmdbg-graph-hatched" });
    return element(
      "span",
      { class: "tvmdbg-graph-scale", title: "fill: mean time of a node, linear" },
      "time 0",
      ramp,
      `${duration(largest)} (slowest)`,
      unknown,
      "unknown",
    );
  }
}
