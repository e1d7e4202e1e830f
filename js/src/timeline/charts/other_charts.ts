import { message } from "../../shared/client/request.ts";
import { div } from "../../shared/ui/dom.ts";
import { notHere } from "../data/bins.ts";
import type { ChartKind } from "../data/state.ts";
import type { TimelineData } from "../descriptions.ts";
import { FoldedChart, noFolding } from "./folded.ts";
import { Heat, noRepeats } from "./heat.ts";
import { Merged } from "./merged.ts";
import { noRoofline, Roofline } from "./roofline.ts";
import type { ChartHost, OtherChart } from "./stage.ts";

export interface ChartEntry {
  readonly label: string;
  readonly title: string;
  /** True if w, s and 0 zoom in it. */
  readonly zooms: boolean;
  /** True if it needs all slices, not only the times of nodes. */
  ofSlices(data: TimelineData): boolean;
  /** Why the run has no such chart and how to get one, or null. */
  unavailable(data: TimelineData): string | null;
  make(host: ChartHost): OtherChart;
}

type OtherKind = Exclude<ChartKind, "time">;

/** The charts beside the tracks in time, in the order of the selector. */
const CHARTS: { readonly [K in OtherKind]?: ChartEntry } = {
  merged: {
    label: "merged",
    title: "slices merged by their path, heaviest first",
    zooms: false,
    ofSlices: () => true,
    unavailable: () => null,
    make: (host) => new Merged(host),
  },
  folded: {
    label: "folded",
    title: "all repeats on one axis: each operator at its median, with p10 to p90",
    zooms: true,
    ofSlices: () => false,
    unavailable: noFolding,
    make: (host) => new FoldedChart(host),
  },
  repeats: {
    label: "repeats",
    title: "every repeat side by side: warm-up and noise",
    zooms: false,
    ofSlices: ({ slices }) => !slices.columns.nodeCount.some((count) => count > 1),
    unavailable: noRepeats,
    make: (host) => new Heat(host),
  },
  roofline: {
    label: "roofline",
    title: "FLOP/s against FLOP/byte",
    zooms: false,
    ofSlices: () => false,
    unavailable: noRoofline,
    make: (host) => new Roofline(host),
  },
};

/** The chart's place: the tracks in time, or another chart, made on first use. */
export class OtherCharts {
  readonly node: HTMLElement;
  readonly #time: HTMLElement;
  readonly #host: ChartHost;
  readonly #made = new Map<OtherKind, OtherChart>();
  readonly #missing = new Map<OtherKind, HTMLElement>();
  #kind: ChartKind = "time";

  constructor(time: HTMLElement, host: ChartHost) {
    this.#time = time;
    this.#host = host;
    this.node = div("tvmdbg-timeline-place", time);
  }

  static get offered(): [kind: ChartKind, label: string, title: string][] {
    const others = Object.entries(CHARTS).map(
      ([kind, { label, title }]): [ChartKind, string, string] => [kind as OtherKind, label, title],
    );
    return [["time", "time", "slices in time"], ...others];
  }

  get kind(): ChartKind {
    return this.#kind;
  }

  /** The other chart on screen; null for the tracks, or without data. */
  get shown(): OtherChart | null {
    return this.#kind === "time" ? null : (this.#made.get(this.#kind) ?? null);
  }

  get zooms(): boolean {
    if (this.#kind === "time") return true;
    return this.shown !== null && CHARTS[this.#kind]!.zooms;
  }

  /** Zooms in another chart, as its keys do; returns false if none is shown. */
  zoom(key: "w" | "s" | "0"): boolean {
    this.shown?.key(new KeyboardEvent("keydown", { key }));
    return this.#kind !== "time";
  }

  show(kind: ChartKind): void {
    this.#kind = kind in CHARTS ? kind : "time";
    this.node.replaceChildren(this.#kind === "time" ? this.#time : this.#other(this.#kind));
    this.shown?.sync();
  }

  retheme(): void {
    for (const chart of this.#made.values()) chart.stage.changed();
  }

  /** Shows charts that waited for the slices. */
  arrived(): void {
    if (this.#kind !== "time" && !this.shown) this.show(this.#kind);
  }

  #other(kind: OtherKind): HTMLElement {
    const entry = CHARTS[kind]!;
    const { slices } = this.#host.data;
    if (!slices.complete && entry.ofSlices(this.#host.data)) {
      return message(
        "empty",
        `The chart “${entry.label}” needs every slice`,
        notHere(slices).join(". "),
      );
    }
    const why = entry.unavailable(this.#host.data);
    if (why !== null) {
      const node = this.#missing.get(kind) ?? message("empty", `No chart “${entry.label}”`, why);
      this.#missing.set(kind, node);
      return node;
    }
    const chart = this.#made.get(kind) ?? entry.make(this.#host);
    this.#made.set(kind, chart);
    return chart.node;
  }
}
