import {
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  type HoverText,
  heightOf,
  LINE,
  MARGIN,
  paintParts,
  paragraph,
  SMALL,
} from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { counted, integer } from "../shared/format.ts";
import { largest } from "../shared/many.ts";
import { fieldTint, hex, Ink, sentBytes } from "./ink.ts";

/** Bytes and the first of their fields; see `tvmdbg_widgets/figures/byte_map.py`. */
export interface ByteMapReply {
  text: string;
  rows: readonly FieldRow[];
  rowsLeftOut: number;
  bytes?: DataView;
}

interface ByteMap extends Pick<ByteMapReply, "rows" | "rowsLeftOut"> {
  bytes: Uint8Array;
  perLine: number;
  lines: readonly HexLine[];
  /** Bytes below the last line, and of fields beyond the bytes. */
  rest: number;
  missing: number;
  offsetOf: (place: { offset: number }) => string;
  room: number;
  text: TextWidths;
}

export interface FieldRow {
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

/** The bytes of a line by the innermost field around them, or -1. */
export function runsOf(rows: readonly FieldRow[], { offset, size }: HexLine): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < size; at++) {
    const row = rows.findLastIndex((field) => {
      return field.offset <= offset + at && offset + at < field.offset + field.size;
    });
    const last = runs.at(-1);
    if (last?.row === row) last.end = at + 1;
    else runs.push({ row, first: at, end: at + 1 });
  }
  return runs;
}

const MOST_LINES = 40;
/** Bytes of a field that is shown whole, and of the beginning of a longer one. */
const WHOLE = 96;
const BEGINNING = 32;

/** Lines with bytes of the lowest shown fields. */
export function hexLines(rows: readonly FieldRow[], length: number, perLine: number): HexLine[] {
  const lowest = rows.filter(({ depth }, at) => (rows[at + 1]?.depth ?? 0) <= depth);
  const lines: HexLine[] = [];
  let done = 0;
  for (const { offset, size } of lowest.sort((a, b) => a.offset - b.offset)) {
    const end = Math.min(offset + (size <= WHOLE ? size : BEGINNING), length);
    for (let at = Math.floor(offset / perLine) * perLine; offset < end && at < end; at += perLine) {
      if (at < done) continue;
      if (lines.length === MOST_LINES) return lines;
      lines.push({ offset: at, size: Math.min(perLine, length - at), left_out: at - done });
      done = at + lines.at(-1)!.size;
    }
  }
  return lines;
}

function fieldWords({ name, offset, size, value, note, hex }: FieldRow): string {
  const lines = [`${name}: ${size === 1 ? "byte" : counted(size, "byte")} at ${offset}`];
  if (value) lines.push(value);
  if (hex) lines.push(hex);
  if (note) lines.push(`! ${note}`);
  return lines.join("\n");
}

type HoveredPart = [part: FigurePart, hover: readonly HoverText[]];

const INDENT = 14;
const MOST_DEPTH = 8;
const SWATCH = 9;
const NOTE_LINES = 3;

function fieldFill(ink: Ink, rows: readonly FieldRow[], at: number): string {
  const kind = rows[at]?.kind ?? "group";
  return kind === "padding" || kind === "group" ? ink.theme.background : fieldTint(ink.theme, at);
}

function fieldTree({ rows, rowsLeftOut, offsetOf, room, text }: ByteMap, top: number): HoveredPart {
  const widest = (words: readonly string[]) =>
    largest(words.map((word) => text.width(word, SMALL))) + 12;
  const nameRight = MARGIN + Math.round(room * 0.34);
  const offsetRight = nameRight + widest(["offset", ...rows.map(offsetOf)]);
  const sizeRight = offsetRight + widest(["size", ...rows.map(({ size }) => integer(size))]);
  const valueLeft = sizeRight + 12;
  let y = LINE;
  const placed = rows.map((row, at) => {
    const left = MARGIN + INDENT * Math.min(row.depth, MOST_DEPTH) + SWATCH + 5;
    const isGroup = row.kind === "group";
    const name = text.fit(row.name, nameRight - left, SMALL, isGroup);
    const value = text.fit(row.value, MARGIN + room - valueLeft, SMALL);
    const note = text.wrap(row.note, MARGIN + room - left - 14, SMALL, NOTE_LINES);
    const place = { row, at, y, left, isGroup, name, value, note };
    y += LINE * (1 + note.length);
    return place;
  });
  const more = rowsLeftOut ? `and ${counted(rowsLeftOut, "more field")}` : "";
  const height = y + (more ? LINE : 0) + 8;
  const hover = placed.map(({ row, y, note }) => {
    const box = { x: MARGIN, y: top + y, width: room, height: LINE * (1 + note.length) };
    return { ...box, text: fieldWords(row) };
  });
  const part: FigurePart = {
    height,
    paint(pen, theme, from) {
      const ink = new Ink(pen, theme);
      const put = (words: string, x: number, line: number, color = theme.muted, bold = false) =>
        ink.words(words, x, from + line + LINE / 2, { color, bold });
      const end = (words: string, x: number, line: number) =>
        ink.words(words, x, from + line + LINE / 2, { color: theme.muted, align: "right" });
      put("field", MARGIN, 0);
      end("offset", offsetRight, 0);
      end("size", sizeRight, 0);
      put("value", valueLeft, 0);
      for (const { row, at, y, left, isGroup, name, value, note } of placed) {
        const swatch = { x: left - SWATCH - 5, y: from + y + 3.5, width: SWATCH, height: SWATCH };
        if (!isGroup) {
          ink.fill(swatch, fieldFill(ink, rows, at));
          ink.frame(swatch, theme.muted, 0.75);
        }
        put(name, isGroup ? swatch.x : left, y, theme.text, isGroup);
        end(offsetOf(row), offsetRight, y);
        end(integer(row.size), sizeRight, y);
        put(value, valueLeft, y, theme.text);
        note.forEach((line, below) => {
          if (!below) put("!", left + 3, y + LINE, theme.warning);
          put(line, left + 12, y + (below + 1) * LINE, theme.warning);
        });
      }
      put(more, MARGIN, height - LINE - 8);
    },
  };
  return [part, hover];
}

