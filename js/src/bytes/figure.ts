import { type Drawing, type FigureRequest, shares, svgDocument } from "../shared/drawing/figure.ts";
import { heightOf, MARGIN, paintParts, paragraph } from "../shared/drawing/figure_parts.ts";
import type { ByteMapData } from "./data.ts";
import { hexLines } from "./hex.ts";
import { fieldTree } from "./tree.ts";

type Request = FigureRequest<ByteMapData, Record<string, never>>;

/** Fields as a tree, and the bytes that they are made of below. */
export function byteMapFigure(request: Request): Drawing {
  const { data, columns, width, text } = request;
  const room = width - 2 * MARGIN;
  const heading = paragraph({ text: data.title, bold: true }, room, text);
  const tree = fieldTree(data, room, text, MARGIN + heading.height);
  const [bytes, owners] = [columns.bytes as Uint8Array, columns.owners as Int32Array];
  const top = MARGIN + heading.height + tree.part.height;
  const hex = hexLines(data, bytes, owners, room, text, top);
  const parts = [heading, tree.part, hex.part];
  const height = heightOf(parts);
  const hover = [...tree.hover, ...hex.hover];
  const page = { height, title: data.title, words: data.text, hover };
  const svg = svgDocument(request, page, (pen, theme) => paintParts(parts, pen, theme));
  const { title, rows, rowsLeftOut, lines, rest, missing } = data;
  return {
    svg,
    text: data.text,
    description: { title, rows, rows_left_out: rowsLeftOut, lines, rest, missing },
    hover: shares(hover, width, height),
  };
}
