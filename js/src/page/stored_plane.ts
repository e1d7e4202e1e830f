/** Axes of a shown tensor, and the stored values of a plane, as in `answers/counts.py` and `tensor.py`. */

import type { KnownLayout, OneValue, ValuesAnswer } from "../shared/client/tensor_questions.ts";
import { computedText } from "../shared/number_text.ts";
import { laidOut, storedIndex } from "../shared/unfold.ts";
import { defaultAxes, type Plane, planeCols, planeRows } from "../tensor/plane.ts";
import type { TensorQuestion } from "./stored_facts.ts";
import type { Scalars } from "./stored_scalars.ts";

export interface StoredView {
  shape: number[];
  /** One letter per axis if a layout names them, else empty. */
  names: string[];
  storedAxes: number[][];
  /** Offsets in the stored values by axis and index. */
  offsets: Float64Array[];
  known: KnownLayout | null;
  sizes: Record<string, number>;
}

/** The axes as stored, or the logical ones of a layout ("NCHW8c"), whose padding `sizes` hide. */
export function storedView(
  stored: number[],
  known: KnownLayout | null = null,
  sizes: Readonly<Record<string, number>> = known?.sizes ?? {},
): StoredView {
  const axes = known?.axes ?? null;
  const { viewShape: full } = laidOut(stored, axes, {});
  const laid = laidOut(stored, axes, sizes);
  const { axisNames: names, viewShape: shape } = laid;
  const wrong = names.find((name) => name in sizes && !(sizes[name]! >= 1));
  const wide = wrong ?? names.find((_, axis) => shape[axis]! > full[axis]!);
  if (wide) throw new Error(`${wide} of ${known?.layout} cannot have the size ${sizes[wide]}`);
  const strides = stored.map((_, axis) => stored.slice(axis + 1).reduce((a, b) => a * b, 1));
  const offsets = shape.map((size, axis) =>
    Float64Array.from({ length: size }, (_, at) => {
      const index = shape.map((_, other) => (other === axis ? at : 0));
      return storedIndex(laid, index).reduce((sum, each, k) => sum + each * strides[k]!, 0);
    }),
  );
  const hidden = names.flatMap((name, axis) =>
    shape[axis]! < full[axis]! ? [[name, shape[axis]!] as const] : [],
  );
  return { ...laid, shape, names, offsets, known, sizes: Object.fromEntries(hidden) };
}

/** The requested plane; the default one if the question leaves it open or had only the declared shape. */
export function requestedPlane(shape: number[], { axes, index }: TensorQuestion): Plane {
  const zeros = shape.map(() => 0);
  const known = (index ?? zeros).length === shape.length;
  const plane = {
    shape,
    axes: (known && axes) || defaultAxes(shape),
    index: (known && index) || zeros,
  };
  const [down, across] = plane.axes;
  const inside = shape.every(
    (size, axis) => plane.axes.includes(axis) || plane.index[axis]! < size,
  );
  const apart = across === null ? down === null : down !== across;
  if (!inside || !apart || Math.max(down ?? 0, across ?? 0) >= Math.max(1, shape.length)) {
    throw new Error("axes and index of the question do not fit this tensor");
  }
  return plane;
}

/** Position of a value of the plane: first + down[row] + across[col]. */
export interface StoredPlace {
  first: number;
  down: Float64Array;
  across: Float64Array;
}

export function placeOf({ offsets }: StoredView, { axes, index }: Plane): StoredPlace {
  const along = (axis: number | null) => (axis === null ? new Float64Array(1) : offsets[axis]!);
  const first = index.reduce(
    (sum, at, axis) => sum + (axes.includes(axis) ? 0 : offsets[axis]![at]!),
    0,
  );
  return { first, down: along(axes[0]), across: along(axes[1]) };
}

const MOST_VALUES = 64 * 64;
const MOST_BYTES = 2 ** 20;

/** Texts of a window; `plane` is null for a tensor without values. */
export function valueTexts(
  scalars: Scalars,
  view: StoredView,
  plane: Plane | null,
  question: TensorQuestion,
): ValuesAnswer {
  const fields = question.format === "bits" ? scalars.fields : [];
  if (!plane) return { row: 0, col: 0, rows: 0, cols: 0, text: [], fields };
  const { first, down, across } = placeOf(view, plane);
  const row = Math.min(question.row, planeRows(plane) - 1);
  const col = Math.min(question.col, planeCols(plane) - 1);
  const rows = Math.min(question.rows, planeRows(plane) - row);
  const cols = Math.min(question.cols, planeCols(plane) - col);
  if (!(rows * cols >= 1 && rows * cols <= MOST_VALUES)) {
    throw new Error(`1 to ${MOST_VALUES} values at a time, asked for ${rows} x ${cols}`);
  }
  const write = textOf(scalars, question);
  const text = Array.from({ length: rows * cols }, (_, i) =>
    write(first + down[row + Math.floor(i / cols)]! + across[col + (i % cols)]!),
  );
  const result = { row, col, rows, cols, text, fields };
  if (rows * cols > 1) return result;
  return { ...result, one: allOf(scalars, first + down[row]! + across[col]!) };
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

function textOf(scalars: Scalars, question: TensorQuestion): (at: number) => string {
  const { format, scale, zeroPoint } = question;
  if (format === "hex") return scalars.hex;
  if (format === "bits") return scalars.binary;
  if (format !== "dequantised") return scalars.text;
  if (scalars.descr.includes("c")) throw new Error("complex values are not quantized");
  return (at) => computedText((scalars.value(at) - zeroPoint) * scale);
}

/** As many complete rows of a plane as one message may carry, at least a part of one. */
export function planeData(
  { descr, itemsize, note, item }: Scalars,
  view: StoredView,
  plane: Plane | null,
  question: TensorQuestion,
): { result: object; bytes: DataView<ArrayBuffer> } {
  const [row, col] = plane
    ? [
        Math.min(question.row, planeRows(plane) - 1),
        Math.min(question.col ?? 0, planeCols(plane) - 1),
      ]
    : [0, 0];
  const most = Math.floor(MOST_BYTES / itemsize);
  const cols = plane ? Math.min(planeCols(plane) - col, most) : 0;
  const wanted = plane && Math.min(question.rows, planeRows(plane) - row, Math.floor(most / cols));
  const rows = plane && cols < planeCols(plane) ? 1 : (wanted ?? 0);
  const bytes = new Uint8Array(rows * cols * itemsize);
  const place = plane && placeOf(view, plane);
  for (let i = 0; place && i < rows * cols; i++) {
    const down = place.down[row + Math.floor(i / cols)]!;
    bytes.set(item(place.first + down + place.across[col + (i % cols)]!), i * itemsize);
  }
  return { result: { row, rows, col, cols, descr, note }, bytes: new DataView(bytes.buffer) };
}
