import {
  type Drawing,
  type FigurePart,
  type FigureRequest,
  fieldTint,
  type HoverText,
  heightOf,
  LINE,
  MARGIN,
  MONO,
  paintParts,
  paragraph,
  SMALL,
  shares,
  svgDocument,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, integer } from "../shared/format.ts";
import { largest } from "../shared/many.ts";

/** Bytes and their fields, as in `figures/engine.py`. */
interface ByteMapData {
  title: string;
  text: string;
  rows: readonly FieldRow[];
  rowsLeftOut: number;
  perLine: number;
  lines: readonly HexLine[];
  rest: number;
  missing: number;
}

interface FieldRow {
  depth: number;
  name: string;
  offset: number;
  size: number;
  kind: "group" | "number" | "pointer" | "text" | "data" | "padding" | "unknown";
  value: string;
  note: string;
  hex: string;
}

export interface HexLine {
  offset: number;
  size: number;
  /** Omitted bytes before the line. */
  left_out: number;
}

interface Run {
  row: number;
  first: number;
  end: number;
}

/** The runs of a line, whose bytes begin at `start` of `owners`. */
export function runsOf(owners: Int32Array, start: number, size: number): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < size; at++) {
    const row = owners[start + at]!;
    const last = runs.at(-1);
    if (last?.row === row) last.end = at + 1;
    else runs.push({ row, first: at, end: at + 1 });
  }
  return runs;
}

function fieldWords({ name, offset, size, value, note, hex }: FieldRow): string {
  const lines = [`${name}: ${size === 1 ? "byte" : counted(size, "byte")} at ${offset}`];
  if (value) lines.push(value);
  if (hex) lines.push(hex);
  if (note) lines.push(`! ${note}`);
  return lines.join("\n");
}

const INDENT = 14;
const MOST_DEPTH = 8;
const SWATCH = 9;
const NOTE_LINES = 3;

function offsetDigits({ rows, lines }: ByteMapData): number {
  const last = largest(
    rows.map(({ offset }) => offset),
    lines.at(-1)?.offset ?? 0,
  );
  return Math.max(4, last.toString(16).length);
}

interface PlacedField {
  row: FieldRow;
  at: number;
  y: number;
  left: number;
  name: string;
  value: string;
  note: readonly string[];
}

function fieldFill(theme: Theme, rows: readonly FieldRow[], at: number): string {
  const row = rows[at];
  if (!row || row.kind === "padding" || row.kind === "group") return theme.background;
  return fieldTint(theme, at);
}

function fieldTree(
  data: ByteMapData,
  room: number,
  text: TextWidths,
  top: number,
): { part: FigurePart; hover: readonly HoverText[] } {
  const nameRoom = Math.round(room * 0.34);
  const digits = offsetDigits(data);
  const offsets = data.rows.map(({ offset }) => offset.toString(16).padStart(digits, "0"));
  const sizes = data.rows.map(({ size }) => integer(size));
  const [offsetWide, sizeWide] = [
    ["offset", ...offsets],
    ["size", ...sizes],
  ].map((words) => 12 + largest(words.map((word) => text.width(word, SMALL)))) as [number, number];
  const offsetRight = MARGIN + nameRoom + offsetWide;
  const sizeRight = offsetRight + sizeWide;
  const valueLeft = sizeRight + 12;
  const valueRoom = MARGIN + room - valueLeft;
  const placed: PlacedField[] = [];
  let y = LINE;
  data.rows.forEach((row, at) => {
    const left = MARGIN + INDENT * Math.min(row.depth, MOST_DEPTH) + SWATCH + 5;
    const noteRoom = MARGIN + room - left - 14;
    const note = row.note ? text.wrap(row.note, noteRoom, SMALL, NOTE_LINES) : [];
    const isGroup = row.kind === "group";
    placed.push({
      row,
      at,
      y,
      left,
      name: text.fit(row.name, MARGIN + nameRoom - left, SMALL, isGroup),
      value: text.fit(row.value, valueRoom, SMALL),
      note,
    });
    y += LINE * (1 + note.length);
  });
  const more = data.rowsLeftOut ? `and ${counted(data.rowsLeftOut, "more field")}` : "";
  const height = y + (more ? LINE : 0) + 8;
  const hover = placed.map(({ row, y, note }) => ({
    x: MARGIN,
    y: top + y,
    width: room,
    height: LINE * (1 + note.length),
    text: fieldWords(row),
  }));
  const part: FigurePart = {
    height,
    paint(pen, theme, from) {
      pen.textBaseline = "middle";
      const put = (
        words: string,
        x: number,
        line: number,
        color: string,
        align: CanvasTextAlign,
      ) => {
        pen.textAlign = align;
        pen.fillStyle = color;
        pen.fillText(words, x, from + line + LINE / 2);
      };
      pen.font = `${SMALL}px ${theme.font}`;
      put("field", MARGIN, 0, theme.muted, "left");
      put("offset", offsetRight, 0, theme.muted, "right");
      put("size", sizeRight, 0, theme.muted, "right");
      put("value", valueLeft, 0, theme.muted, "left");
      for (const { row, at, y, left, name, value, note } of placed) {
        const isGroup = row.kind === "group";
        if (!isGroup) {
          pen.fillStyle = fieldFill(theme, data.rows, at);
          pen.fillRect(left - SWATCH - 5, from + y + 3.5, SWATCH, SWATCH);
          pen.strokeStyle = theme.muted;
          pen.lineWidth = 0.75;
          pen.strokeRect(left - SWATCH - 5, from + y + 3.5, SWATCH, SWATCH);
        }
        pen.font = `${isGroup ? "600 " : ""}${SMALL}px ${theme.font}`;
        put(name, left - (isGroup ? SWATCH + 5 : 0), y, theme.text, "left");
        pen.font = `${SMALL}px ${theme.font}`;
        put(offsets[at]!, offsetRight, y, theme.muted, "right");
        put(sizes[at]!, sizeRight, y, theme.muted, "right");
        put(value, valueLeft, y, theme.text, "left");
        note.forEach((line, below) => {
          const color = theme.warning;
          if (!below) put("!", left + 3, y + LINE, color, "left");
          put(line, left + 12, y + (below + 1) * LINE, color, "left");
        });
      }
      put(more, MARGIN, height - LINE - 8, theme.muted, "left");
    },
  };
  return { part, hover };
}

