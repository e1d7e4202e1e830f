import type { Data } from "../data.ts";
import type { ChartKind } from "../state.ts";
import type { ChartHost, OtherChart } from "./chart.ts";
import { Folded } from "./folded.ts";
import { noFolding } from "./folded_words.ts";
import { Heat } from "./heat.ts";
import { noRepeats } from "./heat_words.ts";
import { Merged } from "./merged.ts";
import { noRoofline, Roofline } from "./roofline.ts";

export interface ChartEntry {
  readonly label: string;
  /** What it shows, in a few words. */
  readonly title: string;
  /** Whether w, s and 0 zoom in it. */
  readonly zooms: boolean;
  /** Whether every slice is looked at, not only the times of nodes. */
  ofSlices(data: Data): boolean;
  /** Why there is no such chart of this run and how to get one; null where there is. */
  unavailable(data: Data): string | null;
  /** Called when the chart is shown first. */
  make(host: ChartHost): OtherChart;
}

export type OtherKind = Exclude<ChartKind, "time">;

/** The charts beside the tracks in time, in the order of the selector. */
export const CHARTS: { readonly [K in OtherKind]?: ChartEntry } = {
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
    make: (host) => new Folded(host),
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
