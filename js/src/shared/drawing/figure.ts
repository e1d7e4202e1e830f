import type { RunReplies } from "../client/answers.ts";
import type { Client } from "../client/client.ts";
import { NO_STYLE, parsedFont, SvgContext, type TextRuler } from "./svg_context.ts";
import { element, escaped, type Mark, markup } from "./svg_marks.ts";
import { markupOfBoth } from "./svg_schemes.ts";
import type { TextWidths } from "./text_widths.ts";
import { figureTheme, type Theme } from "./theme.ts";

/** Color schemes of a figure; "auto" is dark if the reader prefers it. */
export type ThemeName = "light" | "dark" | "auto";

/** Request for a view's figure: its options, and what answers its questions. */
export interface FigureRequest<O = unknown, R extends object = RunReplies> {
  options: O;
  width: number;
  theme: ThemeName;
  view: string;
  title: string;
  text: TextWidths;
  client: Client<R>;
  /** Number of nodes above which a figure asks only for the names that it shows. */
  mostNodes: number;
}

export interface Drawing {
  svg: string;
  text: string;
  description: Record<string, unknown>;
  /** Positions are shares of the picture's width and height. */
  hover?: readonly HoverText[];
  /** Images drawn by `FigurePen.cells`; `figures/engine.py` writes them into the document. */
  images?: readonly CellImage[];
}

export interface CellImage {
  cols: number;
  rows: number;
  pixels: Uint8ClampedArray;
}

/** Records a figure, which may hold images of cells. */
export class FigurePen extends SvgContext {
  readonly images: CellImage[] = [];

  /** Draws cells, one pixel per cell, into a box; the document's writer fills in the pixels. */
  cells(image: CellImage, x: number, y: number, width: number, height: number): void {
    const box = this.boxOf(x, y, width, height);
    // Browsers know the CSS value, rasterisers the one of SVG 1.1.
    const sharp = 'image-rendering="optimizeSpeed" style="image-rendering:pixelated"';
    const href = `href="tvmdbg-image:${this.images.length}"`;
    const content = `<image ${box} preserveAspectRatio="none" ${sharp} ${href}/>`;
    this.marks.push({ kind: "element", content, style: NO_STYLE });
    this.images.push(image);
  }
}

export interface HoverText {
  x: number;
  y: number;
  width: number;
  height: number;
  text: string;
}

/** What a view draws without a DOM, alone or inside the figure of another. */
export interface FigurePanel {
  /** px, if it is not that of the request. */
  width?: number;
  height: number;
  title: string;
  /** Description for readers who do not see the picture. */
  words: string;
  text: string;
  description: Drawing["description"];
  hover?: readonly HoverText[];
  titles?: readonly HoverText[];
  /** Called once per color scheme; must differ in colors only. */
  paint: (pen: FigurePen, theme: Theme) => void;
}

// biome-ignore lint/suspicious/noExplicitAny: each maker knows its options
type AnyRequest = FigureRequest<any, any>;
export type FigureMaker = (request: AnyRequest) => FigurePanel | Promise<FigurePanel>;

export const MONO =
  "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace";

/** A panel as a document on an opaque ground, so that any page may hold it. */
export function panelDrawing(
  request: Pick<FigureRequest, "width" | "theme" | "text">,
  panel: FigurePanel,
): Drawing {
  const { theme, text } = request;
  const { hover = [], titles = [] } = panel;
  const [wide, high] = [Math.ceil(panel.width ?? request.width), Math.ceil(panel.height)];
  let images: readonly CellImage[] = [];
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
    panel.paint(pen, colors);
    images = pen.images;
    return pen.marks;
  };
  const marks = drawn(theme === "dark");
  const body = theme === "auto" ? markupOfBoth(marks, drawn(true)) : markup(marks);
  const look = ` role="img" font-family="${escaped(text.font)}" style="max-width:100%;height:auto"`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" class="tvmdbg-figure" viewBox="0 0 ${wide} ${high}"`,
    ` width="${wide}" height="${high}"${look}>`,
    element("title", escaped(panel.title)),
    element("desc", escaped(panel.words)),
    `${body}${places([...hover, ...titles])}</svg>`,
  ].join("");
  const shares = hover.map((place) => ({
    x: place.x / wide,
    y: place.y / high,
    width: place.width / wide,
    height: place.height / high,
    text: hint(place.text),
  }));
  return { svg, images, text: panel.text, description: panel.description, hover: shares };
}

/** Longest tooltip: names may be of any length, and many parts may share one. */
const MOST_HINT = 1000;

