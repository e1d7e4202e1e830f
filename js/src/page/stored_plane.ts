/** Axes of a shown tensor, and the stored values of a plane, as in `answers/counts.py` and `tensor.py`. */

import type {
  ChannelsRequest,
  DataRequest,
  KnownLayout,
  OneValue,
  TensorRequest,
  ValuesAnswer,
  ValuesRequest,
} from "../shared/client/tensor_questions.ts";
import { computedText } from "../shared/number_text.ts";
import { laidOut, storedIndex } from "../shared/unfold.ts";
import { type Plane, planeCols, planeOf, planeRows } from "../tensor/plane.ts";
import { clipped, type Region } from "../tensor/state.ts";
import type { StoredReply } from "./stored_data.ts";
import type { Scalars } from "./stored_scalars.ts";

/** What the views of a page ask about a tensor; the fields depend on the kind. */
export type TensorQuestion = TensorRequest & ValuesRequest & ChannelsRequest & DataRequest;

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
  const isKnown = !index || index.length === shape.length;
  return planeOf(shape, isKnown ? axes : null, index);
}

/** A part inside of the plane, by default all of it; empty if the tensor is. */
export function planePart({ shape }: StoredView, plane: Plane, part: Region | null): Region {
  const [rows, cols] = [planeRows(plane), planeCols(plane)];
  if (shape.includes(0)) return [0, 0, 0, 0];
  return (part && clipped(part, rows, cols)) ?? [0, 0, rows, cols];
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

/** Positions of the values of a part, row by row. */
function placesIn(view: StoredView, plane: Plane, [row, col, rows, cols]: Region): number[] {
  const { first, down, across } = placeOf(view, plane);
  return Array.from(
    { length: rows * cols },
    (_, i) => first + down[row + Math.floor(i / cols)]! + across[col + (i % cols)]!,
  );
}

/** Texts of a window. */
export function valueTexts(
  scalars: Scalars,
  view: StoredView,
  plane: Plane,
  question: TensorQuestion,
): ValuesAnswer {
  const { row, col, rows, cols, format } = question;
  const part = planePart(view, plane, [row, col, rows, cols]);
  const places = placesIn(view, plane, part);
  const text = places.map(textOf(scalars, question));
  const fields = format === "bits" ? scalars.fields : [];
  const result = { ...windowOf(part), text, fields };
  return places.length === 1 ? { ...result, one: allOf(scalars, places[0]!) } : result;
}

function windowOf([row, col, rows, cols]: Region) {
  return { row, col, rows, cols };
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
  if (format !== "dequantized") return scalars.text;
  if (scalars.descr.includes("c")) throw new Error("complex values are not quantized");
  return (at) => computedText((scalars.value(at) - zeroPoint) * scale);
}

const MOST_BYTES = 2 ** 20;

/** As many complete rows of a plane as one message may carry, at least a part of one. */
export function planeData(
  { descr, itemsize, note, item }: Scalars,
  view: StoredView,
  plane: Plane,
  question: TensorQuestion,
): StoredReply {
  const wanted = [question.row, question.col ?? 0, question.rows, Infinity] as const;
  const [row, col, high, wide] = planePart(view, plane, wanted);
  const most = Math.floor(MOST_BYTES / itemsize);
  const cols = Math.min(wide, most);
  const rows = Math.min(high, cols < planeCols(plane) ? 1 : Math.floor(most / cols));
  const part = [row, col, rows, cols] as const;
  const bytes = new Uint8Array(rows * cols * itemsize);
  for (const [i, at] of placesIn(view, plane, part).entries()) bytes.set(item(at), i * itemsize);
  return { result: { ...windowOf(part), descr, note }, buffers: [new DataView(bytes.buffer)] };
}
