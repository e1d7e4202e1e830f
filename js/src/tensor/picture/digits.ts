import type { Tile } from "../../shared/client/tensor_questions.ts";
import { type Rectangle, TextMeasure } from "../../shared/drawing/canvas.ts";
import { inkOn, type Theme } from "../../shared/drawing/theme.ts";
import { largest } from "../../shared/many.ts";
import { aboutText, computedText, screenText, valueText } from "../../shared/number_text.ts";
import { SPECIAL_TEXT, type Special, specialOf } from "./color_scale.ts";
import { cellOf, FONT_SIZE, inSight, inside, type PlaneLayout, touches } from "./plane_layout.ts";
import { cellColor, hasDigits, type Paint } from "./plane_painter.ts";

/** Largest integer up to which the float32 of a picture's cells is exact. */
const MOST_INTEGER = 2 ** 24;
const MOST_ROUNDED = 6;

/** True if cells, which are float32 or float64, hold a value exactly. */
function isHeld(value: number, dtype: string): boolean {
  return !/^u?int/.test(dtype) || Math.abs(value) < MOST_INTEGER;
}

/** Text of a cell's value of the dtype: exact if short, else with four digits. */
export function cellText(value: number, dtype: string): string {
  const text = aboutText(value, dtype);
  return isHeld(value, dtype) || text.startsWith("≈") ? text : `≈ ${text}`;
}

/** Text of a cell's mean, with six digits; it is unknown if the sum of finite values has overflowed. */
export function meanText(value: number): string {
  return Number.isNaN(value) ? "unknown" : screenText(computedText(value));
}

/** Texts of a value: exact, then with 6 to 1 digits, marked where rounded (all, if the picture has rounded). */
export function digitLevels(value: number, dtype: string): string[] {
  const full = value === 0 && dtype !== "bool" ? "0" : valueText(value, dtype);
  const exact = screenText(full);
  if (/^[FT]/.test(full)) return [exact];
  const digits = full.replace(/e.*|\D/g, "").replace(/^0+|0+$/g, "").length;
  const isKnown = isHeld(value, dtype);
  const levels = Array.from({ length: MOST_ROUNDED }, (_, k) => {
    const count = MOST_ROUNDED - k;
    return isKnown && digits <= count ? shorter(exact, value, digits) : `≈${rounded(value, count)}`;
  });
  return [isKnown ? exact : levels[0]!, ...levels];
}

/** Exact exponent form of an integer with many trailing zeros. */
function shorter(exact: string, value: number, digits: number): string {
  const bent = rounded(value, Math.max(1, digits));
  return bent.length < exact.length ? bent : exact;
}

/** A value with this many digits, in the shorter notation. */
function rounded(value: number, count: number): string {
  const near = Number(value.toPrecision(count));
  const plain = String(near);
  const bent = near.toExponential().replace("e+", "e");
  return screenText(plain.includes("e") || bent.length < plain.length ? bent : plain);
}

export interface Digit extends Rectangle {
  row: number;
  col: number;
  text: string;
  ink: string;
  fill: string;
}

interface DigitCell {
  row: number;
  col: number;
  special: Special | null;
  fill: string;
  /** From the most to the fewest digits. */
  levels: readonly string[];
}

interface DigitPlate {
  paint: Paint;
  dtype: string;
  /** Part of the stage to keep free, or null. */
  covered: Rectangle | null;
}

/** Space beside a text, more of it if there is room. */
const PADS = [2, 1];
/** Least horizontal scale of the letters of the shortest texts. */
const CONDENSED = 0.9;
const LINE = 12;

