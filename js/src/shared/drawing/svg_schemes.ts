import { element, type Mark, MarkWriter, plain, type Style } from "./svg_marks.ts";

/**
 * Marks of one drawing in both color schemes; a color that differs in the dark one becomes a class, unless the light
 * color always maps to the same dark one.
 */
export function markupOfBoth(marks: readonly Mark[], dark: readonly Mark[]): string {
  if (dark.length !== marks.length || !marks.every((mark, at) => haveOneShape(mark, dark[at]!))) {
    throw new Error("a drawing differs between light and dark in more than its colors");
  }
  const writer = new SchemesWriter(darkColors(marks, dark));
  const body = writer.markup(marks, dark);
  return writer.styleSheet() + body;
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

class SchemesWriter extends MarkWriter {
  readonly #dark: Map<string, string>;
  readonly #rules = new Map<string, string>();
  #classes: string[] = [];

  constructor(dark: Map<string, string>) {
    super();
    this.#dark = dark;
  }

  protected override attributes(style: Style, dark: Style): string {
    this.#classes = [];
    const written = super.attributes(style, dark);
    return written + (this.#classes.length ? ` class="${this.#classes.join(" ")}"` : "");
  }

  protected override color(name: "fill" | "stroke", color: string, dark: string): string {
    const [light, other] = [plain(color), plain(dark)];
    if (light !== other) {
      if (this.#dark.get(`${name}${light}`)) {
        this.#rules.set(`[${name}="${light}"]`, `${name}:${other}`);
      } else {
        const both = `${name[0]}${light}${other}`.replace(/\W/g, "");
        this.#rules.set(`.${both}`, `${name}:${other}`);
        this.#classes.push(both);
      }
    }
    return super.color(name, color, dark);
  }

  /** Viewers without support for the query stay light. */
  styleSheet(): string {
    if (!this.#rules.size) return "";
    const rules = [...this.#rules].sort(([a], [b]) => (a < b ? -1 : 1));
    const written = rules.map(([which, rule]) => `.tvmdbg-figure ${which}{${rule}}`);
    return element("style", `@media (prefers-color-scheme:dark){${written.join("")}}`);
  }
}
