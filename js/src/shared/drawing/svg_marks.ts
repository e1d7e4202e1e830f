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

/**
 * Marks as SVG elements; consecutive ones of one style share it.  @param dark The same marks in the dark scheme; a
 * color that differs there becomes a class, unless the light color always maps to the same dark one.
 */
export function markup(marks: readonly Mark[], dark: readonly Mark[] = marks): string {
  if (dark.length !== marks.length) throw new Error(DIFFERENT);
  const writer = new Writer(marks === dark ? new Map() : darkColors(marks, dark));
  marks.forEach((mark, at) => {
    writer.add(mark, dark[at]!);
  });
  return writer.end();
}

const DIFFERENT = "a drawing differs between light and dark in more than its colors";

function darkColors(marks: readonly Mark[], dark: readonly Mark[]): Map<string, string> {
  const colors = new Map<string, string>();
  const add = (name: string, light: string, other: string) => {
    if (!light) return;
    const key = `${name}${plain(light)}`;
    const known = colors.get(key);
    colors.set(key, known === undefined || known === plain(other) ? plain(other) : "");
  };
  marks.forEach(({ style }, at) => {
    add("fill", style.fill, dark[at]!.style.fill);
    add("stroke", style.stroke, dark[at]!.style.stroke);
  });
  return colors;
}

class Writer {
  readonly #dark: Map<string, string>;
  readonly #body: string[] = [];
  readonly #rules = new Map<string, string>();
  #run: { kind: Mark["kind"]; style: string; items: string[] } = {
    kind: "end",
    style: "",
    items: [],
  };
  /** The last styles with their text; most often reused. */
  #last: { style: Style; dark: Style; written: string } | null = null;
  #open = 0;

  constructor(dark: Map<string, string>) {
    this.#dark = dark;
  }

  add(mark: Mark, dark: Mark): void {
    if (mark !== dark && !haveOneShape(mark, dark)) throw new Error(DIFFERENT);
    const { kind, content } = mark;
    if (kind === "clip" || kind === "end") {
      this.#flush();
      this.#body.push(kind === "clip" ? clipping(content) : "</g>");
      this.#open += kind === "clip" ? 1 : -1;
      return;
    }
    const style = this.#written(mark.style, dark.style);
    if (this.#run.kind !== kind || this.#run.style !== style) {
      this.#flush();
      this.#run = { kind, style, items: [] };
    }
    this.#run.items.push(content);
  }

  end(): string {
    this.#flush();
    this.#body.push("</g>".repeat(this.#open));
    return this.#styleSheet() + this.#body.join("");
  }

  #flush(): void {
    const { kind, style, items } = this.#run;
    if (!items.length) return;
    if (kind === "shape") this.#body.push(`<path d="${items.join("")}"${style}/>`);
    else if (items.length > 1) this.#body.push(`<g${style}>${items.join("")}</g>`);
    else this.#body.push(items[0]!.replace(/^<\w+/, (tag) => tag + style));
    this.#run = { kind: "end", style: "", items: [] };
  }

  #written(style: Style, dark: Style): string {
    if (this.#last?.style !== style || this.#last.dark !== dark) {
      this.#last = { style, dark, written: this.#attributes(style, dark) };
    }
    return this.#last.written;
  }

  #attributes({ fill, stroke, opacity, rest }: Style, dark: Style): string {
    const classes: string[] = [];
    const colors = [this.#color("fill", fill, dark.fill, classes)];
    if (stroke) colors.push(this.#color("stroke", stroke, dark.stroke, classes));
    const alpha = opacity && ` ${stroke ? "stroke" : "fill"}-opacity="${opacity}"`;
    const named = classes.length ? ` class="${classes.join(" ")}"` : "";
    return `${colors.join("")}${alpha}${rest}${named}`;
  }

  #color(name: "fill" | "stroke", color: string, dark: string, classes: string[]): string {
    const [light, other] = [plain(color), plain(dark)];
    if (light !== other) {
      if (this.#dark.get(`${name}${light}`)) {
        this.#rules.set(`[${name}="${light}"]`, `${name}:${other}`);
      } else {
        const both = `${name[0]}${light}${other}`.replace(/\W/g, "");
        this.#rules.set(`.${both}`, `${name}:${other}`);
        classes.push(both);
      }
    }
    return ` ${name}="${escaped(light)}"`;
  }

  /** Viewers without support for the query stay light. */
  #styleSheet(): string {
    if (!this.#rules.size) return "";
    const rules = [...this.#rules].sort(([a], [b]) => (a < b ? -1 : 1));
    const written = rules.map(([which, rule]) => `.tvmdbg-figure ${which}{${rule}}`);
    return element("style", `@media (prefers-color-scheme:dark){${written.join("")}}`);
  }
}

export function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

/** True if two marks differ only in colors. */
function haveOneShape(mark: Mark, other: Mark): boolean {
  return (
    mark.content === other.content &&
    mark.kind === other.kind &&
    mark.style.opacity === other.style.opacity &&
    mark.style.rest === other.style.rest
  );
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
