import { channels } from "./theme.ts";
import { escaped } from "./xml_text.ts";

/** How a mark is painted. Colors stand apart from all else: they alone differ between light and dark. */
export interface Style {
  fill: string;
  /** Empty where there is none. */
  stroke: string;
  /** Empty where it is opaque. */
  opacity: string;
  /** Other attributes, each with a space before it. */
  rest: string;
}

/** One thing that is drawn; paths that are `joined` become one where they follow each other in one style. */
export type Mark =
  | { kind: "path" | "joined"; data: string; style: Style }
  | { kind: "text"; attributes: string; text: string; style: Style }
  | { kind: "clip"; data: string }
  | { kind: "end" };

/**
 * Marks as elements of an SVG; those of one style that follow each other share it.
 *
 * @param dark  The same marks as they look where dark is preferred; a color that is another there becomes a class.
 */
export function markup(marks: readonly Mark[], dark: readonly Mark[] = marks): string {
  if (dark.length !== marks.length) throw new Error(DIFFERENT);
  const writer = new Writer();
  marks.forEach((mark, at) => {
    writer.add(mark, dark[at]!);
  });
  return writer.end();
}

const DIFFERENT = "a drawing differs between light and dark in more than its colors";

class Writer {
  readonly #body: string[] = [];
  /** What stands for dark, by class. */
  readonly #rules = new Map<string, string>();
  /** Marks of one style that follow each other. */
  #run: { kind: Mark["kind"]; style: string; items: string[] } = {
    kind: "end",
    style: "",
    items: [],
  };
  #open = 0;

  add(mark: Mark, dark: Mark): void {
    if (mark !== dark && shapeOf(mark) !== shapeOf(dark)) throw new Error(DIFFERENT);
    if (mark.kind === "clip" || mark.kind === "end") {
      this.#flush();
      this.#body.push(mark.kind === "clip" ? clipping(mark.data) : "</g>");
      this.#open += mark.kind === "clip" ? 1 : -1;
      return;
    }
    const style = this.#attributes(mark.style, (dark as typeof mark).style);
    if (this.#run.kind !== mark.kind || this.#run.style !== style) {
      this.#flush();
      this.#run = { kind: mark.kind, style, items: [] };
    }
    this.#run.items.push(elementOf(mark));
  }

  end(): string {
    this.#flush();
    this.#body.push("</g>".repeat(this.#open));
    return this.#styleSheet() + this.#body.join("");
  }

  #flush(): void {
    const { kind, style, items } = this.#run;
    if (!items.length) return;
    if (kind === "joined") this.#body.push(`<path d="${items.join("")}"${style}/>`);
    else if (items.length > 1) this.#body.push(`<g${style}>${items.join("")}</g>`);
    else this.#body.push(items[0]!.replace(/^<\w+/, (tag) => tag + style));
    this.#run = { kind: "end", style: "", items: [] };
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
      const both = `${name[0]}${light.slice(1)}${other.slice(1)}`;
      this.#rules.set(both, `${name}:${other}`);
      classes.push(both);
    }
    return ` ${name}="${escaped(light)}"`;
  }

  /** What knows no such query stays light. */
  #styleSheet(): string {
    if (!this.#rules.size) return "";
    const rules = [...this.#rules].sort(([a], [b]) => (a < b ? -1 : 1));
    const written = rules.map(([name, rule]) => `.tvmdbg-figure .${name}{${rule}}`);
    return `<style>@media (prefers-color-scheme:dark){${written.join("")}}</style>`;
  }
}

/** All of a mark but its colors. */
function shapeOf(mark: Mark): string {
  if (mark.kind === "end") return mark.kind;
  if (mark.kind === "clip") return `${mark.kind} ${mark.data}`;
  const { opacity, rest } = mark.style;
  const drawn = mark.kind === "text" ? `${mark.attributes} ${mark.text}` : mark.data;
  return `${mark.kind} ${drawn} ${opacity} ${rest}`;
}

function elementOf(mark: Exclude<Mark, { kind: "clip" | "end" }>): string {
  if (mark.kind === "text") return `<text${mark.attributes}>${escaped(mark.text)}</text>`;
  return mark.kind === "joined" ? mark.data : `<path d="${mark.data}"/>`;
}

/** The start of a group within a path. A figure beside it whose clip has the same name has the same path too. */
function clipping(data: string): string {
  let hash = 0;
  for (let i = 0; i < data.length; i++) hash = (Math.imul(hash, 31) + data.charCodeAt(i)) >>> 0;
  const id = `tvmdbg-clip-${hash.toString(36)}`;
  return `<clipPath id="${id}"><path d="${data}"/></clipPath><g clip-path="url(#${id})">`;
}

/** A color as "#rrggbb" where it is one of RGB. */
function plain(color: string): string {
  if (!/^(#([0-9a-f]{3}|[0-9a-f]{6})|rgb\([\d., ]+\))$/i.test(color)) return color;
  const bits = channels(color).reduce((sum, value) => sum * 256 + Math.round(value), 0);
  return `#${bits.toString(16).padStart(6, "0")}`;
}
