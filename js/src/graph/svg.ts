import { layer } from "../shared/canvas.ts";

const ILLEGAL = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** The pattern of what is not known, as the palette draws it. */
const HATCH = "M-8 8L0 0M0 8L8 0M8 8L16 0";
const KEPT = ["fillStyle", "strokeStyle", "lineWidth", "globalAlpha", "font"] as const;

/**
 * Records what painters draw into a 2-D canvas as SVG: the same shapes, and texts as texts.
 *
 * It knows what the painters of the graph use; texts are left-aligned and in the middle of their line.
 */
export class SvgContext {
  fillStyle: string | CanvasPattern = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = "";
  lineJoin = "";
  textAlign = "left";
  textBaseline = "middle";
  readonly #measure = layer("").context;
  readonly #marks: string[] = [];
  readonly #saved: unknown[] = [];
  readonly #shifts = new Map<string, number>();
  #path = "";
  #dash = "";
  #clips = 0;
  /** Clips that are open, and how many were when each state was saved. */
  #open = 0;
  /** Rectangles that have one fill become one path. */
  #rectangles = { style: "", path: "" };
  #x = 0;
  #y = 0;

  /** The recorded drawing as a document. */
  text(width: number, height: number, title: string, hatch: string): string {
    this.#flush();
    const size = `${round(width)} ${round(height)}`;
    const [wide, high] = size.split(" ");
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" width="${wide}" height="${high}">`,
      `<title>${escaped(title)}</title>`,
      '<defs><pattern id="tvmdbg-hatch" width="8" height="8" patternUnits="userSpaceOnUse">',
      `<path d="${HATCH}" stroke="${hatch}" stroke-width="1.2"/></pattern></defs>`,
      ...this.#marks,
      "</svg>\n",
    ].join("\n");
  }

  measureText(text: string): TextMetrics {
    this.#measure.font = this.font;
    return this.#measure.measureText(text);
  }

  createPattern(image: CanvasImageSource, repetition: string): CanvasPattern | null {
    return this.#measure.createPattern(image, repetition);
  }

  save(): void {
    this.#saved.push([KEPT.map((name) => this[name]), this.#open]);
  }

  restore(): void {
    const [values, open] = this.#saved.pop() as [unknown[], number];
    Object.assign(this, Object.fromEntries(KEPT.map((name, i) => [name, values[i]])));
    while (this.#open > open) {
      this.#mark("</g>");
      this.#open -= 1;
    }
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
  }

  beginPath(): void {
    this.#path = "";
  }

  moveTo(x: number, y: number): void {
    this.#to("M", x, y);
  }

  lineTo(x: number, y: number): void {
    this.#to(this.#path ? "L" : "M", x, y);
  }

  closePath(): void {
    this.#path += "z";
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#path += box(x, y, width, height);
  }

  /** A line to where the circle touches the way to (x1, y1), and along it to the way to (x2, y2). */
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
    this.#path += `A${round(radius)} ${round(radius)} 0 0 ${turn < 0 ? 1 : 0} `;
    this.#to("", x1 + (bx / b) * far, y1 + (by / b) * far);
  }

  /** A whole circle. */
  arc(x: number, y: number, radius: number): void {
    const [r, d] = [round(radius), round(2 * radius)];
    this.#path += `M${round(x - radius)} ${round(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0z`;
  }

  roundRect(x: number, y: number, width: number, height: number, radii: number | number[]): void {
    const isOne = !Array.isArray(radii);
    const most = isOne ? Math.min(width, height) / 2 : Math.min(width, height / 2);
    const given = isOne ? [radii, radii, radii, radii] : radii;
    const [a, b, c, d] = given.map((radius) => Math.max(0, Math.min(radius, most)));
    const corner = (radius: number, dx: number, dy: number) =>
      radius ? `a${round(radius)} ${round(radius)} 0 0 1 ${round(dx)} ${round(dy)}` : "";
    this.#path += [
      `M${round(x + a!)} ${round(y)}H${round(x + width - b!)}${corner(b!, b!, b!)}`,
      `V${round(y + height - c!)}${corner(c!, -c!, c!)}H${round(x + d!)}${corner(d!, -d!, -d!)}`,
      `V${round(y + a!)}${corner(a!, a!, -a!)}z`,
    ].join("");
  }

  fill(): void {
    this.#mark(`<path d="${this.#path}"${this.#fill}/>`);
  }

  stroke(): void {
    this.#mark(`<path d="${this.#path}"${this.#stroke}/>`);
  }

  clip(): void {
    const id = `tvmdbg-clip-${this.#clips++}`;
    this.#mark(`<clipPath id="${id}"><path d="${this.#path}"/></clipPath>`);
    this.#mark(`<g clip-path="url(#${id})">`);
    this.#open += 1;
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    const style = this.#fill;
    if (style !== this.#rectangles.style) this.#flush();
    this.#rectangles.style = style;
    this.#rectangles.path += box(x, y, width, height);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.#mark(`<path d="${box(x, y, width, height)}"${this.#stroke}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
    const wide = this.measureText(text).width;
    this.#mark(
      `<text x="${round(x)}" y="${round(y + this.#shift)}" font-family="${escaped(family ?? "")}" font-size="${round(Number(size))}"${weight ? ` font-weight="${weight}"` : ""} textLength="${round(wide)}" xml:space="preserve"${this.#fill}>${escaped(text)}</text>`,
    );
  }

  /** How far below the middle of a line its letters stand. */
  get #shift(): number {
    const known = this.#shifts.get(this.font);
    if (known !== undefined) return known;
    const context = this.#measure;
    context.font = this.font;
    const [alphabetic = 0, middle = 0] = (["alphabetic", "middle"] as const).map((baseline) => {
      context.textBaseline = baseline;
      return context.measureText("x").actualBoundingBoxAscent;
    });
    this.#shifts.set(this.font, alphabetic - middle);
    return alphabetic - middle;
  }

  get #fill(): string {
    const { fillStyle } = this;
    const fill = typeof fillStyle === "string" ? fillStyle : "url(#tvmdbg-hatch)";
    return ` fill="${fill}"${this.#alpha}`;
  }

  get #stroke(): string {
    return ` fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${this.#dash}${this.#alpha}`;
  }

  get #alpha(): string {
    return this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : "";
  }

  #to(letter: string, x: number, y: number): void {
    [this.#x, this.#y] = [x, y];
    this.#path += `${letter}${round(x)} ${round(y)}`;
  }

  #mark(mark: string): void {
    this.#flush();
    this.#marks.push(mark);
  }

  #flush(): void {
    const { style, path } = this.#rectangles;
    if (path) this.#marks.push(`<path d="${path}"${style}/>`);
    this.#rectangles = { style: "", path: "" };
  }
}

function box(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function escaped(text: string): string {
  return text.replace(ILLEGAL, "\ufffd").replace(/[&<>"]/g, (each) => ENTITIES[each]!);
}
