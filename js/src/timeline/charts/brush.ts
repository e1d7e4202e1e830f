import { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { fitTitle, type Title } from "../data/titles.ts";

const FONT = 11;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What was drawn, for tests. */
export interface Drawn {
  labels: (Box & { text: string })[];
  marks: (Box & Record<string, unknown>)[];
}

/** What is painted on, in CSS pixels, with the theme of the moment. */
export class Brush {
  readonly context: Pen;
  readonly measure: TextMeasure;
  theme!: Theme;
  drawn: Drawn = { labels: [], marks: [] };

  constructor(context: Pen) {
    this.context = context;
    this.measure = new TextMeasure(context);
  }

  fill(color: string, x: number, y: number, width: number, height: number, alpha = 1): void {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = color;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  /** A line round a box with a halo, so that it stands out on every fill. */
  frame({ x, y, width, height }: Box, line = 2): void {
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

  font(weight = "normal"): void {
    this.context.font = `${weight} ${FONT}px ${this.theme.font}`;
    this.context.textBaseline = "middle";
  }

  /** Writes as much of the text as fits into `room`, its middle at `y`; tells how wide it is. */
  text(text: string, x: number, y: number, color: string, room: number, weight?: string): number {
    this.font(weight);
    const shown = this.measure.fit(text, room);
    return shown ? this.#write(shown, x, y, color) : 0;
  }

  /** The same of what an operator is called: its id stays longest. */
  title(title: Title, x: number, y: number, color: string, room: number, weight?: string): number {
    this.font(weight);
    const shown = fitTitle(this.measure, title, room);
    return shown ? this.#write(shown, x, y, color) : 0;
  }

  /** The same of a number, which is written whole or not at all. */
  number(text: string, x: number, y: number, color: string, room: number, right = false): number {
    this.font();
    const width = this.measure.width(text);
    return width > room ? 0 : this.#write(text, right ? x - width : x, y, color);
  }

  #write(text: string, x: number, y: number, color: string): number {
    this.context.fillStyle = color;
    this.context.fillText(text, x, y + 0.5);
    const width = this.measure.width(text);
    this.drawn.labels.push({ text, x, y: y - FONT / 2, width, height: FONT });
    return width;
  }
}
