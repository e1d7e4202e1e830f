import { MONO, SMALL } from "../shared/drawing/figure.ts";
import type { SvgContext } from "../shared/drawing/svg_context.ts";
import { blockFill, ramp, type Theme } from "../shared/drawing/theme.ts";

export type InkPoint = readonly [x: number, y: number];

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Look {
  color?: string;
  align?: CanvasTextAlign;
  bold?: boolean;
  mono?: boolean;
  size?: number;
}

/** Number of colors of fields; the last one of blocks is gray, as is padding. */
const FIELD_COLORS = 7;
/** Share of the fields' colors in their tint: text of every color is legible on it. */
const FIELD_TINT = 0.21;

export function fieldTint(theme: Theme, field: number): string {
  return ramp([theme.background, blockFill(theme, field % FIELD_COLORS)], FIELD_TINT);
}

/** A pen with the colors of a theme. */
export class Ink {
  readonly pen: SvgContext;
  readonly theme: Theme;

  constructor(pen: SvgContext, theme: Theme) {
    this.pen = pen;
    this.theme = theme;
  }

  /** @param y The middle of the line. */
  words(text: string, x: number, y: number, look: Look = {}): void {
    const { pen, theme } = this;
    this.#font(look);
    pen.textBaseline = "middle";
    pen.textAlign = look.align ?? "left";
    pen.fillStyle = look.color ?? theme.text;
    pen.fillText(text, x, y);
  }

  width(text: string, look: Look = {}): number {
    this.#font(look);
    return this.pen.measureText(text).width;
  }

  #font({ bold, mono, size = SMALL }: Look): void {
    this.pen.font = `${bold ? "600 " : ""}${size}px ${mono ? MONO : this.theme.font}`;
  }

  fill({ x, y, width, height }: Box, color: string): void {
    this.pen.fillStyle = color;
    this.pen.fillRect(x, y, width, height);
  }

  frame({ x, y, width, height }: Box, color: string, line: number): void {
    this.pen.strokeStyle = color;
    this.pen.lineWidth = line;
    this.pen.strokeRect(x, y, width, height);
  }

  lines(color: string, line: number, ...paths: readonly (readonly InkPoint[])[]): void {
    this.pen.strokeStyle = color;
    this.pen.lineWidth = line;
    this.#path(paths);
    this.pen.stroke();
  }

  area(color: string, ...points: readonly InkPoint[]): void {
    this.pen.fillStyle = color;
    this.#path([points]);
    this.pen.closePath();
    this.pen.fill();
  }

  #path(paths: readonly (readonly InkPoint[])[]): void {
    this.pen.beginPath();
    for (const [start, ...rest] of paths) {
      this.pen.moveTo(...start!);
      for (const point of rest) this.pen.lineTo(...point);
    }
  }

  cross(x: number, y: number, color: string): void {
    const [left, right, top, bottom] = [x - 4, x + 4, y - 4, y + 4];
    const strokes: InkPoint[][] = [
      [
        [left, top],
        [right, bottom],
      ],
      [
        [right, top],
        [left, bottom],
      ],
    ];
    this.lines(color, 2, ...strokes);
  }
}

/** The bytes beside a reply; none if it came without. */
export function sentBytes(view: DataView = new DataView(new ArrayBuffer(0))): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

export function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
