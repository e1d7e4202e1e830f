import { TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { type Box, FONT_SIZE } from "./layout.ts";

export interface Label extends Box {
  text: string;
}

interface Place {
  align?: "left" | "center" | "right";
  color?: string;
  /** Reading upwards. */
  turned?: boolean;
  bold?: boolean;
}

/** Writes labels on a canvas, each only where it touches none before it, and remembers their boxes. */
export class Labels {
  readonly written: Label[] = [];
  readonly #context: Pen;
  readonly #theme: Theme;
  readonly #measure: TextMeasure;
  readonly #bounds: Box;

  constructor(context: Pen, theme: Theme, width: number, height: number) {
    this.#context = context;
    this.#theme = theme;
    this.#measure = new TextMeasure(context);
    this.#bounds = { x: 0, y: 0, width, height };
  }

  /** Writes the text on a plate of its own, pushed back inside where it would stick out. */
  plate(text: string, x: number, y: number, align: "center" | "right"): void {
    const context = this.#context;
    context.font = `600 ${FONT_SIZE}px ${this.#theme.font}`;
    const width = this.#measure.width(text) + 8;
    const start = align === "center" ? x - width / 2 : x - width;
    const left = Math.max(0, Math.min(this.#bounds.width - width, start));
    context.fillStyle = this.#theme.text;
    context.fillRect(left, y - 8, width, 16);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = this.#theme.background;
    context.fillText(text, left + width / 2, y + 0.5);
    this.written.push({ text, x: left, y: y - 8, width, height: 16 });
  }

  /** Writes the text with its line centered on (x, y); says whether there was room. */
  write(text: string, x: number, y: number, place: Place = {}): boolean {
    if (!text) return false;
    const { align = "left", color = this.#theme.muted, turned = false, bold = false } = place;
    const context = this.#context;
    context.font = `${bold ? "600 " : ""}${FONT_SIZE}px ${this.#theme.font}`;
    const length = this.#measure.width(text);
    const before = align === "left" ? 0 : align === "center" ? length / 2 : length;
    const half = FONT_SIZE / 2 + 1;
    const box = turned
      ? { x: x - half, y: y - (length - before), width: 2 * half, height: length }
      : { x: x - before, y: y - half, width: length, height: 2 * half };
    if (!inside(box, this.#bounds) || this.written.some((each) => touch(each, box))) return false;
    context.save();
    context.translate(x, y);
    if (turned) context.rotate(-Math.PI / 2);
    context.textAlign = align;
    context.textBaseline = "middle";
    context.fillStyle = color;
    context.fillText(text, 0, 0.5);
    context.restore();
    this.written.push({ text, ...box });
    return true;
  }
}

function inside(box: Box, bounds: Box): boolean {
  return (
    box.x >= bounds.x &&
    box.y >= bounds.y &&
    box.x + box.width <= bounds.x + bounds.width &&
    box.y + box.height <= bounds.y + bounds.height
  );
}

const APART = 2;

function touch(a: Box, b: Box): boolean {
  return (
    a.x < b.x + b.width + APART &&
    b.x < a.x + a.width + APART &&
    a.y < b.y + b.height &&
    b.y < a.y + a.height
  );
}
