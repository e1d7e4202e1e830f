import { shortName } from "../short_name.ts";

/** The part of a 2-D canvas that painters use and the recorder of figures implements. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "lineWidth"
  | "lineJoin"
  | "globalAlpha"
  | "font"
  | "textAlign"
  | "textBaseline"
  | "setLineDash"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "closePath"
  | "arc"
  | "arcTo"
  | "rect"
  | "roundRect"
  | "fill"
  | "stroke"
  | "clip"
  | "save"
  | "restore"
  | "translate"
  | "rotate"
  | "fillRect"
  | "strokeRect"
  | "fillText"
  | "measureText"
>;

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Size = Pick<Rectangle, "width" | "height">;

export interface Layer {
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
}

export function layer(className: string): Layer {
  const canvas = document.createElement("canvas");
  canvas.className = className;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no 2-D canvas");
  return { canvas, context };
}

/** Sizes the layer to width x height CSS pixels and clears it, ready to draw in CSS pixels. */
export function clear({ canvas, context }: Layer, width: number, height: number): void {
  const ratio = devicePixelRatio || 1;
  const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== deviceWidth || canvas.height !== deviceHeight) {
    canvas.width = deviceWidth;
    canvas.height = deviceHeight;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
}

/** Draws at most once per frame, and only while the box is on screen; requests made off screen are drawn on return. */
export class Repaint {
  #frame = 0;
  #visible = true;
  #dirty = false;
  readonly #draw: () => void;

  constructor(box: Element, draw: () => void, signal: AbortSignal) {
    this.#draw = draw;
    const intersection = new IntersectionObserver((changes) => {
      this.#visible = changes.at(-1)?.isIntersecting ?? true;
      if (this.#visible && this.#dirty) this.request();
    });
    intersection.observe(box);
    const size = new ResizeObserver(() => this.request());
    size.observe(box);
    signal.addEventListener("abort", () => {
      intersection.disconnect();
      size.disconnect();
      cancelAnimationFrame(this.#frame);
    });
  }

  request(): void {
    this.#dirty = true;
    if (!this.#visible || this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#dirty = false;
      this.#draw();
    });
  }
}

/** Names in a file may have any length. */
const MOST_LETTERS = 2000;

export class TextMeasure {
  readonly #context: Pick<Pen, "font" | "measureText">;
  readonly #byFont = new Map<string, Map<string, number>>();
  #font = "";
  #widths = new Map<string, number>();

  constructor(context: Pick<Pen, "font" | "measureText">) {
    this.#context = context;
  }

  /** Width of a text; of a very long one, that of a beginning wider than any screen. */
  width(long: string): number {
    return this.#width(long, this.#known());
  }

  /** Cached widths in the current font; asking the context for it takes longer than a lookup. */
  #known(): Map<string, number> {
    const { font } = this.#context;
    if (font === this.#font) return this.#widths;
    this.#font = font;
    this.#widths = this.#byFont.get(font) ?? new Map();
    this.#byFont.set(font, this.#widths);
    return this.#widths;
  }

  #width(long: string, known: Map<string, number>): number {
    const text = long.length > MOST_LETTERS ? long.slice(0, MOST_LETTERS) : long;
    let width = known.get(text);
    if (width === undefined) {
      if (known.size > 20_000) known.clear();
      width = this.#context.measureText(text).width;
      known.set(text, width);
    }
    return width;
  }

  /** The text, shortened as a name if it has no room. */
  fit(long: string, room: number): string {
    const known = this.#known();
    return shortName(long, (words) => this.#width(words, known) <= room);
  }
}

/** The visible part of an axis, kept inside its limits. */
export class Viewport {
  readonly last: number;
  start: number;
  end: number;

  readonly #least: number;

  /** @param least The shortest visible part; for times in nanoseconds. */
  constructor(
    readonly first: number,
    last: number,
    least = 0.1,
  ) {
    this.#least = least;
    this.last = last > first ? last : first + 1;
    this.start = this.first;
    this.end = this.last;
  }

  get span(): number {
    return this.end - this.start;
  }

  get whole(): number {
    return this.last - this.first;
  }

  get all(): boolean {
    return this.start === this.first && this.end === this.last;
  }

  show(start: number, end: number): void {
    const least = Math.min(this.whole, Math.max(this.#least, this.whole * 1e-11));
    const span = Math.min(this.whole, Math.max(least, end - start));
    const wanted = (start + end) / 2 - span / 2;
    this.start = Math.min(Math.max(wanted, this.first), this.last - span);
    this.end = span === this.whole ? this.last : this.start + span;
    if (span === this.whole) this.start = this.first;
  }

  showAll(): void {
    this.show(this.first, this.last);
  }

  /** Zooms around `at`; a factor above 1 shows more. */
  zoom(factor: number, at: number): void {
    const start = at - (at - this.start) * factor;
    const span = this.span * factor;
    if (span >= this.whole) this.showAll();
    else if (span >= this.#least) this.show(start, start + span);
  }

  pan(by: number): void {
    this.show(this.start + by, this.end + by);
  }

  center(at: number): void {
    this.show(at - this.span / 2, at + this.span / 2);
  }

  /** Moves as little as makes [start, end] visible; zooms out only if it does not fit. */
  reveal(start: number, end: number): void {
    if (end - start > this.span) this.show(start, end);
    else if (start < this.start) this.pan(start - this.start - this.span * 0.1);
    else if (end > this.end) this.pan(end - this.end + this.span * 0.1);
  }
}
