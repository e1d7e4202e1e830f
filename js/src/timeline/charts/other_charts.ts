import { errorText } from "../../shared/client/request.ts";
import type { RepeatsColumns } from "../../shared/client/timeline_columns.ts";
import { div } from "../../shell/dom.ts";
import { message } from "../../shell/message.ts";
import type { ChartKind } from "../data/state.ts";
import type { SliceFact, TimelineData } from "../descriptions.ts";
import { FoldedChart } from "./folded.ts";
import { Heat } from "./heat.ts";
import { Merged } from "./merged.ts";
import { noRoofline, Roofline } from "./roofline.ts";
import type { ChartHost, OtherChart } from "./stage.ts";

export interface ChartEntry {
  readonly label: string;
  readonly title: string;
  /** True if w, s and 0 zoom in it. */
  readonly zooms: boolean;
  /** Why the run has no such chart and how to get one, or null. */
  unavailable?(data: TimelineData): string | null;
  make(host: ChartHost): OtherChart | Promise<OtherChart | string>;
  /** Titles of the messages without data, and of an error. */
  readonly titles?: { none?: string; failed: string; hint?: string };
}

type OtherKind = Exclude<ChartKind, "time">;

/** The charts beside the tracks in time, in the order of the selector. */
const CHARTS: { readonly [K in OtherKind]?: ChartEntry } = {
  merged: {
    label: "merged",
    title: "slices merged by their path, heaviest first",
    zooms: false,
    make: (host) => new Merged(host),
  },
  folded: {
    label: "folded",
    title: "all repeats on one axis: each operator at its median, with p10 to p90",
    zooms: true,
    make: async (host) => {
      const repeats = await repeatsOf(host);
      if (typeof repeats === "string") return repeats;
      return repeats.info.ofSlices ? NOT_FOLDED : new FoldedChart(host, repeats);
    },
    titles: { failed: "Repeats could not be read" },
  },
  repeats: {
    label: "repeats",
    title: "every repeat side by side: warm-up and noise",
    zooms: false,
    make: async (host) => {
      const repeats = await repeatsOf(host);
      return typeof repeats === "string" ? repeats : new Heat(host, repeats);
    },
    titles: { failed: "Repeats could not be read" },
  },
  roofline: {
    label: "roofline",
    title: "FLOP/s against FLOP/byte",
    zooms: false,
    unavailable: noRoofline,
    make: async (host) => {
      const columns = await host.context.run.ask("roofline");
      if (!columns) return "This page was saved without operation counts.";
      return "missing" in columns ? columns.missing : new Roofline(host, columns);
    },
    titles: {
      none: "No roofline",
      failed: "Operations could not be counted",
      hint: "\nRun the cell again.",
    },
  },
};

const NOT_FOLDED = "A trace has slices, not repeats of a whole run: there is nothing to overlay.";

/** The repeats, or why there are none. */
async function repeatsOf({ context: { run } }: ChartHost): Promise<RepeatsColumns | string> {
  const reply = await run.ask("repeats");
  if (!reply) return "This page was saved without repeats.";
  return "missing" in reply ? reply.missing : reply;
}

/** The chart's place: the tracks in time, or another chart, made on first use. */
export class OtherCharts {
  readonly node: HTMLElement;
  readonly #time: HTMLElement;
  readonly #host: ChartHost;
  /** Charts that were made, or messages in their place. */
  readonly #known = new Map<OtherKind, OtherChart | HTMLElement>();
  kind: ChartKind = "time";

  constructor(time: HTMLElement, host: ChartHost) {
    this.#time = time;
    this.#host = host;
    this.node = div("tvmdbg-timeline-place tvmdbg-fixed", time);
  }

  static get offered(): [kind: ChartKind, label: string, title: string][] {
    const others = Object.entries(CHARTS).map(
      ([kind, { label, title }]): [ChartKind, string, string] => [kind as OtherKind, label, title],
    );
    return [["time", "time", "slices in time"], ...others];
  }

  /** The other chart on screen; null for the tracks, or without data. */
  get shown(): OtherChart | null {
    const known = this.kind === "time" ? undefined : this.#known.get(this.kind);
    return !known || known instanceof HTMLElement ? null : known;
  }

  /** What the charts on screen so far know of a node. */
  facts(node: number): SliceFact[] {
    return [...this.#known.values()].flatMap((chart) =>
      chart instanceof HTMLElement ? [] : (chart.factsOf?.(node) ?? []),
    );
  }

  get zooms(): boolean {
    if (this.kind === "time") return true;
    return this.shown !== null && CHARTS[this.kind]!.zooms;
  }

  /** Zooms in another chart, as its keys do; returns false if none is shown. */
  zoom(key: "w" | "s" | "0"): boolean {
    this.shown?.key(new KeyboardEvent("keydown", { key }));
    return this.kind !== "time";
  }

  show(kind: ChartKind): void {
    this.kind = kind in CHARTS ? kind : "time";
    this.node.replaceChildren(this.kind === "time" ? this.#time : this.#other(this.kind));
    this.shown?.sync();
  }

  retheme(): void {
    for (const chart of this.#known.values()) if ("stage" in chart) chart.stage.changed();
  }

  #other(kind: OtherKind): HTMLElement {
    const entry = CHARTS[kind]!;
    const known = this.#known.get(kind);
    if (known) return known instanceof HTMLElement ? known : known.node;
    const none = (why: string, title = `No chart “${entry.label}”`) => message("empty", title, why);
    const take = (chart: OtherChart | HTMLElement) => {
      this.#known.set(kind, chart);
      return chart instanceof HTMLElement ? chart : chart.node;
    };
    const why = entry.unavailable?.(this.#host.data) ?? null;
    if (why !== null) return take(none(why));
    const made = entry.make(this.#host);
    if (!(made instanceof Promise)) return take(made);
    made
      .then((chart) => take(typeof chart === "string" ? none(chart, entry.titles?.none) : chart))
      .catch((error) => {
        const { failed = "", hint = "" } = entry.titles ?? {};
        take(message("error", failed, errorText(error) + hint));
      })
      .then(() => {
        if (this.kind === kind && !this.#host.context.signal.aborted) this.show(kind);
      });
    return take(message("busy", `Reading the chart “${entry.label}” …`));
  }
}
