/** Axes of a tensor as they are shown, and where the values of each index are stored. */

import { layoutProblem, type Piece, piecesOf, unfolded } from "../../shared/unfold.ts";

export interface View {
  shape: number[];
  /** A letter an axis where a layout names them, else empty. */
  names: string[];
  /** Per axis and index, how much it adds to the position in the stored values. */
  offsets: Float64Array[];
  layout: string;
  sizes: Record<string, number>;
}

/** The axes as they are stored. */
export function storedView(shape: number[]): View {
  const offsets = stridesOf(shape).map((stride, axis) => ramp(shape[axis]!, (at) => at * stride));
  return { shape, names: [], offsets, layout: "", sizes: {} };
}

/** The logical axes of a layout ("NCHW8c"); `sizes` hide padding. Throws where it does not fit the stored shape. */
export function unfoldedView(
  stored: number[],
  layout: string,
  sizes: Record<string, number>,
): View {
  const problem = layoutProblem(layout, stored, sizes);
  if (problem) throw new Error(problem);
  const pieces = piecesOf(layout) as Piece[];
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
  return { shape: offsets.map((each) => each.length), names, offsets, layout, sizes: hidden };
}

/** Whether the indices of two axes stand for the same steps in the stored values. */
export function same(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((offset, at) => offset === b[at]);
}

function stridesOf(shape: number[]): number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
}

function ramp(length: number, at: (index: number) => number): Float64Array {
  return Float64Array.from({ length }, (_, index) => at(index));
}