function hint(text: string): string {
  if (text.length <= MOST_HINT) return text;
  return `${text.slice(0, MOST_HINT).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Invisible elements with tooltips. */
function places(hover: readonly HoverText[]): string {
  if (!hover.length) return "";
  const boxes = hover.map(({ x, y, width, height, text }) => {
    const [left, top, wide, high] = [x, y, width, height].map((size) => Math.round(size * 10) / 10);
    const box = `x="${left}" y="${top}" width="${wide}" height="${high}"`;
    const words = hint(text).split("\n").map(escaped).join("&#10;");
    return `<rect ${box}>${element("title", words)}</rect>`;
  });
  return `<g fill="none" pointer-events="all">${boxes.join("")}</g>`;
}

export function pencil(text: TextWidths): FigurePen {
  return new FigurePen(rulerOf(text), 1);
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

const SHIFTS: Partial<Record<CanvasTextBaseline, number>> = {
  top: 0.8,
  hanging: 0.8,
  middle: 0.31,
  bottom: -0.2,
  ideographic: -0.2,
};

export const MARGIN = 14;
export const LINE = 16;
export const SMALL = 11;
const TITLE = 13;
const APART = 10;

export interface FigurePart {
  height: number;
  paint: (pen: FigurePen, theme: Theme, top: number) => void;
}

interface Phrase {
  text: string;
  bold?: boolean;
  color?: string;
}

/** A paragraph of at most so many lines. */
export interface Note extends Phrase {
  most: number;
}

export function smallWriter(pen: SvgContext, theme: Theme) {
  pen.font = `${SMALL}px ${theme.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  return (text: string, x: number, y: number, color: string): void => {
    pen.fillStyle = color;
    pen.fillText(text, MARGIN + x, y);
  };
}

export function paragraph(
  { text, bold = false, color = "" }: Phrase,
  room: number,
  widths: TextWidths,
  most = 4,
): FigurePart {
  const size = bold ? TITLE : SMALL;
  const lines = widths.wrap(text, room, size, most, bold);
  return {
    height: lines.length * LINE,
    paint(pen, theme, top) {
      pen.font = `${bold ? "600 " : ""}${size}px ${theme.font}`;
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      pen.fillStyle = colorOf(theme, color);
      lines.forEach((line, at) => {
        pen.fillText(line, MARGIN, top + (at + 0.5) * LINE);
      });
    },
  };
}

export function heading(
  title: string,
  detail: string,
  room: number,
  widths: TextWidths,
): FigurePart {
  const first = paragraph({ text: title, bold: true }, room, widths);
  const taken = widths.width(title, TITLE, true) + APART;
  const below = paragraph({ text: detail, color: "muted" }, room, widths);
  if (taken + widths.width(detail, SMALL) > room) {
    return {
      height: first.height + below.height,
      paint(pen, theme, top) {
        first.paint(pen, theme, top);
        below.paint(pen, theme, top + first.height);
      },
    };
  }
  return {
    height: first.height,
    paint(pen, theme, top) {
      first.paint(pen, theme, top);
      pen.font = `${SMALL}px ${theme.font}`;
      pen.fillStyle = theme.muted;
      pen.fillText(detail, MARGIN + taken, top + LINE / 2);
    },
  };
}

export interface Chip {
  name: string;
  fill?: (theme: Theme) => string;
  alpha?: number;
}

export function chips(items: readonly Chip[], room: number, widths: TextWidths): FigurePart {
  const places: [x: number, row: number][] = [];
  let [x, row] = [0, 0];
  for (const { name, fill } of items) {
    const wide = (fill ? 28 : 13) + widths.width(name, SMALL);
    if (x > 0 && x + wide > room) [x, row] = [0, row + 1];
    places.push([x, row]);
    x += wide;
  }
  return {
    height: items.length ? (row + 1) * LINE + 8 : 0,
    paint(pen, theme, top) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      items.forEach(({ name, fill, alpha = 1 }, at) => {
        const [left, line] = places[at]!;
        const y = top + line * LINE + LINE / 2;
        if (fill) {
          pen.globalAlpha = alpha;
          pen.fillStyle = fill(theme);
          pen.fillRect(MARGIN + left, y - 5, 10, 10);
          pen.globalAlpha = 1;
        }
        pen.fillStyle = theme.muted;
        pen.fillText(name, MARGIN + left + (fill ? 15 : 0), y);
      });
    },
  };
}

export function colorOf(theme: Theme, severity: string): string {
  if (severity === "error") return theme.error;
  if (severity === "warning") return theme.warning;
  return severity === "muted" ? theme.muted : theme.text;
}

export function space(height: number): FigurePart {
  return { height, paint() {} };
}

export function paintParts(parts: readonly FigurePart[], pen: FigurePen, theme: Theme): void {
  let top = MARGIN;
  for (const part of parts) {
    part.paint(pen, theme, top);
    top += part.height;
  }
}

export function heightOf(parts: readonly FigurePart[]): number {
  return parts.reduce((sum, part) => sum + part.height, 2 * MARGIN);
}

/** Figure of a view whose part of the run is missing: the part, the reason, and how to get it. */
export function lacking(
  { view, title, width, text }: Pick<FigureRequest, "view" | "title" | "width" | "text">,
  head: string,
  why: string,
): FigurePanel {
  const room = width - 2 * MARGIN;
  const parts = [
    heading(head, title, room, text),
    paragraph({ text: why, color: "muted" }, room, text, 12),
  ];
  return {
    height: heightOf(parts),
    title: `${head}: ${title}`,
    words: why,
    text: `${title}: ${head[0]!.toLowerCase()}${head.slice(1)}. ${why}`,
    description: { view, title, missing: why },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
