/** Two axes of a view as a plane, as `model/tensors/planes.py` has them. */
import { counted } from "../../shared/format.ts";
import { defaultAxes } from "../../tensor/plane.ts";
import type { View } from "./layout.ts";
import type { Axes, Question } from "./question.ts";

export interface Plane {
  shape: number[];
  axes: Axes;
  index: number[];
  rows: number;
  cols: number;
}

/** Checks axes and index against the shape. */
export function planeOf(shape: number[], axes: Axes, index: number[]): Plane {
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

/** The plane asked for; as views open where the question leaves it open or knew the declared shape alone. */
export function askedPlane(shape: number[], question: Question): Plane {
  const zeros = shape.map(() => 0);
  const index = question.has("index") ? question.integers("index") : zeros;
  const first = defaultAxes(shape) as Axes;
  if (index.length !== shape.length) return planeOf(shape, first, zeros);
  return planeOf(shape, question.axes() ?? first, index);
}

/** Where a value of the plane is stored: first + down[row] + across[col]. */
export interface Place {
  first: number;
  down: Float64Array;
  across: Float64Array;
}

export function placeOf({ offsets }: View, { axes, index }: Plane): Place {
  const along = (axis: number | null) => (axis === null ? new Float64Array(1) : offsets[axis]!);
  const first = index.reduce(
    (sum, at, axis) => sum + (axes.includes(axis) ? 0 : offsets[axis]![at]!),
    0,
  );
  return { first, down: along(axes[0]), across: along(axes[1]) };
}