/** Writes values into the visible cells, unabridged, with as many digits as fit in all; returns the texts. */
export function paintDigits(
  context: CanvasRenderingContext2D,
  layout: PlaneLayout,
  tile: Tile,
  plate: DigitPlate,
  theme: Theme,
): Digit[] {
  if (!hasDigits(layout, tile)) return [];
  context.save();
  context.font = `${FONT_SIZE}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const measure = new TextMeasure(context);
  const cells = cellsOf(layout, tile, plate);
  const lines = chosenLines(cells, layout, (text) => measure.width(text));
  const written: Digit[] = [];
  const room = layout.across - 2 * PADS.at(-1)!;
  for (const [at, { row, col, special, fill }] of cells.entries()) {
    const own = lines[at]!;
    const width = Math.min(room, largest(own.map((text) => measure.width(text))));
    const height = FONT_SIZE + (own.length - 1) * LINE;
    const x = layout.plot.x + (col + 0.5 - layout.col) * layout.across;
    const y = layout.plot.y + (row + 0.5 - layout.row) * layout.down;
    const box = { x: x - width / 2, y: y - height / 2, width, height };
    if (!own.length || !inside(box, layout.plot) || (plate.covered && touches(box, plate.covered)))
      continue;
    if (special) {
      context.fillStyle = fill;
      context.fillRect(box.x - 2, box.y - 2, width + 4, height + 4);
    }
    const ink = inkOn(fill);
    context.fillStyle = ink;
    own.forEach((text, k) => {
      context.fillText(text, x, y + 0.5 + (k - (own.length - 1) / 2) * LINE, room);
    });
    written.push({ row, col, text: own.join(""), ink, fill, ...box });
  }
  context.restore();
  return written;
}

function cellsOf(layout: PlaneLayout, tile: Tile, { paint, dtype }: DigitPlate): DigitCell[] {
  const [first, left, rows, cols] = inSight(layout);
  const cells: DigitCell[] = [];
  for (let row = first; row < first + rows; row += 1) {
    for (let col = left; col < left + cols; col += 1) {
      const cell = cellOf(tile, row, col);
      if (cell === null) continue;
      const special = specialOf(tile.flags[cell]!);
      const levels = special ? [SPECIAL_TEXT[special]] : digitLevels(tile.mean[cell]!, dtype);
      cells.push({ row, col, special, fill: cellColor(tile, cell, paint), levels });
    }
  }
  return cells;
}

/** Lines of the cells' texts: exact, else the most digits that fit in all cells, else those that fit; or none. */
function chosenLines(
  cells: readonly DigitCell[],
  { across, down }: PlaneLayout,
  width: (text: string) => number,
): string[][] {
  const rooms = [...PADS.map((pad) => across - 2 * pad), (across - 2 * PADS.at(-1)!) / CONDENSED];
  const most = largest([0, ...cells.map(({ levels }) => levels.length)]);
  const splits = down >= 2 * LINE + 4 ? [onOneLine, onTwoLines] : [onOneLine];
  const fits = (lines: string[], room: number) => lines.every((text) => width(text) <= room);
  const at = (
    { levels }: DigitCell,
    level: number,
    split: (text: string) => string[],
    room: number,
  ) => {
    const [exact, other] = [0, level].map((zoom) =>
      split(levels[Math.min(zoom, levels.length - 1)]!),
    );
    return fits(exact!, room) ? exact! : other!;
  };
  for (const split of splits) {
    for (const room of rooms) {
      for (let level = 0; level < most; level += 1) {
        const lines = cells.map((cell) => at(cell, level, split, room));
        if (lines.every((line) => fits(line, room))) return lines;
      }
    }
  }
  return cells.map(({ levels }) => {
    const all = splits.flatMap((split) => levels.map(split));
    return all.find((lines) => fits(lines, rooms.at(-1)!)) ?? [];
  });
}

function onOneLine(text: string): string[] {
  return [text];
}

/** Text with its exponent on a line of its own; a long number without one gets it. */
function onTwoLines(text: string): string[] {
  const [, mark = "", sign = "", digits] = /^(≈?)(−?)([\d.]{1,16})$/.exec(text) ?? [];
  if (digits === undefined) return text.split(/(?=e)/);
  const bent = Number(digits).toExponential().replace("e+", "e").replace("-", "−");
  const [head, tail] = bent.split(/(?=e)/) as [string, string];
  return head.length < digits.length && tail !== "e0" ? [`${mark}${sign}${head}`, tail] : [text];
}