const HIGH = 18;
const GAP = 10;
const LEAST = 18;
const MOST = 24;

function hexPart(map: ByteMap, top: number): HoveredPart {
  const { rows, bytes, perLine, offsetOf, room, text } = map;
  const letter = text.width("0", SMALL, false, true) + 1;
  const hexLeft = MARGIN + offsetOf(rows[0]!).length * letter + GAP;
  const left = MARGIN + room - hexLeft - GAP - perLine * letter;
  const cell = Math.max(LEAST, Math.min(MOST, left / perLine));
  const textLeft = hexLeft + perLine * cell + GAP;

  const notes: { y: number; text: string }[] = [];
  let y = 4;
  const note = (text: string) => {
    notes.push({ y, text });
    y += HIGH;
  };
  const lines = map.lines.map((line) => {
    if (line.left_out) note(`… ${counted(line.left_out, "more byte")}`);
    y += HIGH;
    return { ...line, y: y - HIGH, runs: runsOf(rows, line) };
  });
  if (map.rest) note(`… ${counted(map.rest, "more byte")}`);
  if (map.missing) note(`${counted(map.missing, "byte")} of these fields are not here`);

  const hover = lines.flatMap(({ y, runs }) =>
    runs
      .filter(({ row }) => rows[row])
      .map(({ row, first, end }) => {
        const place = { x: hexLeft + first * cell, y: top + y, width: (end - first) * cell };
        return { ...place, height: HIGH, text: fieldWords(rows[row]!) };
      }),
  );
  const part: FigurePart = {
    height: y + 4,
    paint(pen, theme, from) {
      const ink = new Ink(pen, theme);
      for (const { y, runs } of lines) {
        for (const { row, first, end } of runs) {
          if (!rows[row] || rows[row].kind === "group") continue;
          const [wide, fill] = [end - first, fieldFill(ink, rows, row)];
          const tall = { y: from + y + 1.5, height: HIGH - 3 };
          const x = hexLeft + first * cell;
          ink.fill({ ...tall, x, width: wide * cell }, fill);
          ink.fill({ ...tall, x: textLeft + first * letter, width: wide * letter }, fill);
          const color = rows[row].note ? theme.warning : theme.muted;
          ink.frame({ ...tall, x: x + 0.5, width: wide * cell - 1 }, color, 0.75);
        }
      }
      for (const line of lines) {
        const middle = from + line.y + HIGH / 2;
        const shown = Array.from(bytes.subarray(line.offset, line.offset + line.size));
        ink.words(offsetOf(line), MARGIN, middle, { mono: true, color: theme.muted });
        for (const { first, end } of line.runs) {
          const letters = shown.slice(first, end).map(letterOf).join("");
          ink.words(letters, textLeft + first * letter + 0.5, middle, { mono: true });
        }
        for (const [at, byte] of shown.entries()) {
          const x = hexLeft + (at + 0.5) * cell;
          ink.words(hex(byte), x, middle, { mono: true, align: "center" });
        }
      }
      for (const { y, text } of notes)
        ink.words(text, hexLeft, from + y + HIGH / 2, { color: theme.muted });
    },
  };
  return [part, hover];
}

function letterOf(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·";
}

/** px; narrower figures have half as many bytes in a line. */
const WIDE = 600;

type ByteMapRequest = FigureRequest<unknown, { bytes: ByteMapReply }>;

export async function byteMapFigure(request: ByteMapRequest): Promise<FigurePanel> {
  const { title, width, text: widths, client } = request;
  const reply = await client.ask("bytes");
  const { rows, rowsLeftOut, text } = reply;
  const bytes = sentBytes(reply.bytes);
  const perLine = width >= WIDE ? 16 : 8;
  const lines = hexLines(rows, bytes.length, perLine);
  const { offset, size } = lines.at(-1) ?? { offset: 0, size: 0 };
  const rest = bytes.length - offset - size;
  const missing = Math.max(0, rows[0]!.offset + rows[0]!.size - bytes.length);
  const last = largest(rows.map((row) => row.offset));
  const digits = Math.max(4, Math.max(last, offset).toString(16).length);
  const offsetOf = (place: { offset: number }) => place.offset.toString(16).padStart(digits, "0");
  const room = width - 2 * MARGIN;
  const shown = { rows, rowsLeftOut, bytes, perLine, lines, rest, missing };
  const map = { ...shown, offsetOf, room, text: widths };
  const heading = paragraph({ text: title, bold: true }, room, widths);
  const top = MARGIN + heading.height;
  const [tree, fields] = fieldTree(map, top);
  const [dump, pieces] = hexPart(map, top + tree.height);
  const parts = [heading, tree, dump];
  return {
    height: heightOf(parts),
    title,
    words: text,
    text,
    description: { title, rows, rows_left_out: rowsLeftOut, lines, rest, missing },
    hover: [...fields, ...pieces],
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