const HIGH = 18;
const GAP = 10;
const LEAST = 18;
const MOST = 24;

function hexLines(
  data: ByteMapData,
  bytes: Uint8Array,
  owners: Int32Array,
  room: number,
  widths: TextWidths,
  top: number,
): { part: FigurePart; hover: readonly HoverText[] } {
  const { perLine, rows } = data;
  const digits = offsetDigits(data);
  const letter = widths.width("0", SMALL, false, true) + 1;
  const hexLeft = MARGIN + digits * letter + GAP;
  const left = MARGIN + room - hexLeft - GAP - perLine * letter;
  const cell = Math.max(LEAST, Math.min(MOST, left / perLine));
  const textLeft = hexLeft + perLine * cell + GAP;

  const lines: { y: number; offset: number; start: number; runs: readonly Run[] }[] = [];
  const notes: { y: number; text: string }[] = [];
  let [y, start] = [4, 0];
  const note = (text: string) => {
    notes.push({ y, text });
    y += HIGH;
  };
  for (const { offset, size, left_out } of data.lines) {
    if (left_out) note(`… ${counted(left_out, "more byte")}`);
    lines.push({ y, offset, start, runs: runsOf(owners, start, size) });
    start += size;
    y += HIGH;
  }
  if (data.rest) note(`… ${counted(data.rest, "more byte")}`);
  if (data.missing) note(`${counted(data.missing, "byte")} of these fields are not here`);

  const hover = lines.flatMap(({ y, runs }) =>
    runs
      .filter(({ row }) => rows[row])
      .map(({ row, first, end }) => ({
        x: hexLeft + first * cell,
        y: top + y,
        width: (end - first) * cell,
        height: HIGH,
        text: fieldWords(rows[row]!),
      })),
  );
  const part: FigurePart = {
    height: y + 4,
    paint(pen, theme, from) {
      pen.textBaseline = "middle";
      pen.lineWidth = 0.75;
      for (const { y, runs } of lines) {
        for (const { row, first, end } of runs) {
          if (!rows[row] || rows[row].kind === "group") continue;
          const wide = end - first;
          const x = hexLeft + first * cell;
          pen.fillStyle = fieldFill(theme, rows, row);
          pen.fillRect(x, from + y + 1.5, wide * cell, HIGH - 3);
          pen.fillRect(textLeft + first * letter, from + y + 1.5, wide * letter, HIGH - 3);
          pen.strokeStyle = rows[row].note ? theme.warning : theme.muted;
          pen.strokeRect(x + 0.5, from + y + 1.5, wide * cell - 1, HIGH - 3);
        }
      }
      for (const { y, offset, start, runs } of lines) {
        const middle = from + y + HIGH / 2;
        pen.font = `${SMALL}px ${MONO}`;
        pen.fillStyle = theme.muted;
        pen.textAlign = "left";
        pen.fillText(offset.toString(16).padStart(digits, "0"), MARGIN, middle);
        pen.fillStyle = theme.text;
        for (const { first, end } of runs) {
          const shown = Array.from(bytes.subarray(start + first, start + end), letterOf).join("");
          pen.fillText(shown, textLeft + first * letter + 0.5, middle);
        }
        pen.textAlign = "center";
        for (let at = 0; at < runs.at(-1)!.end; at++) {
          const hex = bytes[start + at]!.toString(16).padStart(2, "0");
          pen.fillText(hex, hexLeft + (at + 0.5) * cell, middle);
        }
      }
      pen.font = `${SMALL}px ${theme.font}`;
      pen.fillStyle = theme.muted;
      pen.textAlign = "left";
      for (const { y, text } of notes) pen.fillText(text, hexLeft, from + y + HIGH / 2);
    },
  };
  return { part, hover };
}

function letterOf(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·";
}

export function byteMapFigure(request: FigureRequest<ByteMapData, Record<string, never>>): Drawing {
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
