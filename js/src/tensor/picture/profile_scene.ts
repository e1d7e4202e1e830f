import type { ProfileAnswer, Tile } from "../../shared/client/tensor_questions.ts";
import type { Pen, Rectangle } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { niceTicks, ValueAxis } from "../../shared/drawing/value_axis.ts";
import {
  boundsOf,
  ColorScale,
  type ScaleKind,
  SPECIAL,
  SPECIAL_TEXT,
  type Special,
  specialOf,
  specialsOf,
} from "./color_scale.ts";
import { cellText, meanText } from "./digits.ts";
import {
  axisTicks,
  DIGIT,
  type PlacedLabel,
  type PlaneLayout,
  PlotLabels,
  STRIP,
} from "./plane_layout.ts";
import {
  clip,
  type DrawCells,
  MARK_FROM,
  outline,
  type Painting,
  SpecialBoxes,
} from "./plane_painter.ts";

export interface AxisRange {
  first: number;
  length: number;
}

/** One column of pixels or one cell with its indices and values. */
interface ProfileBar {
  x: number;
  width: number;
  /** First and last index. */
  from: number;
  to: number;
  /** NaN without finite values. */
  least: number;
  largest: number;
  /** Smallest and largest mean of its cells; equal for a single cell. */
  means: readonly [number, number];
  specials: Special[];
}

export interface ProfileScene {
  plot: Rectangle;
  axis: ValueAxis | null;
  bars: ProfileBar[];
}

const LEFT = 62;
const RIGHT = 10;
const TOP = 20;
const BOTTOM = 34;
const WIDEST = 64;
const NEAR_ZERO = 0.5;

