import type { Column } from "../client/columns.ts";
import { append } from "../many.ts";
import { type CellImage, parsedFont, SvgContext, type TextRuler } from "./svg_context.ts";
import { element, type Mark, markup } from "./svg_marks.ts";
import type { TextWidths } from "./text_widths.ts";
import { figureTheme, type Theme } from "./theme.ts";
import { escaped } from "./xml_text.ts";

/** The color schemes of a figure; "auto" is dark where the reader prefers it. */
export type ThemeName = "light" | "dark" | "auto";

/** What a view's figure is made of; `D`, `O`, `A` and `C` are the view's own. */
export interface FigureRequest<D = unknown, O = unknown, A = unknown, C = Record<string, Column>> {
  data: D;
  /** What a run answers to the questions of the live view, by question. */
  answers: A;
  /** As the live view has them. */
  columns: C;
  options: O;
  /** px. */
  width: number;
  theme: ThemeName;
  /** Of the view. */
  view: string;
  text: TextWidths;
}

/** A figure, the same in words, and the facts behind both. */
export interface Drawing {
  /** Made by `svgDocument`. */
  svg: string;
  text: string;
  description: Record<string, unknown>;
  /** In shares of the picture's width and height. */
  hover?: readonly Hover[];
  /** What `SvgContext.cells` drew; `figures/engine.py` writes it into the document. */
  images?: readonly CellImage[];
}

/** A part of a picture (px where nothing else is said), and what is said where the pointer rests there. */
export interface Hover {
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
}

/** A figure before it is a document, so that several may stand below each other in one. */
export interface FigurePanel extends Page {
  /** The figure as text. */
  text: string;
  description: Drawing["description"];
  /** Draws from the pen's origin down. */
  paint: (pen: SvgContext, theme: Theme) => void;
}

/** A panel as a figure of its own. */
export function panelDrawing(
  request: Pick<FigureRequest, "width" | "theme" | "text">,
  panel: FigurePanel,
): Drawing {
  const { height, text, description, hover = [] } = panel;
  const images: CellImage[] = [];
  return {
    svg: svgDocument(request, panel, (pen, theme) => {
      panel.paint(pen, theme);
      images.length = 0;
      append(images, pen.images);
    }),
    images,
    text,
    description,
    hover: shares(hover, request.width, height),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each maker knows what Python hands to it
export type FigureMaker = (request: FigureRequest<any, any, any, any>) => Drawing;

/** Fonts of one width for a painter's `font`; as wide as `TextWidths` takes them. */
export const MONO =
  "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace";

export interface Page {
  /** px. */
  height: number;
  title: string;
  /** For those who do not see the picture. */
  words: string;
  hover?: readonly Hover[];
  /** The same within the document alone, which says nothing where it stands in an image element. */
  titles?: readonly Hover[];
}

/**
 * What `paint` draws as a document on an opaque ground, so that any page may hold it.
 *
 * `paint` is called once a color scheme and draws the same in each, in other colors; `pen` measures texts with the
 * widths of the request, so that a `TextMeasure` made of it works as with a canvas.
 */
export function svgDocument(
  { width, theme, text }: Pick<FigureRequest, "width" | "theme" | "text">,
  { height, title, words, hover = [], titles = [] }: Page,
  paint: (pen: SvgContext, theme: Theme) => void,
): string {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  const drawn = (dark: boolean): Mark[] => {
    const pen = pencil(text);
    const colors = figureTheme(dark, text.font);
    pen.fillStyle = colors.background;
    pen.strokeStyle = colors.line;
    pen.beginPath();
    pen.roundRect(0.5, 0.5, wide - 1, high - 1, 4);
    pen.fill();
    pen.stroke();
    pen.fillStyle = colors.text;
    paint(pen, colors);
    return pen.marks;
  };
  const marks = drawn(theme === "dark");
  const body = theme === "auto" ? markup(marks, drawn(true)) : markup(marks);
  const look = ` role="img" font-family="${escaped(text.font)}" style="max-width:100%;height:auto"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="tvmdbg-figure" viewBox="0 0 ${wide} ${high}"`,
    ` width="${wide}" height="${high}"${look}>`,
    element("title", escaped(title)),
    element("desc", escaped(words)),
    `${body}${places([...hover, ...titles])}</svg>`,
  ].join("");
}

/** Characters of what is said where the pointer rests: names may be of any length, and many parts have the same. */
const MOST_SAID = 1000;

function hint(text: string): string {
  if (text.length <= MOST_SAID) return text;
  return `${text.slice(0, MOST_SAID).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Parts of a picture in shares of its size. */
export function shares(hover: readonly Hover[], width: number, height: number): Hover[] {
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  return hover.map(({ x, y, width, height, text }) => ({
    x: x / wide,
    y: y / high,
    width: width / wide,
    height: height / high,
    text: hint(text),
  }));
}

/** Elements that cannot be seen, and say something where the pointer rests. */
function places(hover: readonly Hover[]): string {
  if (!hover.length) return "";
  const boxes = hover.map(({ x, y, width, height, text }) => {
    const [left, top, wide, high] = [x, y, width, height].map((each) => Math.round(each * 10) / 10);
    const box = `x="${left}" y="${top}" width="${wide}" height="${high}"`;
    const said = hint(text).split("\n").map(escaped).join("&#10;");
    return `<rect ${box}>${element("title", said)}</rect>`;
  });
  return `<g fill="none" pointer-events="all">${boxes.join("")}</g>`;
}

/** A pen whose marks are not yet a document, also to measure texts before anything is drawn. */
export function pencil(text: TextWidths): SvgContext {
  return new SvgContext(rulerOf(text), 1);
}

function rulerOf(text: TextWidths): TextRuler {
  return {
    exact: false,
    family: text.font,
    width(words, font) {
      const { size, weight, family } = parsedFont(font);
      return text.width(words, size, Number(weight) >= 600, family.includes("monospace"));
    },
    shift: (font, baseline) => (SHIFTS[baseline] ?? 0) * parsedFont(font).size,
  };
}

/** How far letters stand below the line that a baseline names, in em. */
const SHIFTS: Partial<Record<CanvasTextBaseline, number>> = {
  top: 0.8,
  hanging: 0.8,
  middle: 0.31,
  bottom: -0.2,
  ideographic: -0.2,
};
