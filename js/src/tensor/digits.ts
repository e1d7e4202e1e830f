import { TextMeasure } from "../shared/canvas.ts";
import type { Tile } from "../shared/tensor_questions.ts";
import { inkOn, type Theme } from "../shared/theme.ts";
import { SPECIAL_TEXT, specialOf } from "./colors.ts";
import { digitTexts } from "./digit_text.ts";
import { type Box, cellBox, cellOf, FONT_SIZE, inSight, type Layout } from "./layout.ts";
import { cellColor, clip, hasDigits, type Paint } from "./plane_painter.ts";

/** A text in a cell, as it is painted. */
export interface Digit extends Box {
  row: number;
  col: number;
  text: string;
  ink: string;
  fill: string;
}

const PAD = 4;
/** For the shortest text alone. */
const LEAST_PAD = 1;
/** Letters of the shortest text may be this much narrower than they are. */
const CONDENSED = 0.9;

/** Writes the values into the cells in sight, where there is room; returns what was written. */
export function paintDigits(
  context: CanvasRenderingContext2D,
  layout: Layout,
  tile: Tile,
  { paint, dtype }: { paint: Paint; dtype: string },
  theme: Theme,
): Digit[] {
  if (!hasDigits(layout, tile)) return [];
  const written: Digit[] = [];
  const [row, col, rows, cols] = inSight(layout);
  clip(context, layout.plot);
  context.font = `${FONT_SIZE}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const measure = new TextMeasure(context);
  const room = layout.across - 2 * LEAST_PAD;
  const chosen = (texts: readonly string[]) => {
    const fit = texts.find((each) => measure.width(each) <= layout.across - 2 * PAD);
    const shortest = texts.at(-1)!;
    return fit ?? (CONDENSED * measure.width(shortest) <= room ? shortest : null);
  };
  for (let down = row; down < row + rows; down += 1) {
    for (let across = col; across < col + cols; across += 1) {
      const cell = cellOf(tile, down, across);
      const box = cellBox(layout, down, across);
      if (cell === null || !box) continue;
      const special = specialOf(tile.flags[cell]!);
      const texts = special ? [SPECIAL_TEXT[special]] : digitTexts(tile.mean[cell]!, dtype);
      const text = chosen(texts);
      if (text === null) continue;
      const width = Math.min(room, measure.width(text));
      const left = layout.plot.x + (across - layout.col) * layout.across;
      const top = layout.plot.y + (down - layout.row) * layout.down;
      const [x, y] = [left + layout.across / 2, top + layout.down / 2];
      const fill = cellColor(tile, cell, paint);
      const ink = inkOn(fill);
      if (special) {
        context.fillStyle = fill;
        context.fillRect(x - width / 2 - 2, y - FONT_SIZE / 2 - 2, width + 4, FONT_SIZE + 4);
      }
      context.fillStyle = ink;
      context.fillText(text, x, y + 0.5, room);
      const place = { x: x - width / 2, y: y - FONT_SIZE / 2, width, height: FONT_SIZE };
      written.push({ row: down, col: across, text, ink, fill, ...place });
    }
  }
  context.restore();
  return written;
}
