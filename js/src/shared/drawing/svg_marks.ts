import { channels } from "./theme.ts";

/** Characters that XML 1.0 forbids, and controls that change the direction of text. */
const ILLEGAL =
  /[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef]/gu;
/** Words of right-to-left scripts, with separators between them. */
const LEFTWARDS =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}](?:[^A-Za-z0-9&]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])*/gu;
const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The text in one line, with U+FFFD for illegal characters. */
export function clean(text: string): string {
  return text.replace(ILLEGAL, "\ufffd").replace(/[\t\n\r]+/g, " ");
}

/** Escapes the text for SVG; a mark after right-to-left words keeps numbers after them in place. */
export function escaped(text: string): string {
  const safe = clean(text).replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);
  return safe.replace(LEFTWARDS, "$&\u200e");
}

/** Style of a mark. Colors are separate: only they differ between light and dark. */
export interface Style {
  fill: string;
  /** Empty for none. */
  stroke: string;
  /** Empty if opaque. */
  opacity: string;
  /** Other attributes, with leading spaces. */
  rest: string;
}

export interface Mark {
  /** Consecutive shapes of one style become one path; clips contain all marks until their end. */
  kind: "element" | "shape" | "clip" | "end";
  content: string;
  style: Style;
}

/** Marks as SVG elements; consecutive ones of one style share it. */
export function markup(marks: readonly Mark[]): string {
  return new MarkWriter().markup(marks, marks);
}

export class MarkWriter {
  readonly #body: string[] = [];
  #run: { kind: Mark["kind"]; style: string; items: string[] } = {
    kind: "end",
    style: "",
    items: [],
  };
  /** The last styles with their text; most often reused. */
  #last: { style: Style; dark: Style; written: string } | null = null;
  #open = 0;

  markup(marks: readonly Mark[], dark: readonly Mark[]): string {
    marks.forEach((mark, at) => {
      this.#add(mark, dark[at]!.style);
    });
    this.#flush();
    return this.#body.join("") + "</g>".repeat(this.#open);
  }

  #add({ kind, content, style }: Mark, dark: Style): void {
    if (kind === "clip" || kind === "end") {
      this.#flush();
      this.#body.push(kind === "clip" ? clipping(content) : "</g>");
      this.#open += kind === "clip" ? 1 : -1;
      return;
    }
    if (this.#last?.style !== style || this.#last.dark !== dark) {
      this.#last = { style, dark, written: this.attributes(style, dark) };
    }
    const { written } = this.#last;
    if (this.#run.kind !== kind || this.#run.style !== written) {
      this.#flush();
      this.#run = { kind, style: written, items: [] };
    }
    this.#run.items.push(content);
  }

  #flush(): void {
    const { kind, style, items } = this.#run;
    if (!items.length) return;
    if (kind === "shape") this.#body.push(`<path d="${items.join("")}"${style}/>`);
    else if (items.length > 1) this.#body.push(`<g${style}>${items.join("")}</g>`);
    else this.#body.push(items[0]!.replace(/^<\w+/, (tag) => tag + style));
    this.#run = { kind: "end", style: "", items: [] };
  }

  protected attributes({ fill, stroke, opacity, rest }: Style, dark: Style): string {
    const colors = this.color("fill", fill, dark.fill);
    const line = stroke && this.color("stroke", stroke, dark.stroke);
    const alpha = opacity && ` ${stroke ? "stroke" : "fill"}-opacity="${opacity}"`;
    return `${colors}${line}${alpha}${rest}`;
  }

  protected color(name: "fill" | "stroke", color: string, _dark: string): string {
    return ` ${name}="${escaped(plain(color))}"`;
  }
}

export function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

/** Start of a clipped group. The clip's name is derived from its path: figures beside it may share it. */
function clipping(data: string): string {
  let hash = 0;
  for (let i = 0; i < data.length; i++) hash = (Math.imul(hash, 31) + data.charCodeAt(i)) >>> 0;
  const id = `tvmdbg-clip-${hash.toString(36)}`;
  return `<clipPath id="${id}"><path d="${data}"/></clipPath><g clip-path="url(#${id})">`;
}

export function plain(color: string): string {
  if (!/^(#([0-9a-f]{3}|[0-9a-f]{6})|rgb\([\d., ]+\))$/i.test(color)) return color;
  const bits = channels(color).reduce((sum, value) => sum * 256 + Math.round(value), 0);
  return `#${bits.toString(16).padStart(6, "0")}`;
}
