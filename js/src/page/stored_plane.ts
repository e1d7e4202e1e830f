/** Axes of a shown tensor, and the stored values of a plane, as in `answers/counts.py` and `data.py`. */

import type { OneValue, ValuesAnswer } from "../shared/client/tensor_questions.ts";
import { counted } from "../shared/format.ts";
import { computedText } from "../shared/number_text.ts";
import { type AxisPiece, layoutProblem, piecesOf, unfolded } from "../shared/unfold.ts";
import { defaultAxes } from "../tensor/plane.ts";
import type { AxisPair, Question } from "./stored_questions.ts";
import type { Scalars } from "./stored_scalars.ts";

export interface StoredView {
  shape: number[];
  /** One letter per axis if a layout names them, else empty. */
  names: string[];
  /** Offsets in the stored values by axis and index. */
  offsets: Float64Array[];
  layout: string;
  sizes: Record<string, number>;
}

export function storedView(shape: number[]): StoredView {
  const offsets = stridesOf(shape).map((stride, axis) => ramp(shape[axis]!, (at) => at * stride));
  return { shape, names: [], offsets, layout: "", sizes: {} };
}

/** The logical axes of a layout ("NCHW8c"); `sizes` hide padding. Throws unless it fits the stored shape. */
export function unfoldedView(
  stored: number[],
  layout: string,
  sizes: Record<string, number>,
): StoredView {
  const problem = layoutProblem(layout, stored, sizes);
  if (problem) throw new Error(problem);
  const pieces = piecesOf(layout) as AxisPiece[];
  const strides = stridesOf(stored);
  const { names, shape } = unfolded(layout, stored)!;
  const hidden: Record<string, number> = {};
  const offsets = names.map((name, axis) => {
    const own = pieces.map((_, at) => at).filter((at) => pieces[at]!.letter.toUpperCase() === name);
    own.sort((a, b) => Number(pieces[a]!.factor !== null) - Number(pieces[b]!.factor !== null));
    const size = sizes[name] ?? shape[axis]!;
    if (size < shape[axis]!) hidden[name] = size;
    return ramp(size, (index) => {
      let [rest, place] = [index, 0];
      for (const at of own.toReversed()) {
        place += (rest % stored[at]!) * strides[at]!;
        rest = Math.floor(rest / stored[at]!);
      }
      return place;
    });
  });
  return { shape: offsets.map((offset) => offset.length), names, offsets, layout, sizes: hidden };
}

/** True if the indices of two axes are the same steps in the stored values. */
export function same(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((offset, at) => offset === b[at]);
}

function stridesOf(shape: number[]): number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
}

function ramp(length: number, at: (index: number) => number): Float64Array {
  return Float64Array.from({ length }, (_, index) => at(index));
}

export interface StoredPlane {
  shape: number[];
  axes: AxisPair;
  index: number[];
  rows: number;
  cols: number;
}

/** Checks axes and index against the shape. */
export function planeOf(shape: number[], axes: AxisPair, index: number[]): StoredPlane {
  const [down, across] = axes;
  for (const axis of axes) {
    if (axis !== null && axis >= shape.length) {
      throw new Error(`axis ${axis} of an array with ${counted(shape.length, "axis")}`);
    }
  }
  if (down !== null && down === across) {
    throw new Error(`axis ${down} cannot be shown down and across`);
  }
  if (across === null && down !== null)
    throw new Error("a plane with an axis down needs one across");
  if (index.length !== shape.length) {
    throw new Error(`index must have ${counted(shape.length, "item")}, found ${index.length}`);
  }
  shape.forEach((size, axis) => {
    if (!axes.includes(axis) && index[axis]! >= size) {
      throw new Error(`index ${index[axis]} on axis ${axis}, which has ${size}`);
    }
  });
  const length = (axis: number | null) => (axis === null ? 1 : shape[axis]!);
  return { shape, axes, index, rows: length(down), cols: length(across) };
}

/** The requested plane; the default one if the question leaves it open or had only the declared shape. */
export function requestedPlane(shape: number[], question: Question): StoredPlane {
  const zeros = shape.map(() => 0);
  const index = question.has("index") ? question.integers("index") : zeros;
  const first = defaultAxes(shape) as AxisPair;
  if (index.length !== shape.length) return planeOf(shape, first, zeros);
  return planeOf(shape, question.axes() ?? first, index);
}

/** Position of a value of the plane: first + down[row] + across[col]. */
export interface StoredPlace {
  first: number;
  down: Float64Array;
  across: Float64Array;
}

export function placeOf({ offsets }: StoredView, { axes, index }: StoredPlane): StoredPlace {
  const along = (axis: number | null) => (axis === null ? new Float64Array(1) : offsets[axis]!);
  const first = index.reduce(
    (sum, at, axis) => sum + (axes.includes(axis) ? 0 : offsets[axis]![at]!),
    0,
  );
  return { first, down: along(axes[0]), across: along(axes[1]) };
}

const FORMATS = ["number", "hex", "bits", "dequantised"];
const MOST_VALUES = 64 * 64;
const MOST_SIDE = 4096;
const MOST_BYTES = 2 ** 20;

export function requestedWindow(plane: StoredPlane | null, question: Question): Window {
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
  place: StoredPlace | null,
  { format, ...window }: Window,
  question: Question,
): ValuesAnswer {
  const fields = format === "bits" ? scalars.fields : [];
  if (!place) return { ...window, text: [], fields };
  const text = textOf(scalars, format, question);
  const { row, col, rows, cols } = window;
  const texts = Array.from({ length: rows * cols }, (_, i) =>
    text(place.first + place.down[row + Math.floor(i / cols)]! + place.across[col + (i % cols)]!),
  );
  const result = { ...window, text: texts, fields };
  if (rows * cols > 1) return result;
  return { ...result, one: allOf(scalars, place.first + place.down[row]! + place.across[col]!) };
}

/** Text, bytes and bits of one value. */
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

/** As many complete rows of a plane as one message may carry, at least a part of one. */
export function planeData(
  { descr, itemsize, note, write }: Scalars,
  place: StoredPlace | null,
  plane: StoredPlane | null,
  question: Question,
): { result: object; bytes: DataView } {
  const format = { descr, note };
  if (!place || !plane) {
    const result = { row: 0, rows: 0, col: 0, cols: 0, ...format };
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
  return { result: { row, rows, col, cols, ...format }, bytes };
}
