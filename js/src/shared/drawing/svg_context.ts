import { escaped, type Mark, type Style } from "./svg_marks.ts";

const KEPT = [
  ...(["fillStyle", "strokeStyle", "lineWidth", "globalAlpha"] as const),
  ...(["font", "textAlign", "textBaseline"] as const),
] as const;
export const NO_STYLE: Style = { fill: "", stroke: "", opacity: "", rest: "" };
const WHOLE_TURN = 2 * Math.PI;

/** Measures the texts of a recorded drawing. */
export interface TextRuler {
  /** px. */
  width(text: string, font: string): number;
  /** Distance of the letters below the line that `baseline` names, px. */
  shift(font: string, baseline: CanvasTextBaseline): number;
  /** True if widths are those of the final font, so that texts can be stretched to them. */
  exact: boolean;
  /** Default font family of the document. */
  family: string;
}

/**
 * Records the drawing of painters on a 2-D canvas as marks of an SVG: the same shapes, and texts as texts. It needs no
 * DOM and implements what the painters use. Non-finite coordinates are left out, as by canvases.
 */
export class SvgContext {
  fillStyle: string | CanvasGradient | CanvasPattern = "#000";
  strokeStyle: string | CanvasGradient | CanvasPattern = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "10px sans-serif";
  lineJoin: CanvasLineJoin = "miter";
  textAlign: CanvasTextAlign = "start";
  textBaseline: CanvasTextBaseline = "alphabetic";
  readonly marks: Mark[] = [];
  readonly #ruler: TextRuler;
  /** Coordinates are multiples of this fraction of a px. */
  readonly #unit: number;
  readonly #saved: (() => void)[] = [];
  #path = "";
  /** Path of circles of one radius, if it has nothing else. */
  #circles: { path: string; radius: number } | null = null;
  /** The rounded box of a path that has nothing else. */
  #box: { path: string; element: string } | null = null;
  #dash = "";
  #open = 0;
  #x = 0;
  #y = 0;
  #writtenX = 0;
  #writtenY = 0;
  #shiftX = 0;
  #shiftY = 0;
  /** Rotation of texts, radians. */
  #turn = 0;
  /** The last style by kind, most often reused. */
  #lastFill = NO_STYLE;
  #lastStroke = NO_STYLE;
  #lastWide = NO_STYLE;

  /** @param decimals Decimals of coordinates. */
  constructor(ruler: TextRuler, decimals = 2) {
    this.#ruler = ruler;
    this.#unit = 10 ** decimals;
  }