/** Bars of the visible part: one per cell, or per pixel if cells are narrower. */
export function profileScene(
  answer: ProfileAnswer,
  { first, length }: AxisRange,
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

/** Scaled to the complete axis, so that heights stay the same while panning. */
function valueAxis({ minimum, maximum }: ProfileAnswer, kind: ScaleKind): ValueAxis | null {
  const [low, high] = boundsOf(minimum, maximum);
  if (low > high) return null;
  if (kind === "log") return new ValueAxis(low > 0 || high < 0 ? "log" : "symlog", low, high);
  return new ValueAxis(kind, ...toZero(low, high));
}

/** A range extended to zero if that is near. */
function toZero(low: number, high: number): [low: number, high: number] {
  if (low > 0 && low <= NEAR_ZERO * high) return [0, high];
  return high < 0 && high >= NEAR_ZERO * low ? [low, 0] : [low, high];
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

/** The index at a point, or null beside the plot. */
export function indexAtPlace({ plot }: ProfileScene, { first, length }: AxisRange, x: number) {
  if (x < plot.x || x >= plot.x + plot.width) return null;
  return Math.min(first + length - 1, first + Math.floor(((x - plot.x) / plot.width) * length));
}

/** A longer or shorter range that keeps an index at its position. */
export function zoomed(
  { first, length }: AxisRange,
  whole: number,
  factor: number,
  about: number,
): AxisRange {
  const next = Math.max(Math.min(8, whole), Math.min(whole, Math.round(length / factor)));
  const share = (about + 0.5 - first) / length;
  const start = Math.round(about + 0.5 - share * next);
  return { first: Math.max(0, Math.min(whole - next, start)), length: next };
}

/** The range, moved so that it contains an index. */
export function holding({ first, length }: AxisRange, index: number): AxisRange {
  if (index < first) return { first: index, length };
  return index >= first + length ? { first: index - length + 1, length } : { first, length };
}

export function cellWords(answer: ProfileAnswer, index: number, dtype: string): string {
  const cell = Math.floor(index / answer.step);
  const from = cell * answer.step;
  const to = Math.min(answer.length, from + answer.step) - 1;
  const { least, largest, means, specials } = joined(answer, cell, cell + 1);
  const place = from === to ? `index ${from}` : `indices ${from} to ${to}`;
  const numbers = Number.isNaN(least)
    ? "no finite value"
    : `min ${cellText(least, dtype)}, mean ${meanText(means[0])}, max ${cellText(largest, dtype)}`;
  const some = specials.map((special) => SPECIAL_TEXT[special]).join(", ");
  return `${place}: ${numbers}${some ? `, some ${some}` : ""}`;
}

const FLAG = 9;
const APART = 36;
const LABEL = 60;
const PAD = 4;

/** The band from minimum to maximum with the means inside; NaN and infinities above it. */
export function paintAlong(
  context: Pen,
  width: number,
  height: number,
  scene: ProfileScene | null,
  stretch: AxisRange,
  name: string,
  dtype: string,
  theme: Theme,
): PlacedLabel[] {
  if (!scene) return [];
  const { plot, axis, bars } = scene;
  const bottom = plot.y + plot.height;
  const y = (value: number) => bottom - PAD - (axis?.share(value) ?? 0.5) * (plot.height - 2 * PAD);
  const labels = new PlotLabels(context, theme, width, height);
  for (const { value, text } of axis?.ticks(plot.height / APART) ?? []) {
    const at = Math.round(y(value)) + 0.5;
    context.fillStyle = value === 0 ? theme.muted : theme.line;
    context.globalAlpha = value === 0 ? 1 : 0.6;
    context.fillRect(plot.x, at - 0.5, plot.width, 1);
    context.globalAlpha = 1;
    labels.write(text, plot.x - 6, at, { align: "right" });
  }
  if (axis?.single) {
    labels.write(cellText(axis.low, dtype), plot.x - 6, y(axis.low), { align: "right" });
  }
  const gap = (bars[0]?.width ?? 0) >= 5 ? 1 : 0;
  const wide = (bar: ProfileBar) => Math.max(1, bar.width - gap);
  const signs = new SpecialBoxes();
  for (const bar of bars) {
    const [special] = bar.specials;
    if (!special) continue;
    context.globalAlpha = 0.3;
    context.fillStyle = SPECIAL[special];
    context.fillRect(bar.x, plot.y, wide(bar), plot.height);
    context.globalAlpha = 1;
    const width = Math.max(3, wide(bar));
    signs.add(special, { x: bar.x, y: plot.y - FLAG - 2, width, height: FLAG });
  }
  signs.paint(context);
  const known = axis ? bars.filter(({ least }) => !Number.isNaN(least)) : [];
  context.fillStyle = theme.accent;
  context.globalAlpha = 0.35;
  for (const bar of known) {
    const [top, low] = [y(bar.largest), y(bar.least)];
    context.fillRect(bar.x, top, wide(bar), Math.max(1, low - top));
  }
  context.globalAlpha = 1;
  for (const bar of known) {
    for (const edge of [bar.largest, bar.least]) {
      context.fillRect(bar.x, y(edge) - 0.5, wide(bar), 1);
    }
  }
  context.fillStyle = theme.text;
  for (const bar of known) {
    const [mean, other] = [y(bar.means[1]), y(bar.means[0])];
    context.fillRect(bar.x, mean - 1, wide(bar), Math.max(2, other - mean));
  }
  context.strokeStyle = theme.line;
  context.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1);
  const step = plot.width / stretch.length;
  const ticks = niceTicks(stretch.first, stretch.first + stretch.length - 1, plot.width / LABEL);
  const places =
    stretch.length > 1 ? ticks : [{ value: stretch.first, text: String(stretch.first) }];
  for (const { value } of places) {
    if (!Number.isInteger(value)) continue;
    const x = plot.x + (value - stretch.first + 0.5) * step;
    labels.write(String(value), x, bottom + 10, { align: "center" });
  }
  labels.write(`${name} →`, plot.x, bottom + 25);
  labels.write("band: min … max, line: mean", plot.x + plot.width, bottom + 25, { align: "right" });
  return labels.written;
}

/** Marks the current index, and the one below the pointer. */
export function paintPlace(
  context: Pen,
  scene: ProfileScene | null,
  { first, length }: AxisRange,
  index: number | null,
  hover: number | null,
  theme: Theme,
): void {
  if (!scene) return;
  const { plot } = scene;
  const wide = plot.width / length;
  const line = (at: number, alpha: number) => {
    if (at < first || at >= first + length) return;
    context.globalAlpha = alpha;
    context.strokeStyle = theme.text;
    const x = plot.x + (at - first) * wide;
    context.strokeRect(Math.round(x) - 0.5, plot.y - 3.5, Math.max(2, wide) + 1, plot.height + 7);
    context.globalAlpha = 1;
  };
  if (hover !== null && hover !== index) line(hover, 0.45);
  if (index !== null) line(index, 1);
}

/** Space above and below a line of values. */
const LINE_PAD = 5;

/** Height of a value in the plot of a profile. */
function profileY({ plot }: PlaneLayout, axis: ColorScale, value: number): number {
  return plot.y + LINE_PAD + (plot.height - 2 * LINE_PAD) * (1 - axis.share(value));
}

/** The colors' range, extended to zero if that is near: then the stems can be compared. */
export function profileAxis(scale: ColorScale): ColorScale {
  const { map, kind, threshold } = scale;
  const [low, high] = toZero(scale.low, scale.high);
  const isSame = low === scale.low && high === scale.high;
  return isSame ? scale : new ColorScale(low, high, map, kind, undefined, threshold);
}

/** Visible cells of a tile with their left edges and width in CSS pixels. */
function* columns({ plot, col: first, across }: PlaneLayout, tile: Tile) {
  const width = tile.colStep * across;
  for (let cell = 0; cell < tile.cols; cell += 1) {
    const x = plot.x + (tile.col + cell * tile.colStep - first) * across;
    if (x + width > plot.x && x < plot.x + plot.width) yield { cell, x, width };
  }
}

/** Bar of a column; wide columns get gaps. */
function narrowed({ cell, x, width }: { cell: number; x: number; width: number }) {
  const gap = width >= MARK_FROM ? Math.max(1, Math.round(0.15 * width)) : 0;
  return { cell, x, width: Math.max(width - gap, 1) };
}

/** A line of values: from minimum to maximum of a cell, with stems to zero and the colors below. */
export function paintProfile(
  context: Pen,
  layout: PlaneLayout,
  tiles: readonly Tile[],
  { scale, draw }: Painting,
  theme: Theme,
): void {
  const { plot } = layout;
  const axis = scale && profileAxis(scale);
  const zero = axis && axis.low <= 0 && axis.high >= 0 ? profileY(layout, axis, 0) : null;
  if (axis) {
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    for (const { value } of axis.ticks(plot.height / 36)) {
      const y = Math.round(profileY(layout, axis, value)) + 0.5;
      context.moveTo(plot.x, y);
      context.lineTo(plot.x + plot.width, y);
    }
    context.globalAlpha = 0.5;
    context.stroke();
    context.globalAlpha = 1;
  }
  clip(context, { ...plot, height: plot.height + STRIP + 4 });
  const tile = tiles.at(-1);
  const cells = tile ? Array.from(columns(layout, tile), narrowed) : [];
  for (const { cell, x, width } of cells) {
    const special = specialOf(tile!.flags[cell]!);
    if (!special) continue;
    context.globalAlpha = 0.35;
    context.fillStyle = SPECIAL[special];
    context.fillRect(x, plot.y, width, plot.height);
    context.globalAlpha = 1;
  }
  const known = axis ? cells.filter(({ cell }) => Number.isFinite(tile!.mean[cell]!)) : [];
  const y = (value: number) => profileY(layout, axis!, value);
  context.fillStyle = theme.accent;
  if (zero !== null) {
    context.globalAlpha = 0.3;
    for (const { cell, x, width } of known) {
      const middle = y(tile!.mean[cell]!);
      context.fillRect(x, Math.min(zero, middle), width, Math.abs(middle - zero));
    }
    context.globalAlpha = 1;
  }
  for (const { cell, x, width } of known) {
    const [top, bottom] = [y(tile!.maximum[cell]!), y(tile!.minimum[cell]!)];
    context.fillRect(x, Math.min(top, bottom - 1) - 0.5, width, Math.max(2, bottom - top));
  }
  if (zero !== null) {
    context.fillStyle = theme.muted;
    context.fillRect(plot.x, Math.round(zero), plot.width, 1);
  }
  if (tile) paintStrip(context, layout, tile, draw);
  outline(context, plot, theme);
}

function paintStrip(context: Pen, layout: PlaneLayout, tile: Tile, draw: DrawCells): void {
  const { plot, col, across } = layout;
  const y = plot.y + plot.height + 3;
  const width = tile.cols * tile.colStep * across;
  const x = plot.x + (tile.col - col) * across;
  draw(tile, tile.colStep * across, { x, y, width, height: STRIP });
  const signs = new SpecialBoxes();
  for (const { cell, x, width } of columns(layout, tile)) {
    const special = specialOf(tile.flags[cell]!);
    if (special && width >= MARK_FROM) signs.add(special, { x, y, width, height: STRIP });
  }
  signs.paint(context);
}

/** Values at the left, indices below. */
export function labelProfile(
  labels: PlotLabels,
  layout: PlaneLayout,
  scale: ColorScale | null,
  name: string,
): void {
  const { plot, across, planeCols } = layout;
  const axis = scale && profileAxis(scale);
  for (const { value, text } of axis?.ticks(plot.height / 36) ?? []) {
    labels.write(text, plot.x - 6, profileY(layout, axis!, value), { align: "right" });
  }
  const below = plot.y + plot.height + STRIP + 13;
  const spacing = String(planeCols).length * DIGIT + 14;
  for (const { index, at } of axisTicks(layout.col, plot.width, across, planeCols, spacing)) {
    labels.write(String(index), plot.x + at, below, { align: "center" });
  }
  labels.write(name, plot.x, below + 15);
}
