import type { TimelineColumns, TimelineWords } from "../../src/shared/client/timeline_columns.ts";
import { stringColumn } from "../shared/string_column.ts";
import { inRows } from "./rows.ts";

/** Whole numbers below `below`, the same for the same seed. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export interface SliceSpec {
  node?: number;
  name?: string;
  start: number;
  duration: number;
  track?: number;
}

/** Of a debugger's run with its graph. */
const WORDS: TimelineWords = {
  measured: "mean",
  said: "synthetic",
  more: "",
  item: "node",
  row: "operator",
  rows: "operators",
  time: "mean time",
  together: "summed over nodes",
  shares: "of the sum of all node times",
  whole: "",
  order: "execution order",
  noRepeats: "",
  byName: false,
  repeats: true,
  partsOverlap: "shares overlap",
  durations: "",
  durationsWithin: "of whole durations",
};

/** A timeline as the columns that a kernel would send; a node takes the mean of its slices. */
export function timeline(
  slices: readonly SliceSpec[],
  more: {
    nodes?: number;
    tracks?: string[];
    repeats?: number[][];
    nodeNs?: number[];
    self?: number[];
    words?: Partial<TimelineWords>;
    synthetic?: boolean;
    trackRun?: number[];
  } = {},
): TimelineColumns {
  const nodes = more.nodes ?? Math.max(-1, ...slices.map(({ node }) => node ?? -1)) + 1;
  const means = Array.from({ length: nodes }, (_, node) => {
    const own = slices.filter((slice) => slice.node === node);
    return own.reduce((sum, slice) => sum + slice.duration, 0) / own.length;
  });
  const repeats = Array.from({ length: nodes }, (_, node) => more.repeats?.[node] ?? []);
  const sorted = repeats.map((each) => each.toSorted((a, b) => a - b));
  const quantile = (share: number) =>
    Float64Array.from(sorted, (each) => each[Math.round(share * (each.length - 1))] ?? Number.NaN);
  const [p10, p90] = [quantile(0.1), quantile(0.9)];
  const columns = {
    sliceNode: Int32Array.from(slices, ({ node }) => node ?? -1),
    sliceStart: Float64Array.from(slices, ({ start }) => start),
    sliceDuration: Float64Array.from(slices, ({ duration }) => duration),
    sliceTrack: Int32Array.from(slices, ({ track }) => track ?? 0),
    sliceTrust: new Uint8Array(slices.length),
    sliceNames: stringColumn(slices.map(({ name, node }) => name ?? `slice_${node}`)),
    tracks: stringColumn(more.tracks ?? ["cpu"]),
    ...(more.trackRun && { trackRun: Int32Array.from(more.trackRun) }),
    repeatsOffsets: Int32Array.from(
      [0, ...repeats].map((_, i) => repeats.slice(0, i).flat().length),
    ),
    repeats: Float64Array.from(repeats.flat()),
    nodeNs: Float64Array.from(more.nodeNs ?? means),
    nodeTrust: new Uint8Array(nodes),
    nodeCount: Int32Array.from(repeats, (each) => each.length),
    nodeP10: p10,
    nodeP50: quantile(0.5),
    nodeP90: p90,
    nodeSd: new Float64Array(nodes),
    nodeLow: new Float64Array(nodes).fill(Number.NaN),
    nodeHigh: new Float64Array(nodes).fill(Number.NaN),
    nodeNoisy: Uint8Array.from(repeats, (each, i) =>
      each.length >= 5 && p90[i]! > 1.2 * p10[i]! ? 1 : 0,
    ),
    sliceSelf: Float64Array.from(more.self ?? []),
    info: {
      synthetic: more.synthetic ?? false,
      clock: "synthetic",
      roundingNs: 0,
      totalNs: 0,
      rowsLeft: 0,
      sources: [],
      notes: [],
      warmUp: { cut: 0, why: "", totals: [] },
      nested: [more.self !== undefined],
      overlapping: [],
      words: { ...WORDS, ...more.words },
    },
  };
  return inRows(columns as never);
}

/** Slices on one track: random starts, lengths and gaps, some of no duration, some over each other. */
export function randomSlices(seed: number, count: number, overlap = false): SliceSpec[] {
  const next = random(seed);
  let time = next(50);
  return Array.from({ length: count }, (_, i) => {
    const duration = next(5) === 0 ? 0 : 2 + next([3, 20, 400][next(3)]!);
    const slice = { node: i % 7, start: time, duration };
    time += overlap && next(3) === 0 ? next(duration + 1) : duration + (next(2) ? next(60) : 0);
    return slice;
  });
}
