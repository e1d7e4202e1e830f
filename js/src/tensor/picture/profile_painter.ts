import type { Tile } from "../../shared/client/tensor_questions.ts";
import type { Pen } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { ColorScale, SPECIAL, specialOf } from "./color_scale.ts";
import { axisTicks, DIGIT, type PlaneLayout, type PlotLabels, STRIP } from "./plane_layout.ts";
import {
  clip,
  type DrawCells,
  MARK_FROM,
  outline,
  type Painting,
  SpecialBoxes,
} from "./plane_painter.ts";

const PAD = 5;
const NEAR_ZERO = 0.5;

/** Height of a value in the plot of a profile. */
function profileY({ plot }: PlaneLayout, axis: ColorScale, value: number): number {
  return plot.y + PAD + (plot.height - 2 * PAD) * (1 - axis.share(value));
}

/** The colors' range, extended to zero if that is near: then the stems can be compared. */
export function profileAxis(scale: ColorScale): ColorScale {
  const { low, high, map, kind } = scale;
  if (low > 0 && low <= NEAR_ZERO * high)
    return new ColorScale(0, high, map, kind, undefined, scale.threshold);
  if (high < 0 && high >= NEAR_ZERO * low)
    return new ColorScale(low, 0, map, kind, undefined, scale.threshold);
  return scale;
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
