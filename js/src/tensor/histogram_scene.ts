import { integer } from "../shared/format.ts";
import type { StatisticsAnswer } from "../shared/tensor_questions.ts";
import { SPECIAL_TEXT, type Special } from "./colors.ts";
import { share } from "./header.ts";
import type { Box } from "./layout.ts";
import { aboutText } from "./ticks.ts";

/** One bar: a bin of finite values, or the values that no bin can hold. */
export interface Bar extends Box {
  count: number;
  text: string;
  special: Special | null;
}

export interface HistogramScene {
  bars: Bar[];
  plot: Box;
  /** Where values v lie: x = plot.x + (v - low) * perUnit. */
  low: number;
  perUnit: number;
  zero: number | null;
  top: number;
}

const LEFT = 4;
const TOP = 16;
const BOTTOM = 18;
const SLOT = 34;
const SLOT_GAP = 10;

/** Bars of the finite values left, NaN and the infinities in slots of their own at the right. */
export function histogramScene(
  { histogram, statistics }: StatisticsAnswer,
  width: number,
  height: number,
  logCount: boolean,
): HistogramScene | null {
  if (!statistics) return null;
  const others = (["nan", "negInf", "posInf"] as const).filter((each) => statistics[each] > 0);
  const counts = histogram?.counts ?? [];
  const edges = histogram?.edges ?? [];
  const top = Math.max(1, ...counts, ...others.map((each) => statistics[each]));
  const part = (count: number) => (logCount ? Math.log1p(count) / Math.log1p(top) : count / top);
  const slots = others.length ? SLOT_GAP + others.length * SLOT : 0;
  const plot = { x: LEFT, y: TOP, width: width - 2 * LEFT - slots, height: height - TOP - BOTTOM };
  const [low, high] = [edges[0] ?? 0, edges.at(-1) ?? 0];
  const perUnit = high > low ? plot.width / (high - low) : 0;
  const bar = (x: number, wide: number, count: number, text: string, special: Special | null) => {
    const tall = count === 0 ? 0 : Math.max(special ? 4 : 1, part(count) * plot.height);
    const y = plot.y + plot.height - tall;
    return { x, y, width: wide, height: tall, count, text, special };
  };
  const total = statistics.size;
  const counted = (count: number) =>
    `${integer(count)} value${count === 1 ? "" : "s"}${share(count, total)}`;
  const bars: Bar[] = counts.map((count, bin) => {
    const [from, to] = [edges[bin]!, edges[bin + 1]!];
    const close = bin === counts.length - 1 ? "]" : ")";
    const text =
      from === to
        ? `${aboutText(from)}: ${counted(count)}`
        : `[${aboutText(from)}, ${aboutText(to)}${close}: ${counted(count)}`;
    const x = perUnit
      ? plot.x + (from - low) * perUnit
      : plot.x + (bin / counts.length) * plot.width;
    const wide = perUnit ? (to - from) * perUnit : plot.width / counts.length;
    return bar(x, wide, count, text, null);
  });
  others.forEach((each, slot) => {
    const x = plot.x + plot.width + SLOT_GAP + slot * SLOT;
    const count = statistics[each];
    bars.push(bar(x + 5, SLOT - 10, count, `${SPECIAL_TEXT[each]}: ${counted(count)}`, each));
  });
  const zero = perUnit && low <= 0 && high >= 0 ? plot.x - low * perUnit : null;
  return { bars, plot, low, perUnit, zero, top };
}

/** The bar at a place along the axis, also where it is too low to hit. */
export function barAt({ bars }: HistogramScene, x: number): number | null {
  const found = bars.findIndex((bar) => x >= bar.x && x < bar.x + bar.width);
  return found < 0 ? null : found;
}