  measureText(text: string): TextMetrics {
    return { width: this.#ruler.width(text, this.font) } as TextMetrics;
  }

  save(): void {
    const values = Object.fromEntries(KEPT.map((name) => [name, this[name]]));
    const [dash, open, x, y] = [this.#dash, this.#open, this.#shiftX, this.#shiftY];
    const turn = this.#turn;
    this.#saved.push(() => {
      Object.assign(this, values);
      [this.#dash, this.#shiftX, this.#shiftY, this.#turn] = [dash, x, y, turn];
      for (; this.#open > open; this.#open--) this.#mark("end", "", NO_STYLE);
    });
  }

  restore(): void {
    this.#saved.pop()?.();
  }

  translate(x: number, y: number): void {
    this.#shiftX += x;
    this.#shiftY += y;
  }

  /** Only texts are rotated. */
  rotate(angle: number): void {
    this.#turn += angle;
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
  }

  beginPath(): void {
    this.#path = "";
    this.#circles = null;
  }

  moveTo(x: number, y: number): void {
    if (!Number.isFinite(x + y)) return;
    this.#circles = null;
    this.#move(x, y);
  }

  lineTo(x: number, y: number): void {
    if (!Number.isFinite(x + y)) return;
    if (!this.#path) this.#move(x, y);
    else this.#line(x, y);
    this.#circles = null;
  }

  closePath(): void {
    this.#path += "z";
    this.#circles = null;
  }

  rect(x: number, y: number, width: number, height: number): void {
    if (!Number.isFinite(x + y + width + height)) return;
    this.#path += this.#rectangle(x, y, width, height);
    this.#circles = null;
  }

  /** A line to the circle that touches the ways to (x1, y1) and on to (x2, y2), and along that circle. */
  arcTo(x1: number, y1: number, x2: number, y2: number, radius: number): void {
    const [ax, ay, bx, by] = [this.#x - x1, this.#y - y1, x2 - x1, y2 - y1];
    const [a, b] = [Math.hypot(ax, ay), Math.hypot(bx, by)];
    const turn = ax * by - ay * bx;
    if (radius <= 0 || a * b === 0 || Math.abs(turn) < 1e-9 * a * b) {
      this.lineTo(x1, y1);
      return;
    }
    const far =
      radius / Math.tan(Math.acos(Math.max(-1, Math.min(1, (ax * bx + ay * by) / (a * b)))) / 2);
    this.lineTo(x1 + (ax / a) * far, y1 + (ay / a) * far);
    this.#bend(x1 + (bx / b) * far, y1 + (by / b) * far, radius, false, turn < 0);
  }

  arc(
    x: number,
    y: number,
    radius: number,
    start = 0,
    end = WHOLE_TURN,
    anticlockwise = false,
  ): void {
    if (!Number.isFinite(x + y + radius) || radius < 0) return;
    const swept = anticlockwise ? start - end : end - start;
    if (swept >= WHOLE_TURN) {
      this.#circle(x, y, radius);
      return;
    }
    const turn = ((swept % WHOLE_TURN) + WHOLE_TURN) % WHOLE_TURN;
    this.lineTo(x + radius * Math.cos(start), y + radius * Math.sin(start));
    const [endX, endY] = [x + radius * Math.cos(end), y + radius * Math.sin(end)];
    this.#bend(endX, endY, radius, turn > Math.PI, !anticlockwise);
  }

  roundRect(x: number, y: number, width: number, height: number, radii: number | number[]): void {
    if (!Number.isFinite(x + y + width + height)) return;
    const isOne = !Array.isArray(radii);
    const isFirst = !this.#path;
    const most = isOne ? Math.min(width, height) / 2 : Math.min(width, height / 2);
    const given = isOne ? [radii, radii, radii, radii] : radii;
    const [a, b, c, d] = given.map((radius) => Math.max(0, Math.min(radius, most)));
    const [left, top] = [x + this.#shiftX, y + this.#shiftY];
    const text = (value: number) => this.#text(value);
    const corner = (radius: number, dx: number, dy: number) =>
      radius ? `a${text(radius)} ${text(radius)} 0 0 1 ${text(dx)} ${text(dy)}` : "";
    this.#path += [
      `M${text(left + a!)} ${text(top)}H${text(left + width - b!)}${corner(b!, b!, b!)}`,
      `V${text(top + height - c!)}${corner(c!, -c!, c!)}H${text(left + d!)}${corner(d!, -d!, -d!)}`,
      `V${text(top + a!)}${corner(a!, a!, -a!)}z`,
    ].join("");
    this.#circles = null;
    if (!isOne || !isFirst || !(width > 0 && height > 0)) return;
    const box = this.boxOf(x, y, width, height);
    this.#box = { path: this.#path, element: `<rect ${box} rx="${text(a!)}"/>` };
  }

  fill(): void {
    if (!this.#path) return;
    if (!this.#circles) {
      this.#mark("element", this.#element, this.#filled);
      return;
    }
    // Lines of length 0 with round ends take a fifth of the letters.
    const { path, radius } = this.#circles;
    this.#mark("shape", path, this.#wide(2 * radius, ' stroke-linecap="round"'));
  }

  stroke(): void {
    if (!this.#path) return;
    const [content, style, last] = [this.#element, this.#stroked, this.marks.at(-1)];
    const isFilled = last?.content === content && !last.style.stroke && !last.style.rest;
    if (isFilled && !last.style.opacity && !style.opacity) {
      this.marks.pop();
      this.#mark("element", content, { ...style, fill: last.style.fill });
    } else this.#mark("element", content, style);
  }

  clip(): void {
    this.#mark("clip", this.#path, NO_STYLE);
    this.#open++;
  }

  /** No effect: a document begins empty. */
  clearRect(): void {}

  fillRect(x: number, y: number, width: number, height: number): void {
    if (!Number.isFinite(x + y + width + height) || !width || !height) return;
    if (width === height && width > 0) {
      const start = `M${this.#text(x + this.#shiftX)} ${this.#text(y + this.#shiftY + height / 2)}`;
      this.#mark("shape", `${start}h${this.#text(width)}`, this.#wide(height));
    } else {
      this.#mark("shape", this.#rectangle(x, y, width, height), this.#filled);
    }
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    if (!Number.isFinite(x + y + width + height)) return;
    this.#mark("element", `<path d="${this.#rectangle(x, y, width, height)}"/>`, this.#stroked);
  }

  fillText(text: string, x: number, y: number): void {
    if (!text || !Number.isFinite(x + y)) return;
    const { font, textAlign } = this;
    const { size, weight, family } = parsedFont(font);
    const baseline = y + this.#shiftY + this.#ruler.shift(font, this.textBaseline);
    const attributes = [` x="${this.#text(x + this.#shiftX)}" y="${this.#text(baseline)}"`];
    if (this.#ruler.exact)
      attributes.push(` textLength="${this.#text(this.#ruler.width(text, font))}"`);
    if (this.#turn) {
      const middle = `${this.#text(this.#shiftX)} ${this.#text(this.#shiftY)}`;
      attributes.push(` transform="rotate(${Math.round((this.#turn * 180) / Math.PI)} ${middle})"`);
    }
    if (/^ | {2}| $/.test(text)) attributes.push(' xml:space="preserve"');
    const rest = [` font-size="${this.#text(size)}"`];
    if (family !== this.#ruler.family) rest.push(` font-family="${escaped(family)}"`);
    if (weight !== "400") rest.push(` font-weight="${weight}"`);
    const anchor = ANCHORS[textAlign];
    if (anchor) rest.push(` text-anchor="${anchor}"`);
    const element = `<text${attributes.join("")}>${escaped(text)}</text>`;
    this.#mark("element", element, { ...this.#filled, rest: rest.join("") });
  }

  /** Attributes of a box. */
  boxOf(x: number, y: number, width: number, height: number): string {
    const sides = { x: x + this.#shiftX, y: y + this.#shiftY, width, height };
    return Object.entries(sides)
      .map(([name, value]) => `${name}="${this.#text(value)}"`)
      .join(" ");
  }

  /** The path as an element; a single box as a rect, which takes half as many letters. */
  get #element(): string {
    if (this.#box?.path === this.#path) return this.#box.element;
    return `<path d="${this.#path}"/>`;
  }

  #mark(kind: Mark["kind"], content: string, style: Style): void {
    this.marks.push({ kind, content, style });
  }

  get #filled(): Style {
    const [fill, opacity, last] = [String(this.fillStyle), this.#opacity, this.#lastFill];
    if (last.fill === fill && last.opacity === opacity) return last;
    this.#lastFill = { fill, stroke: "", opacity, rest: "" };
    return this.#lastFill;
  }

  get #stroked(): Style {
    const rest = ` stroke-width="${this.#text(this.lineWidth)}"${this.#dash}`;
    this.#lastStroke = this.#lineStyle(String(this.strokeStyle), rest, this.#lastStroke);
    return this.#lastStroke;
  }

  #wide(width: number, cap = ""): Style {
    const rest = ` stroke-width="${this.#text(width)}"${cap}`;
    this.#lastWide = this.#lineStyle(String(this.fillStyle), rest, this.#lastWide);
    return this.#lastWide;
  }

  #lineStyle(stroke: string, rest: string, last: Style): Style {
    const opacity = this.#opacity;
    if (last.stroke === stroke && last.opacity === opacity && last.rest === rest) return last;
    return { fill: "none", stroke, opacity, rest };
  }

  get #opacity(): string {
    return this.globalAlpha < 1 ? String(this.globalAlpha) : "";
  }

  #move(x: number, y: number): void {
    [this.#x, this.#y] = [x, y];
    [this.#writtenX, this.#writtenY] = [
      this.#rounded(x + this.#shiftX),
      this.#rounded(y + this.#shiftY),
    ];
    this.#path += `M${this.#written(this.#writtenX)} ${this.#written(this.#writtenY)}`;
  }

  #line(x: number, y: number): void {
    const [dx, dy] = this.#step(x, y);
    if (!dy) this.#path += `h${this.#written(dx)}`;
    else if (!dx) this.#path += `v${this.#written(dy)}`;
    else this.#path += `l${this.#written(dx)}${dy < 0 ? "" : " "}${this.#written(dy)}`;
  }

  #bend(x: number, y: number, radius: number, isLarge: boolean, isClockwise: boolean): void {
    const [dx, dy] = this.#step(x, y);
    const r = this.#text(radius);
    const flags = `${isLarge ? 1 : 0} ${isClockwise ? 1 : 0}`;
    this.#path += `a${r} ${r} 0 ${flags} ${this.#written(dx)} ${this.#written(dy)}`;
  }

  #step(x: number, y: number): [dx: number, dy: number] {
    [this.#x, this.#y] = [x, y];
    const [toX, toY] = [this.#rounded(x + this.#shiftX), this.#rounded(y + this.#shiftY)];
    const step: [number, number] = [toX - this.#writtenX, toY - this.#writtenY];
    [this.#writtenX, this.#writtenY] = [toX, toY];
    return step;
  }

  #circle(x: number, y: number, radius: number): void {
    const isFirst = !this.#path;
    const [left, top] = [this.#text(x + this.#shiftX), this.#text(y + this.#shiftY)];
    const [r, d] = [this.#text(radius), this.#text(2 * radius)];
    this.#path += `M${this.#text(x + this.#shiftX - radius)} ${top}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0z`;
    const before = isFirst ? { path: "", radius } : this.#circles;
    const isSame = before?.radius === radius;
    this.#circles = isSame ? { path: `${before.path}M${left} ${top}h0`, radius } : null;
  }

  #rectangle(x: number, y: number, width: number, height: number): string {
    const [left, top] = [this.#text(x + this.#shiftX), this.#text(y + this.#shiftY)];
    const [wide, high] = [this.#text(width), this.#text(height)];
    return `M${left} ${top}h${wide}v${high}h${this.#text(-width)}z`;
  }

  #rounded(value: number): number {
    return Math.round(value * this.#unit);
  }

  /** Shortest SVG notation of a number of units: `.5`, `-12`. */
  #written(units: number): string {
    const size = Math.abs(units);
    const whole = Math.floor(size / this.#unit);
    const part = size - whole * this.#unit;
    if (!part) return String(units / this.#unit || 0);
    const decimals = String(this.#unit + part)
      .slice(1)
      .replace(/0+$/, "");
    return `${units < 0 ? "-" : ""}${whole || ""}.${decimals}`;
  }

  #text(value: number): string {
    return this.#written(this.#rounded(value));
  }
}

const ANCHORS: Partial<Record<CanvasTextAlign, string>> = {
  center: "middle",
  right: "end",
  end: "end",
};

export function parsedFont(font: string): { size: number; weight: string; family: string } {
  const [, before = "", size = "10", family = "sans-serif"] =
    /^(.*?)([\d.]+)px(?:\/\S+)? (.*)$/.exec(font) ?? [];
  const weight = /\b(bold|[1-9]00)\b/.exec(before)?.[1] ?? "400";
  return { size: Number(size), weight: weight === "bold" ? "700" : weight, family };
}
