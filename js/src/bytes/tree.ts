import type { Hover } from "../shared/drawing/figure.ts";
import { fieldTint, LINE, MARGIN, type Part, SMALL } from "../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, integer } from "../shared/format.ts";
import { largest } from "../shared/many.ts";
import { type ByteMapData, type FieldRow, fieldWords } from "./data.ts";

const INDENT = 14;
const MOST_DEPTH = 8;
const SWATCH = 9;
const NOTE_LINES = 3;

/** Hex digits of every offset. */
export function offsetDigits({ rows, lines }: ByteMapData): number {
  const last = largest(
    rows.map(({ offset }) => offset),
    lines.at(-1)?.offset ?? 0,
  );
  return Math.max(4, last.toString(16).length);
}

interface PlacedRow {
  row: FieldRow;
  at: number;
  y: number;
  left: number;
  name: string;
  value: string;
  note: readonly string[];
}

/** The ground behind the bytes of a field, and of its sign in the tree. */
export function fieldFill(theme: Theme, rows: readonly FieldRow[], at: number): string {
  const row = rows[at];
  if (!row || row.kind === "padding" || row.kind === "group") return theme.background;
  return fieldTint(theme, at);
}

/** The fields as a tree: name, offset, size and value. */
export function fieldTree(data: ByteMapData, room: number, text: TextWidths, top: number): Tree {
  const nameRoom = Math.round(room * 0.34);
  const digits = offsetDigits(data);
  const offsets = data.rows.map(({ offset }) => offset.toString(16).padStart(digits, "0"));
  const sizes = data.rows.map(({ size }) => integer(size));
  const [offsetWide, sizeWide] = [
    ["offset", ...offsets],
    ["size", ...sizes],
  ].map((words) => 12 + largest(words.map((each) => text.width(each, SMALL)))) as [number, number];
  const offsetRight = MARGIN + nameRoom + offsetWide;
  const sizeRight = offsetRight + sizeWide;
  const valueLeft = sizeRight + 12;
  const valueRoom = MARGIN + room - valueLeft;
  const placed: PlacedRow[] = [];
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
  const part: Part = {
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

export interface Tree {
  part: Part;
  hover: readonly Hover[];
}
