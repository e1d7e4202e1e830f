import type { ProfileAnswer } from "../../shared/client/tensor_questions.ts";
import { ValueAxis } from "../../shared/drawing/value_axis.ts";
import type { ScaleKind } from "../colors/color_scale.ts";
import { SPECIAL_TEXT, type Special, specialsOf } from "../colors/colors.ts";
import { cellText, meanText } from "../picture/digit_text.ts";
import type { Box } from "../picture/layout.ts";

/** The part of the axis that is in sight, in indices. */
export interface Stretch {
  first: number;
  length: number;
}

/** One column of pixels or one cell: what its indices hold. */
export interface ProfileBar {
  x: number;
  width: number;
  /** First and last index. */
  from: number;
  to: number;
  /** NaN where nothing is finite. */
  least: number;
  largest: number;
  /** The least and the largest mean of its cells: the same where it is one. */
  means: readonly [number, number];
  specials: Special[];
}

export interface ProfileScene {
  plot: Box;
  axis: ValueAxis | null;
  bars: ProfileBar[];
}

const LEFT = 62;
const RIGHT = 10;
const TOP = 20;
const BOTTOM = 34;
const WIDEST = 64;
const NEAR_ZERO = 0.5;

/** Bars of what is in sight: one a cell, or one a pixel where cells are narrower. */
export function profileScene(
  answer: ProfileAnswer,
  { first, length }: Stretch,
  kind: ScaleKind,
  width: number,
  height: number,
): ProfileScene {
  const room = Math.max(1, width - LEFT - RIGHT);
  const plot = {
    x: LEFT,
    y: TOP,
    width: Math.min(room, length * WIDEST),
    height: Math.max(20, height - TOP - BOTTOM),
  };
  const { step } = answer;
  const [begin, end] = [Math.floor(first / step), Math.ceil((first + length) / step)];
  const cells = Math.min(answer.mean.length, end) - begin;
  const bars: ProfileBar[] = [];
  const columns = Math.min(cells, Math.floor(plot.width));
  for (let column = 0; column < columns; column += 1) {
    const from = begin + Math.floor((column * cells) / columns);
    const to = begin + Math.floor(((column + 1) * cells) / columns);
    const start = Math.max(first, from * step);
    const stop = Math.min(first + length, to * step, answer.length);
    const x = plot.x + ((start - first) / length) * plot.width;
    const past = plot.x + ((stop - first) / length) * plot.width;
    bars.push({ x, width: past - x, from: start, to: stop - 1, ...joined(answer, from, to) });
  }
  return { plot, axis: valueAxis(answer, kind), bars };
}

/** Scaled to all of the axis, so that the heights stay as one moves along it. */
function valueAxis({ minimum, maximum }: ProfileAnswer, kind: ScaleKind): ValueAxis | null {
  let [low, high] = [Infinity, -Infinity];
  for (let cell = 0; cell < minimum.length; cell += 1) {
    if (minimum[cell]! < low) low = minimum[cell]!;
    if (maximum[cell]! > high) high = maximum[cell]!;
  }
  if (low > high) return null;
  if (kind === "log")
    return low > 0 || high < 0
      ? new ValueAxis("log", low, high)
      : new ValueAxis("symlog", low, high);
  if (low > 0 && low <= NEAR_ZERO * high) low = 0;
  if (high < 0 && high >= NEAR_ZERO * low) high = 0;
  return new ValueAxis(kind, low, high);
}

function joined({ minimum, maximum, mean, flags }: ProfileAnswer, from: number, to: number) {
  let [least, largest, low, high, bits] = [Infinity, -Infinity, Infinity, -Infinity, 0];
  for (let cell = from; cell < to; cell += 1) {
    bits |= flags[cell]!;
    if (minimum[cell]! < least) least = minimum[cell]!;
    if (maximum[cell]! > largest) largest = maximum[cell]!;
    if (mean[cell]! < low) low = mean[cell]!;
    if (mean[cell]! > high) high = mean[cell]!;
  }
  const none = least > largest;
  return {
    least: none ? Number.NaN : least,
    largest: none ? Number.NaN : largest,
    means: (low > high ? [Number.NaN, Number.NaN] : [low, high]) as [number, number],
    specials: specialsOf(bits),
  };
}

/** The index at a place, or null beside the plot. */
export function indexAtPlace({ plot }: ProfileScene, { first, length }: Stretch, x: number) {
  if (x < plot.x || x >= plot.x + plot.width) return null;
  return Math.min(first + length - 1, first + Math.floor(((x - plot.x) / plot.width) * length));
}

/** A longer or shorter stretch that keeps an index where it is seen. */
export function zoomed(
  { first, length }: Stretch,
  whole: number,
  factor: number,
  about: number,
): Stretch {
  const next = Math.max(Math.min(8, whole), Math.min(whole, Math.round(length / factor)));
  const share = (about + 0.5 - first) / length;
  const start = Math.round(about + 0.5 - share * next);
  return { first: Math.max(0, Math.min(whole - next, start)), length: next };
}

/** The stretch, moved so that an index is inside it. */
export function holding({ first, length }: Stretch, index: number): Stretch {
  if (index < first) return { first: index, length };
  return index >= first + length ? { first: index - length + 1, length } : { first, length };
}

/** What a cell of the profile holds, in words. */
export function cellWords(answer: ProfileAnswer, index: number, dtype: string): string {
  const cell = Math.floor(index / answer.step);
  const from = cell * answer.step;
  const to = Math.min(answer.length, from + answer.step) - 1;
  const { least, largest, means, specials } = joined(answer, cell, cell + 1);
  const place = from === to ? `index ${from}` : `indices ${from} to ${to}`;
  const numbers = Number.isNaN(least)
    ? "no finite value"
    : `min ${cellText(least, dtype)}, mean ${meanText(means[0])}, max ${cellText(largest, dtype)}`;
  const some = specials.map((each) => SPECIAL_TEXT[each]).join(", ");
  return `${place}: ${numbers}${some ? `, some ${some}` : ""}`;
}
