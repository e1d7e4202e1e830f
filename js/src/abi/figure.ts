import { type Drawing, type FigureRequest, shares, svgDocument } from "../shared/drawing/figure.ts";
import { MARGIN, paragraph } from "../shared/drawing/figure_parts.ts";
import type { StructData } from "./data.ts";
import { paintStructs } from "./painter.ts";
import { type Arrangement, arrange, hoverOf } from "./panel.ts";

type Request = FigureRequest<StructData, Record<string, never>>;

/** Layouts of one struct beside each other, byte by byte, and the bytes of a dump in them. */
export function structFigure(request: Request): Drawing {
  const { data, columns, width, text } = request;
  const dump = columns.dump as Uint8Array;
  const room = width - 2 * MARGIN;
  const heading = paragraph({ text: data.title, bold: true }, room, text);
  const place = { left: MARGIN, top: MARGIN + heading.height + 4, room };
  const arranged = arrange(data.layouts, dump.length > 0, place, text);
  const height = arranged.bottom + MARGIN;
  const hover = arranged.panels.flatMap(hoverOf);
  const page = { height, title: data.title, words: data.text, hover };
  const svg = svgDocument(request, page, (pen, theme) => {
    heading.paint(pen, theme, MARGIN);
    paintStructs(arranged, dump, pen, theme);
  });
  return {
    svg,
    text: data.text,
    description: describe(data, arranged, dump),
    hover: shares(hover, width, height),
  };
}

function describe(
  { title, layouts }: StructData,
  { panels, moves }: Arrangement,
  dump: Uint8Array,
): Drawing["description"] {
  return {
    title,
    dump: dump.length,
    beside: new Set(panels.map(({ x }) => x)).size,
    layouts: layouts.map(({ label, size, align, verdict, sense, changes, problems, sections }) => ({
      label,
      size,
      align,
      verdict,
      sense,
      changes,
      problems,
      sections,
    })),
    moves: moves.map(({ part }) => part.path),
  };
}
