import type { Rectangle } from "../../shared/drawing/canvas.ts";
import { counted, integer } from "../../shared/format.ts";
import { largest, smallest } from "../../shared/many.ts";
import { aboutText, screenText } from "../../shared/number_text.ts";
import { SPECIAL_TEXT, type Special } from "../picture/color_scale.ts";
import type { CountRange, SlotName, Spread, SpreadBar } from "./spread.ts";

/** A share in percent that is never 0 % of some nor 100 % of less than all. */
export function share(count: number, size: number): string {
  if (count === 0 || size === 0) return "";
  const percent = (100 * count) / size;
  if (percent < 0.1) return " (< 0.1 %)";
  if (percent > 99.9 && count < size) return " (> 99.9 %)";
  return ` (${percent.toFixed(1)} %)`;
}

/** A drawn bar; its count is exact if `least` is `most`. */
export interface HistogramBar extends Rectangle, CountRange {
  text: string;
  slot: SlotName | null;
  /** Cut at the top: slots may be, so that they do not flatten the bars. */
  over: boolean;
  /** Range of its values, for a brush; null for slots. */
  span: readonly [from: number, to: number] | null;
}

export interface SpreadScene {
  bars: HistogramBar[];
  plot: Rectangle;
  /** The count at the top of the plot. */
  top: number;
  /** Height of a count, so that bounds can be drawn. */
  tall: (count: number) => number;
  /** Loud if values are at them. */
  limits: { x: number; text: string; loud: boolean }[];
}

const SLOT_TEXT: Record<SlotName, string> = {
  ...SPECIAL_TEXT,
  zero: "zero",
  negative: "< 0",
  positive: "> 0",
};

const LEFT = 6;
const TOP = 18;
const BOTTOM = 26;
const SLOT = 36;
const NARROW_SLOT = 27;
const SLOT_GAP = 8;
const WIDEST_CODE = 14;
const MANY = 3;

export function slotText(name: SlotName, dtype: string): string {
  return name === "zero" && dtype === "bool" ? "False" : SLOT_TEXT[name];
}

export function isSpecial(slot: SlotName): slot is Special {
  return slot in SPECIAL_TEXT;
}

/** Bars of the finite values at the left, slots of the others at the right. */
export function spreadScene(
  spread: Spread,
  size: number,
  width: number,
  height: number,
  logCount: boolean,
): SpreadScene {
  const { axis, slots } = spread;
  const slotWidth = slots.length > MANY ? NARROW_SLOT : SLOT;
  const room = slots.length ? SLOT_GAP + slots.length * slotWidth : 0;
  const plot = {
    x: LEFT,
    y: TOP,
    width: Math.max(20, width - 2 * LEFT - room),
    height: height - TOP - BOTTOM,
  };
  const most = largest([0, ...spread.bars.map(({ likely }) => likely)]);
  const top = most > 0 ? most : largest([1, ...slots.map(({ count }) => count)]);
  const tall = (count: number) =>
    (logCount ? Math.log1p(count) / Math.log1p(top) : count / top) * plot.height;
  const box = (x: number, wide: number, count: number, least: number) => {
    const high = count === 0 ? 0 : Math.min(plot.height, Math.max(least, tall(count)));
    return { x, y: plot.y + plot.height - high, width: wide, height: high };
  };
  const at = (value: number) => plot.x + Math.min(1, Math.max(0, axis.share(value))) * plot.width;
  const ends = extents(spread, at);
  const bars: HistogramBar[] = spread.bars.map((bar, k) => {
    const [from, to] = ends[k]!;
    return {
      ...box(from, to - from, bar.likely, 1),
      ...{ least: bar.least, most: bar.most, likely: bar.likely },
      text: `${rangeText(bar, spread)}: ${countText(bar, size)}`,
      slot: null,
      over: false,
      span:
        spread.whole && bar.from === bar.to ? [bar.from - 0.5, bar.to + 0.5] : [bar.from, bar.to],
    };
  });
  slots.forEach(({ name, count }, slot) => {
    const x = plot.x + plot.width + SLOT_GAP + slot * slotWidth;
    bars.push({
      ...box(x + 4, slotWidth - 8, count, 4),
      least: count,
      most: count,
      likely: count,
      text: `${slotText(name, spread.dtype)}: ${counted(count, "value")}${share(count, size)}`,
      slot: name,
      over: count > top,
      span: null,
    });
  });
  const limits = spread.limits.map(({ value, count }) => ({
    x: at(value),
    text:
      count === null
        ? `limit ${aboutText(value, spread.dtype)}`
        : `${integer(count)} saturated (${aboutText(value, spread.dtype)})`,
    loud: (count ?? 0) > 0,
  }));
  return { bars, plot, top, tall, limits };
}

/** Left and right ends of the bars; single values take the room to their neighbors. */
function extents({ bars, whole }: Spread, at: (value: number) => number): [number, number][] {
  const place = bars.map(({ from, to }) => {
    const half = whole && from === to ? 0.5 : 0;
    return [at(from - half), at(to + half)] as [number, number];
  });
  return place.map(([from, to], k) => {
    const { from: low, to: high } = bars[k]!;
    if (low !== high || whole) return [from, Math.max(to, from + 1)];
    const gaps = [
      k > 0 ? from - place[k - 1]![0] : Infinity,
      (place[k + 1]?.[0] ?? Infinity) - from,
    ];
    const wide = Math.max(1, smallest(gaps, WIDEST_CODE));
    return [from - wide / 2, from + wide / 2];
  });
}

function rangeText({ from, to, closed }: SpreadBar, { whole, apart, only, dtype }: Spread): string {
  if (only !== null) return screenText(only);
  const text = (value: number) => aboutText(value, dtype);
  const [first, last] = [Math.ceil(from), Math.floor(to)];
  const zero = apart && from <= 0 && to >= 0 ? " excluding 0" : "";
  if (from === to || (whole && first === last)) return text(whole ? first : from);
  if (whole && !Number.isInteger(from)) return `${text(first)} to ${text(last)}${zero}`;
  return `[${text(from)}, ${text(to)}${closed ? "]" : ")"}${zero}`;
}

/** A count in words: exact, or likely with its certain bounds. */
function countText({ least, most, likely }: CountRange, size: number): string {
  if (least === most) return `${counted(least, "value")}${share(least, size)}`;
  const about = `≈ ${counted(Math.round(likely), "value")}`;
  return Number.isFinite(most)
    ? `${about} (between ${integer(least)} and ${integer(most)})`
    : about;
}

/** The bar at x, even if it is too low to hit; of narrow ones the nearest. */
export function barAt({ bars }: SpreadScene, x: number): number | null {
  let [closest, nearest] = [-1, 3];
  bars.forEach((bar, k) => {
    const away = x < bar.x ? bar.x - x : x >= bar.x + bar.width ? x - bar.x - bar.width : 0;
    const better =
      away === 0 && nearest === 0 ? bar.likely > bars[closest]!.likely : away < nearest;
    if (better) [closest, nearest] = [k, away];
  });
  return closest < 0 ? null : closest;
}
