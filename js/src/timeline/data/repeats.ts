import type { TimelineColumns } from "../../shared/client/timeline_columns.ts";
import { svg } from "../../shared/drawing/icons.ts";

/** The repeats of one node and their statistics, nanoseconds. */
export interface Repeats {
  ns: Float64Array;
  count: number;
  p10: number;
  p50: number;
  p90: number;
  sd: number;
  mean: number;
  /** 95 % confidence interval of the mean; NaN if unknown. */
  low: number;
  high: number;
  noisy: boolean;
  warm: number;
}

/** Null if no repeats are known, or a time is not their mean. */
export function repeatsOf(columns: TimelineColumns, node: number): Repeats | null {
  const count = columns.nodeCount[node] ?? 0;
  if (!count || !columns.info.words.repeats) return null;
  return {
    ns: columns.repeats.subarray(columns.repeatsOffsets[node]!, columns.repeatsOffsets[node + 1]!),
    count,
    p10: columns.nodeP10[node]!,
    p50: columns.nodeP50[node]!,
    p90: columns.nodeP90[node]!,
    sd: columns.nodeSd[node]!,
    mean: columns.nodeNs[node]!,
    low: columns.nodeLow[node]!,
    high: columns.nodeHigh[node]!,
    warm: columns.info.warmUp.cut,
    noisy: columns.nodeNoisy[node] === 1,
  };
}

/** Largest number of repeats drawn one by one; more are counted in bars. */
const MOST_DOTS = 300;
const BARS = 75;
/** Largest number of repeats side by side in a small strip; more are shown as band and median. */
const MOST_SMALL = 5;

/** Relative distance of p10 and p90 from the median that four nodes in five stay within. */
export function commonSpread(p10: Float64Array, p50: Float64Array, p90: Float64Array): number {
  const spreads: number[] = [];
  p50.forEach((median, node) => {
    if (median > 0) spreads.push(Math.max(1 - p10[node]! / median, p90[node]! / median - 1));
  });
  spreads.sort((a, b) => a - b);
  const most = spreads[Math.ceil(spreads.length * 0.8) - 1] ?? 0;
  return Math.min(1, Math.max(0.02, most) * 1.25);
}

/** One-line strip from -spread to +spread of the median: few repeats in file order (hollow beyond), many as the band p10 … p90. */
export function smallStrip(repeats: Repeats, spread: number, title: string): Element {
  const [width, height] = [44, 20];
  const x = (value: number) => {
    const apart = repeats.p50 > 0 ? (value / repeats.p50 - 1) / spread : 0;
    return width / 2 + apart * (width / 2 - 4);
  };
  return spreadStrip(
    repeats,
    x,
    { width, height, radius: 1.5 },
    title,
    repeats.count <= MOST_SMALL,
  );
}

/** All repeats from least to most: dots in file order, or bars if many; warm-up hollow; the mean and its interval below. */
export function largeStrip(repeats: Repeats, sorted: Float64Array, title: string): Element {
  const [width, height, foot] = [300, 46, 10];
  const low = sorted[0]!;
  const apart = sorted.at(-1)! - low;
  const x = (value: number) => (apart > 0 ? 6 + ((value - low) / apart) * (width - 12) : width / 2);
  const few = repeats.ns.length <= MOST_DOTS;
  const result = spreadStrip(repeats, x, { width, height, radius: 2.5 }, title, few);
  if (!few) result.append(...bars(repeats, low, apart, { width, height }));
  result.append(...meanMark(repeats, x, height + foot / 2));
  result.setAttribute("height", String(height + foot));
  result.setAttribute("viewBox", `0 0 ${width} ${height + foot}`);
  return result;
}

/** Number of repeats in equal intervals. */
export function counts(ns: Float64Array, low: number, apart: number, bins: number): Int32Array {
  const counts = new Int32Array(bins);
  for (const value of ns) {
    if (Number.isFinite(value)) {
      counts[Math.min(bins - 1, Math.max(0, Math.floor(((value - low) / (apart || 1)) * bins)))]!++;
    }
  }
  return counts;
}

function bars(
  { ns, warm }: Repeats,
  low: number,
  apart: number,
  { width, height }: { width: number; height: number },
): Element[] {
  const all = counts(ns, low, apart, BARS);
  const steady = counts(ns.subarray(warm), low, apart, BARS);
  const most = all.reduce((a, b) => Math.max(a, b), 1);
  const wide = (width - 12) / BARS;
  const bar = (className: string, bin: number, count: number) => {
    const tall = Math.max(1, (count / most) * (height - 4));
    const at = { x: 6 + bin * wide + 0.25, y: height - tall, width: wide - 0.5, height: tall };
    return svg("rect", { class: className, ...at });
  };
  const marks: Element[] = [];
  all.forEach((count, bin) => {
    if (steady[bin]) marks.push(bar("bar", bin, steady[bin]!));
    if (count > steady[bin]!) marks.push(bar("beyond", bin, count));
  });
  return marks;
}

function meanMark(
  { mean, low, high }: Repeats,
  x: (value: number) => number,
  y: number,
): Element[] {
  if (!Number.isFinite(mean)) return [];
  const dot = svg("circle", { class: "mean", cx: x(mean), cy: y, r: 2.5 });
  if (!(low <= high)) return [dot];
  const line = { class: "mean", y: y - 0.75, height: 1.5 };
  const [from, to] = [Math.max(0, x(low)), Math.min(300, x(high))];
  return [svg("rect", { ...line, x: from, width: Math.max(1, to - from) }), dot];
}

/** The band p10 … p90 with the median, and repeats as dots from top to bottom; nothing without repeats. */
export function spreadStrip(
  { ns, p10, p50, p90, warm }: Pick<Repeats, "ns" | "p10" | "p50" | "p90" | "warm">,
  x: (value: number) => number,
  { width, height, radius }: { width: number; height: number; radius: number },
  title: string,
  dotted = true,
): Element {
  const inside = (at: number) => Math.min(Math.max(radius + 1, at), width - radius - 1);
  const marks: SVGElement[] = [];
  if (ns.length) {
    const from = inside(x(p10));
    const wide = Math.max(1, inside(x(p90)) - from);
    const band = { class: "band", x: from, y: 0.5, width: wide, height: height - 1 };
    const median = { class: "median", x: x(p50) - 0.5, y: 0, width: 1, height };
    marks.push(svg("rect", band), svg("rect", median));
  }
  for (let i = 0; dotted && i < ns.length; i++) {
    if (!Number.isFinite(ns[i]!)) continue;
    const cy = radius + 1 + ((i + 0.5) / ns.length) * (height - 2 * radius - 2);
    const cx = inside(x(ns[i]!));
    const beyond = cx === x(ns[i]!) && i >= warm ? "" : " beyond";
    marks.push(svg("circle", { class: `dot${beyond}`, cx, cy, r: radius }));
  }
  return svg(
    "svg",
    {
      class: "tvmdbg-timeline-strip",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": title,
    },
    svg("title", {}, title),
    ...marks,
  );
}
