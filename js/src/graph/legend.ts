import { element, KEEP_KEYS } from "../shared/dom.ts";
import { duration, percent } from "../shared/format.ts";
import type { GraphColumns } from "../shared/run_client.ts";
import { plural } from "./describe.ts";
import type { Palette } from "./palette.ts";
import type { ColorBy } from "./picture.ts";
import type { Times } from "./times.ts";

const STOPS = 8;

export interface LegendState {
  colorBy: ColorBy;
  highlight: string | null;
  palette: Palette;
}

/** The op kinds with their share of the time, each a button that sets the others back; and the scale of times. */
export class Legend {
  readonly node = element("div", { class: "tvmdbg-graph-legend", role: "group" });
  readonly #kinds: [kind: string, sum: { nodes: number; ns: number }][];
  readonly #times: Times;
  readonly #highlight: (opKind: string | null) => void;

  constructor(graph: GraphColumns, times: Times, highlight: (opKind: string | null) => void) {
    this.#times = times;
    this.#highlight = highlight;
    this.#kinds = [...times.byKind(graph)].sort(([, a], [, b]) => b.ns - a.ns || b.nodes - a.nodes);
    this.node.setAttribute("aria-label", "legend: op kinds");
  }

  show(state: LegendState): void {
    const scale = state.colorBy === "time" ? this.#scale(state.palette) : null;
    const chips = this.#kinds.map(([kind, sum]) => this.#chip(kind, sum, state));
    const focused = this.node.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).dataset.kind
      : undefined;
    this.node.replaceChildren(...(scale ? [scale] : []), ...chips);
    if (focused) chips.find((chip) => chip.dataset.kind === focused)?.focus();
  }

  #chip(
    kind: string,
    { nodes, ns }: { nodes: number; ns: number },
    { palette, highlight }: LegendState,
  ): HTMLElement {
    const swatch = element("span", { class: "tvmdbg-graph-swatch" });
    swatch.style.background = palette.theme.kind(kind);
    const share = ns > 0 ? atLeast(ns / this.#times.total) : "";
    const title = `${kind}: ${plural(nodes, "node")}${share ? `, ${duration(ns)}, ${share} of the time` : ""}`;
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

/** A share that is not zero is not written as zero. */
function atLeast(share: number): string {
  return share < 0.0005 ? "< 0.1 %" : percent(share);
}
