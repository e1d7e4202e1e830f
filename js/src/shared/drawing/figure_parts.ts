import type { SvgContext } from "./svg_context.ts";
import type { TextWidths } from "./text_widths.ts";
import { blockFill, ramp, type Theme } from "./theme.ts";

/** px. */
export const MARGIN = 14;
export const LINE = 16;
/** Size of most letters, px. */
export const SMALL = 11;
const TITLE = 13;
/** Between a title and what is said beside it, px. */
const APART = 10;

/** How many colors fields have; the last one of blocks is gray, as padding is. */
const FIELD_COLORS = 7;
/** Text of every color can be read on it. */
const FIELD_TINT = 0.21;

/** The ground of a field: the page's with a little of the field's color. */
export function fieldTint(theme: Theme, field: number): string {
  return ramp([theme.background, blockFill(theme, field % FIELD_COLORS)], FIELD_TINT);
}

/** One part of a figure: how high it is, and what draws it from a top down. */
export interface Part {
  height: number;
  paint: (pen: SvgContext, theme: Theme, top: number) => void;
}

interface Phrase {
  text: string;
  bold?: boolean;
  color?: string;
}

/** A paragraph as Python writes it; see `note` in `figures/run_figure.py`. */
export interface Note extends Phrase {
  /** Lines. */
  most: number;
}

/** What writes small letters: x from the margin, y their middle. */
export function smallWriter(pen: SvgContext, theme: Theme) {
  pen.font = `${SMALL}px ${theme.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  return (text: string, x: number, y: number, color: string): void => {
    pen.fillStyle = color;
    pen.fillText(text, MARGIN + x, y);
  };
}

/** Text over the whole width, in so many lines at most. */
export function paragraph(
  { text, bold = false, color = "" }: Phrase,
  room: number,
  widths: TextWidths,
  most = 4,
): Part {
  const size = bold ? TITLE : SMALL;
  const lines = widths.wrap(text, room, size, most, bold);
  return {
    height: lines.length * LINE,
    paint(pen, theme, top) {
      pen.font = `${bold ? "600 " : ""}${size}px ${theme.font}`;
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      pen.fillStyle = colorOf(theme, color);
      lines.forEach((line, at) => {
        pen.fillText(line, MARGIN, top + (at + 0.5) * LINE);
      });
    },
  };
}

/** A title and what is said beside it, or below it where there is no room. */
export function heading(title: string, detail: string, room: number, widths: TextWidths): Part {
  const first = paragraph({ text: title, bold: true }, room, widths);
  const taken = widths.width(title, TITLE, true) + APART;
  const below = paragraph({ text: detail, color: "muted" }, room, widths);
  if (taken + widths.width(detail, SMALL) > room) {
    return {
      height: first.height + below.height,
      paint(pen, theme, top) {
        first.paint(pen, theme, top);
        below.paint(pen, theme, top + first.height);
      },
    };
  }
  return {
    height: first.height,
    paint(pen, theme, top) {
      first.paint(pen, theme, top);
      pen.font = `${SMALL}px ${theme.font}`;
      pen.fillStyle = theme.muted;
      pen.fillText(detail, MARGIN + taken, top + LINE / 2);
    },
  };
}

/** A color and what it means; without a fill the name stands alone. */
export interface Chip {
  name: string;
  fill?: (theme: Theme) => string;
  alpha?: number;
}

/** What colors mean, beside each other, in as many lines as they need. */
export function chips(items: readonly Chip[], room: number, widths: TextWidths): Part {
  const places: [x: number, row: number][] = [];
  let [x, row] = [0, 0];
  for (const { name, fill } of items) {
    const wide = (fill ? 28 : 13) + widths.width(name, SMALL);
    if (x > 0 && x + wide > room) [x, row] = [0, row + 1];
    places.push([x, row]);
    x += wide;
  }
  return {
    height: items.length ? (row + 1) * LINE + 8 : 0,
    paint(pen, theme, top) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      items.forEach(({ name, fill, alpha = 1 }, at) => {
        const [left, line] = places[at]!;
        const y = top + line * LINE + LINE / 2;
        if (fill) {
          pen.globalAlpha = alpha;
          pen.fillStyle = fill(theme);
          pen.fillRect(MARGIN + left, y - 5, 10, 10);
          pen.globalAlpha = 1;
        }
        pen.fillStyle = theme.muted;
        pen.fillText(name, MARGIN + left + (fill ? 15 : 0), y);
      });
    },
  };
}

/** The color of a severity, of what is "muted", else that of text. */
export function colorOf(theme: Theme, severity: string): string {
  if (severity === "error") return theme.error;
  if (severity === "warning") return theme.warning;
  return severity === "muted" ? theme.muted : theme.text;
}

/** Room between parts, px. */
export function space(height: number): Part {
  return { height, paint() {} };
}

/** Draws parts below each other. */
export function paintParts(parts: readonly Part[], pen: SvgContext, theme: Theme): void {
  let top = MARGIN;
  for (const part of parts) {
    part.paint(pen, theme, top);
    top += part.height;
  }
}

/** How high parts below each other are, with a margin above and below. */
export function heightOf(parts: readonly Part[]): number {
  return parts.reduce((sum, each) => sum + each.height, 2 * MARGIN);
}
