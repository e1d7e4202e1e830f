import type { SvgContext } from "./svg_context.ts";
import type { TextWidths } from "./text_widths.ts";
import { blockFill, ramp, type Theme } from "./theme.ts";

/** px. */
export const MARGIN = 14;
export const LINE = 16;
/** Size of most letters, px. */
export const SMALL = 11;

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

/** Text over the whole width, in at most four lines. */
export function paragraph(
  { text, bold = false, color = "" }: Phrase,
  room: number,
  widths: TextWidths,
): Part {
  const size = bold ? 13 : SMALL;
  const lines = widths.wrap(text, room, size, 4, bold);
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

/** The color of a severity, of what is "muted", else that of text. */
export function colorOf(theme: Theme, severity: string): string {
  if (severity === "error") return theme.error;
  if (severity === "warning") return theme.warning;
  return severity === "muted" ? theme.muted : theme.text;
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
