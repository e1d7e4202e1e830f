import type { Pen } from "./pen.ts";

/** A canvas that keeps the size of its box in device pixels; drawing happens in CSS pixels. */
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

/** Draws at most once a frame, and only while the box is on screen; what was asked for meanwhile is drawn when it returns. */
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

/** A file may hold names of any length. */
const MOST_LETTERS = 2000;
/** Of a longer word, no more is shown than so many letters. */
const LONG_WORD = 80;

/** Widths of texts in the context's present font, measured once each. */
export class TextMeasure {
  readonly #context: Pick<Pen, "font" | "measureText">;
  readonly #byFont = new Map<string, Map<string, number>>();
  #font = "";
  #widths = new Map<string, number>();

  constructor(context: Pick<Pen, "font" | "measureText">) {
    this.#context = context;
  }

  /** Of a text of more letters than fit on any screen, that of as many. */
  width(long: string): number {
    return this.#width(long, this.#known());
  }

  /** The widths that are known in the present font; to ask the context for it takes longer than to look one up. */
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

  /**
   * The text, or as much of it as fits: whole words of its beginning and its end around an ellipsis, where there is no
   * room for both the beginning of a phrase or the end of a name; a first word that is too long is cut behind.
   * Empty where not even three letters would fit.
   */
  fit(long: string, room: number): string {
    const half = MOST_LETTERS / 2;
    const text = long.length > MOST_LETTERS ? long.slice(0, half) + long.slice(-half) : long;
    const known = this.#known();
    const fits = (words: string) => this.#width(words, known) <= room;
    if (fits(text)) return text;
    const words = text.match(WORD) ?? [text];
    const most = words.length - 1;
    const cut = (heads: number, tails: number) => {
      const head = words.slice(0, heads).join("").replace(BETWEEN, "");
      return `${head}…${words.slice(words.length - tails).join("")}`;
    };
    const isPhrase = text.includes(" ");
    let [heads, tails] = [1, most > 0 && !text.endsWith(")") ? 1 : 0];
    if (tails && !fits(cut(1, 1))) {
      const tellsNothing = words[most]!.length < 3;
      [heads, tails] = isPhrase || tellsNothing || !fits(cut(0, 1)) ? [1, 0] : [0, 1];
    }
    if (!fits(cut(heads, tails))) {
      const letters = Array.from(words[0]!.replace(BETWEEN, "")).slice(0, LONG_WORD);
      while (letters.length >= 3 && !fits(`${letters.join("")}…`)) letters.pop();
      return letters.length < 3 ? "" : `${letters.join("")}…`;
    }
    const holds = (head: number, tail: number) => head + tail <= most && fits(cut(head, tail));
    for (let was = 0; was < heads + tails; ) {
      was = heads + tails;
      if (isPhrase && heads && holds(heads + 1, tails)) heads++;
      if (tails && holds(heads, tails + 1)) tails++;
      else if (heads && holds(heads + 1, tails)) heads++;
    }
    const shown = cut(heads, tails);
    return shown === "…" ? "" : shown;
  }
}

/** A word of a phrase or of a name, with what separates it from the next, and with the number of a node before it. */
const WORD =
  /\([^)]*\)[\s_]*|× \d+\s*|(?:#\d+ )?[^\s_./:+,·×|]+(?:[\s_./:+,·|]|×(?! ))*|[\s_./:+,·×|]+/gu;
const BETWEEN = /[\s_./:+,·×|]+$/u;
