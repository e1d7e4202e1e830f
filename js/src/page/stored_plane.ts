/** Planes of an array and pictures of them, bit for bit as `model/planes.py` makes them. */
import type { Axes, Question } from "./stored_question.ts";
import type { Scalars } from "./stored_scalars.ts";

export interface Plane {
  shape: number[];
  axes: Axes;
  index: number[];
  rows: number;
  cols: number;
}

export interface Cells {
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
  minimum: Float32Array;
  maximum: Float32Array;
  mean: Float32Array;
  flags: Uint8Array;
}

/** Checks axes and index against the shape. */
export function planeOf(shape: number[], axes: Axes, index: number[]): Plane {
  const [down, across] = axes;
  for (const axis of axes) {
    if (axis !== null && axis >= shape.length) {
      throw new Error(`axis ${axis} of an array with ${shape.length} axes`);
    }
  }
  if (down !== null && down === across) {
    throw new Error(`axis ${down} cannot be shown down and across`);
  }
  if (across === null && down !== null)
    throw new Error("a plane with an axis down needs one across");
  if (index.length !== shape.length) {
    throw new Error(`index must have ${shape.length} items, found ${index.length}`);
  }
  shape.forEach((size, axis) => {
    if (!axes.includes(axis) && index[axis]! >= size) {
      throw new Error(`index ${index[axis]} on axis ${axis}, which has ${size}`);
    }
  });
  const length = (axis: number | null) => (axis === null ? 1 : shape[axis]!);
  return { shape, axes, index, rows: length(down), cols: length(across) };
}

export function askedPlane(shape: number[], question: Question): Plane {
  return planeOf(shape, question.axes(), question.integers("index"));
}

/** The plane asked for; the last axes where the view knew the declared shape alone. */
export function knownPlane(shape: number[], question: Question): Plane {
  if (question.integers("index").length === shape.length) return askedPlane(shape, question);
  const last = shape.length - 1;
  const axes: Axes = [last > 0 ? last - 1 : null, last >= 0 ? last : null];
  return planeOf(
    shape,
    axes,
    shape.map(() => 0),
  );
}

/** Where the values of a plane are: position = first + row * down + col * across. */
export function placeOf({ shape, axes, index }: Plane) {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const along = (axis: number | null) => (axis === null ? 0 : strides[axis]!);
  const first = index.reduce(
    (sum, at, axis) => sum + (axes.includes(axis) ? 0 : at * strides[axis]!),
    0,
  );
  return { first, down: along(axes[0]), across: along(axes[1]) };
}

/** Reduces a plane to at most `rows` x `cols` cells, looking at every value. */
export function picture(scalars: Scalars, plane: Plane, rows: number, cols: number): Cells {
  const [rowStep, colStep] = [Math.ceil(plane.rows / rows), Math.ceil(plane.cols / cols)];
  const [down, across] = [Math.ceil(plane.rows / rowStep), Math.ceil(plane.cols / colStep)];
  const place = placeOf(plane);
  const cells: Cells = {
    rows: down,
    cols: across,
    rowStep,
    colStep,
    minimum: new Float32Array(down * across),
    maximum: new Float32Array(down * across),
    mean: new Float32Array(down * across),
    flags: new Uint8Array(down * across),
  };
  for (let row = 0; row < down; row++) {
    const top = row * rowStep;
    const height = Math.min(rowStep, plane.rows - top);
    for (let col = 0; col < across; col++) {
      const left = col * colStep;
      const from = place.first + top * place.down + left * place.across;
      const width = Math.min(colStep, plane.cols - left);
      reduce(cells, row * across + col, (i, j) => from + i * place.down + j * place.across, {
        scalars,
        height,
        width,
      });
    }
  }
  return cells;
}

interface Block {
  scalars: Scalars;
  height: number;
  width: number;
}

function reduce(
  cells: Cells,
  cell: number,
  place: (row: number, col: number) => number,
  { scalars, height, width }: Block,
): void {
  let [low, high, count, flags] = [Infinity, -Infinity, 0, 0];
  const column = new Float64Array(height);
  const sums = new Float64Array(width);
  for (let col = 0; col < width; col++) {
    for (let row = 0; row < height; row++) {
      const value = scalars.value(place(row, col));
      if (Number.isFinite(value)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
        count += 1;
        column[row] = value;
      } else {
        flags |= Number.isNaN(value) ? 1 : value > 0 ? 2 : 4;
        column[row] = 0;
      }
    }
    sums[col] = total(column);
  }
  cells.minimum[cell] = count ? low : Number.NaN;
  cells.maximum[cell] = count ? high : Number.NaN;
  cells.mean[cell] = total(sums) / count;
  cells.flags[cell] = flags;
}

/** A sum in the order in which `numpy.add.reduceat` makes it: the first item, and the others in pairs. */
function total(values: Float64Array): number {
  return values.length === 1 ? values[0]! : values[0]! + pairwise(values, 1, values.length - 1);
}

function pairwise(values: Float64Array, from: number, count: number): number {
  if (count < 8) {
    let sum = -0;
    for (let i = from; i < from + count; i++) sum += values[i]!;
    return sum;
  }
  if (count > 128) {
    const half = Math.floor(count / 2);
    const first = half - (half % 8);
    return pairwise(values, from, first) + pairwise(values, from + first, count - first);
  }
  const sums = values.slice(from, from + 8);
  let at = 8;
  for (; at < count - (count % 8); at += 8) {
    for (let lane = 0; lane < 8; lane++) sums[lane]! += values[from + at + lane]!;
  }
  const [a, b, c, d, e, f, g, h] = sums as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  let sum = a + b + (c + d) + (e + f + (g + h));
  for (; at < count; at++) sum += values[from + at]!;
  return sum;
}
