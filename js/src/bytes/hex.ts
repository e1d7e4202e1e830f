import { type Hover, MONO } from "../shared/drawing/figure.ts";
import { MARGIN, type Part, SMALL } from "../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { counted } from "../shared/format.ts";
import { type ByteMapData, fieldWords, type Run, runsOf } from "./data.ts";
import { fieldFill, offsetDigits } from "./tree.ts";

const HIGH = 18;
const GAP = 10;
/** Least and largest width of a byte as hex, px. */
const LEAST = 18;
const MOST = 24;

interface Line {
  y: number;
  offset: number;
  /** Of its first byte among those that are shown. */
  start: number;
  runs: readonly Run[];
}

interface Note {
  y: number;
  text: string;
}

/** The bytes in lines: offset, hex, and text, with the colors of their fields. */
export function hexLines(
  data: ByteMapData,
  bytes: Uint8Array,
  owners: Int32Array,
  room: number,
  widths: TextWidths,
  top: number,
): { part: Part; hover: readonly Hover[] } {
  const { perLine, rows } = data;
  const digits = offsetDigits(data);
  const letter = widths.width("0", SMALL, false, true) + 1;
  const hexLeft = MARGIN + digits * letter + GAP;
  const left = MARGIN + room - hexLeft - GAP - perLine * letter;
  const cell = Math.max(LEAST, Math.min(MOST, left / perLine));
  const textLeft = hexLeft + perLine * cell + GAP;

  const lines: Line[] = [];
  const notes: Note[] = [];
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
  const part: Part = {
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
