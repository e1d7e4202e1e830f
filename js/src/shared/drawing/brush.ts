import { type Pen, type Rectangle, TextMeasure } from "./canvas.ts";
import type { Theme } from "./theme.ts";

export const FONT = 11;

export interface DrawnItems {
  labels: (Rectangle & { text: string })[];
  marks: (Rectangle & Record<string, unknown>)[];
}

/** A canvas in CSS pixels with the current theme, which records texts and marks. */
export class Brush {
  theme!: Theme;
  drawn: DrawnItems = { labels: [], marks: [] };

  constructor(
    readonly context: Pen,
    readonly measure = new TextMeasure(context),
  ) {}

  start(theme: Theme): void {
    this.theme = theme;
    this.drawn = { labels: [], marks: [] };
  }

  fill(color: string, x: number, y: number, width: number, height: number, alpha = 1): void {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = color;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  line(color: string, x: number, y: number, toX: number, toY: number, width = 1): void {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(toX, toY);
    context.stroke();
  }

  /** Saves the state, and clips what follows until it is restored. */
  clip(x: number, y: number, width: number, height: number): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
  }

  /** A line around a box with a halo on its inner side, or with `out` outside of both. */
  outline(
    { x, y, width, height }: Rectangle,
    line: number,
    color = this.theme.text,
    out = 0,
  ): void {
    const { context, theme } = this;
    const halo = line / 2 + 0.75;
    for (const [stroke, thick, by] of [
      [theme.background, 1.5, out > 0 ? out + halo : -halo],
      [color, line, out],
    ] as const) {
      context.strokeStyle = stroke;
      context.lineWidth = thick;
      context.strokeRect(x - by, y - by, Math.max(0, width + 2 * by), Math.max(0, height + 2 * by));
    }
  }

  font(weight = "normal"): void {
    this.context.font = `${weight} ${FONT}px ${this.theme.font}`;
    this.context.textBaseline = "middle";
  }

  write(text: string, x: number, y: number, color: string): number {
    this.context.fillStyle = color;
    this.context.fillText(text, x, y + 0.5);
    const width = this.measure.width(text);
    this.drawn.labels.push({ text, x, y: y - FONT / 2, width, height: FONT });
    return width;
  }
}

/** A brush that fits texts into their room. */
export class ChartBrush extends Brush {
  /** Diagonal lines, this many pixels apart. */
  hatch(color: string, { x, y, width, height }: Rectangle, alpha: number, apart: number): void {
    const { context } = this;
    this.clip(x, y, width, height);
    context.strokeStyle = color;
    context.globalAlpha = alpha;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = x - height; at < x + width; at += apart) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
  }

  /** A line with a halo around a box, visible on every fill. */
  frame({ x, y, width, height }: Rectangle, line = 2): void {
    const { context, theme } = this;
    for (const [color, thick] of [
      [theme.background, line + 2],
      [theme.text, line],
    ] as const) {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.strokeRect(x, y, Math.max(0, width), Math.max(0, height));
    }
  }

  /** Writes as much of the text as fits into `room`, its middle at `y`; returns its width. */
  text(text: string, x: number, y: number, color: string, room: number, weight?: string): number {
    this.font(weight);
    const shown = this.measure.fit(text, room);
    return shown ? this.write(shown, x, y, color) : 0;
  }

  /** Writes a number, completely or not at all. */
  number(text: string, x: number, y: number, color: string, room: number, right = false): number {
    this.font();
    const width = this.measure.width(text);
    return width > room ? 0 : this.write(text, right ? x - width : x, y, color);
  }

  /** Writes a text on a plate of the text's color, inside of a stage that is `most` wide. */
  plate(text: string, at: (room: number) => number, y: number, most: number, tall = 16): void {
    const { background, text: ink } = this.theme;
    this.font("600");
    const room = this.measure.width(text) + 8;
    const x = Math.min(Math.max(0, at(room)), most - room);
    this.fill(ink, x, y - tall / 2, room, tall);
    this.context.fillStyle = background;
    this.context.fillText(text, x + 4, y + 0.5);
  }
}
