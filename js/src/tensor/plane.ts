import type { TensorAnswer } from "../shared/client/tensor_questions.ts";
export type Axes = readonly [down: number | null, across: number | null];

/** Two axes of a tensor as a picture, all others fixed at one index. */
export interface Plane {
  shape: readonly number[];
  axes: Axes;
  /** One index per axis; ignored for the shown axes. */
  index: readonly number[];
}

/** The plane of an answer, which may be older than the requested one. */
export function answeredPlane({ viewShape, axes, index }: TensorAnswer): Plane {
  return { shape: viewShape, axes, index };
}

export interface Point {
  row: number;
  col: number;
}

const TINY = 7;

/** Axes to open with: the last two, unless they are a convolution's window or a single line; then the two longest. */
export function defaultAxes(shape: readonly number[]): Axes {
  if (shape.length < 2) return [null, shape.length ? 0 : null];
  let [down, across] = [shape.length - 2, shape.length - 1];
  const [rows, cols] = [shape[down]!, shape[across]!];
  if (rows > 0 && cols > 0 && (Math.max(rows, cols) <= TINY || Math.min(rows, cols) === 1)) {
    const byLength = shape.map((_, axis) => axis).sort((a, b) => shape[b]! - shape[a]! || a - b);
    [down, across] = byLength.slice(0, 2).sort((a, b) => a - b) as [number, number];
  }
  return shape[across] === 1 && shape[down]! > 1 ? [across, down] : [down, across];
}

/** The requested plane as far as it fits the shape, completed by the default. */
export function planeOf(
  shape: readonly number[],
  axes: Axes | null,
  index: readonly number[] | null,
): Plane {
  const fallback = { shape, axes: defaultAxes(shape), index: shape.map(() => 0) };
  return {
    shape,
    axes: axes && validAxes(shape, axes) ? axes : fallback.axes,
    index:
      index?.length === shape.length
        ? index.map((value, axis) => clampIndex(value, shape[axis]!))
        : fallback.index,
  };
}

function validAxes(shape: readonly number[], [down, across]: Axes): boolean {
  const known = (axis: number | null) =>
    axis === null || (Number.isInteger(axis) && axis >= 0 && axis < shape.length);
  if (!known(down) || !known(across)) return false;
  return across === null ? down === null && shape.length === 0 : down !== across;
}

function clampIndex(index: number, length: number): number {
  return Math.max(0, Math.min(length - 1, Math.trunc(index) || 0));
}

export function planeRows({ shape, axes: [down] }: Plane): number {
  return down === null ? 1 : shape[down]!;
}

export function planeCols({ shape, axes: [, across] }: Plane): number {
  return across === null ? 1 : shape[across]!;
}

/** Axes for a profile, or for channels beside the axes of their pictures. */
export function axesAlong(
  shape: readonly number[],
  pictured: readonly (number | null)[],
): readonly number[] {
  const axes = shape.map((_, axis) => axis);
  return pictured.length
    ? axes.filter((axis) => shape[axis]! > 1 && !pictured.includes(axis))
    : axes;
}

/** The wanted axis, else the best that the answer names, of several indices if there is one. */
export function axisAlong(
  { viewShape, along }: Pick<TensorAnswer, "viewShape" | "along">,
  pictured: readonly (number | null)[],
  wanted: number | null,
): number | null {
  const axes = axesAlong(viewShape, pictured);
  const long = along.filter((axis) => viewShape[axis]! > 1);
  return [wanted ?? -1, ...long, ...along].find((axis) => axes.includes(axis)) ?? null;
}

/** The axes fixed at one index, in order. */
export function fixedAxes({ shape, axes }: Plane): number[] {
  return shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis));
}

export function withIndex(plane: Plane, axis: number, index: number): Plane {
  const clamped = clampIndex(index, plane.shape[axis]!);
  return { ...plane, index: plane.index.map((value, i) => (i === axis ? clamped : value)) };
}

/** Shows another axis down or across; swaps the two if the other side has it. */
export function withAxis(plane: Plane, side: "down" | "across", axis: number | null): Plane {
  const [down, across] = plane.axes;
  if (side === "down") {
    if (axis === null || axis !== across) return { ...plane, axes: [axis, across] };
  } else if (axis !== down) return { ...plane, axes: [down, axis] };
  return swapped(plane);
}

/** Swaps down and across; a plane of a single axis stays as it is. */
export function swapped(plane: Plane): Plane {
  const [down, across] = plane.axes;
  return down === null ? plane : { ...plane, axes: [across, down] };
}

export function indexAt({ axes: [down, across], index }: Plane, { row, col }: Point): number[] {
  return index.map((value, axis) => (axis === down ? row : axis === across ? col : value));
}

/** The plane, with the same axes, that contains the value at this index, and its position. */
export function locate(plane: Plane, index: readonly number[]): { plane: Plane; point: Point } {
  const [down, across] = plane.axes;
  return {
    plane: { ...plane, index: [...index] },
    point: { row: down === null ? 0 : index[down]!, col: across === null ? 0 : index[across]! },
  };
}

/** The point moved by some rows and columns, kept inside the plane. */
export function moved(plane: Plane, { row, col }: Point, rows: number, cols: number): Point {
  return {
    row: clampIndex(row + rows, planeRows(plane)),
    col: clampIndex(col + cols, planeCols(plane)),
  };
}

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, axis) => value === b[axis]);
}

/** True if two planes show the same values in the same places. */
export function samePlane(a: Plane, b: Plane): boolean {
  return (
    sameShape(a.shape, b.shape) &&
    a.axes[0] === b.axes[0] &&
    a.axes[1] === b.axes[1] &&
    fixedAxes(a).every((axis) => a.index[axis] === b.index[axis])
  );
}

/** `H`, or `axis 2` without a layout; may be empty. */
export function axisText(names: readonly string[], axis: number | null): string {
  return axis === null ? "" : (names[axis] ?? `axis ${axis}`);
}

export function indexText(index: readonly number[]): string {
  return `[${index.join(", ")}]`;
}
