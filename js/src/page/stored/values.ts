/** Single values of a plane as text and as bytes, as `answers/counts.py` and `data.py` answer them. */

import type { OneValue, ValuesAnswer } from "../../shared/client/tensor_questions.ts";
import { computedText } from "../../shared/number_text.ts";
import type { Place, Plane } from "./plane.ts";
import type { Question } from "./question.ts";
import type { Scalars } from "./scalars.ts";

const FORMATS = ["number", "hex", "bits", "dequantised"];
const MOST_VALUES = 64 * 64;
const MOST_SIDE = 4096;
const MOST_BYTES = 2 ** 20;

/** The part of a plane that a question for values wants. */
export function askedWindow(plane: Plane | null, question: Question): Window {
  const format = question.choice("format", FORMATS) ?? "number";
  if (!plane) return { row: 0, col: 0, rows: 0, cols: 0, format };
  const row = Math.min(question.integer("row"), plane.rows - 1);
  const col = Math.min(question.integer("col"), plane.cols - 1);
  const rows = Math.min(question.integer("rows", 1, MOST_SIDE), plane.rows - row);
  const cols = Math.min(question.integer("cols", 1, MOST_SIDE), plane.cols - col);
  if (rows * cols > MOST_VALUES) {
    throw new Error(`at most ${MOST_VALUES} values at a time, asked for ${rows} x ${cols}`);
  }
  return { row, col, rows, cols, format };
}

interface Window {
  row: number;
  col: number;
  rows: number;
  cols: number;
  format: string;
}

export function valueTexts(
  scalars: Scalars,
  place: Place | null,
  { format, ...window }: Window,
  question: Question,
): ValuesAnswer {
  const fields = format === "bits" ? scalars.fields : [];
  if (!place) return { ...window, text: [], fields };
  const text = textOf(scalars, format, question);
  const { row, col, rows, cols } = window;
  const found = Array.from({ length: rows * cols }, (_, i) =>
    text(place.first + place.down[row + Math.floor(i / cols)]! + place.across[col + (i % cols)]!),
  );
  const told = { ...window, text: found, fields };
  if (rows * cols > 1) return told;
  return { ...told, one: allOf(scalars, place.first + place.down[row]! + place.across[col]!) };
}

/** All that there is to say of a single value. */
function allOf(scalars: Scalars, at: number): OneValue {
  const step = scalars.spacing(at);
  return {
    number: scalars.text(at),
    hex: scalars.hex(at),
    bits: scalars.binary(at),
    fields: scalars.fields,
    spacing: Number.isFinite(step) ? computedText(step) : "",
  };
}

function textOf(scalars: Scalars, format: string, question: Question): (at: number) => string {
  if (format === "hex") return scalars.hex;
  if (format === "bits") return scalars.binary;
  if (format !== "dequantised") return scalars.text;
  if (scalars.descr.includes("c")) throw new Error("complex values are not quantized");
  const scale = question.number("scale");
  const zeroPoint = question.integer("zeroPoint", -(2 ** 53));
  return (at) => computedText((scalars.value(at) - zeroPoint) * scale);
}

/** As many whole rows of a plane as one message may carry, a part of one at least. */
export function planeData(
  { descr, itemsize, note, write }: Scalars,
  place: Place | null,
  plane: Plane | null,
  question: Question,
): { result: object; bytes: DataView } {
  const told = { descr, note };
  if (!place || !plane) {
    const result = { row: 0, rows: 0, col: 0, cols: 0, ...told };
    return { result, bytes: new DataView(new ArrayBuffer(0)) };
  }
  const row = Math.min(question.integer("row"), plane.rows - 1);
  const col = Math.min(question.has("col") ? question.integer("col") : 0, plane.cols - 1);
  const most = Math.floor(MOST_BYTES / itemsize);
  const cols = Math.min(plane.cols - col, most);
  const wanted = Math.min(question.integer("rows", 1), plane.rows - row, Math.floor(most / cols));
  const rows = cols < plane.cols ? 1 : wanted;
  const bytes = new DataView(new ArrayBuffer(rows * cols * itemsize));
  for (let i = 0; i < rows * cols; i++) {
    const [down, across] = [row + Math.floor(i / cols), col + (i % cols)];
    write(bytes, i * itemsize, place.first + place.down[down]! + place.across[across]!);
  }
  return { result: { row, rows, col, cols, ...told }, bytes };
}
