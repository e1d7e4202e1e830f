/** Axes of a tensor as they are shown, and where the values of each index are stored. */

export interface View {
  shape: number[];
  /** A letter an axis where a layout names them, else empty. */
  names: string[];
  /** Per axis and index, how much it adds to the position in the stored values. */
  offsets: Float64Array[];
  layout: string;
  sizes: Record<string, number>;
}

interface Piece {
  letter: string;
  /** Whether it is a part split off the axis. */
  split: boolean;
  size: number;
  stride: number;
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
  const pieces = piecesOf(stored, layout);
  const names = pieces.filter(({ split }) => !split).map(({ letter }) => letter);
  for (const letter of Object.keys(sizes)) {
    if (!names.includes(letter)) throw new Error(`the layout ${layout} has no axis ${letter}`);
  }
  const hidden: Record<string, number> = {};
  const offsets = names.map((name) => {
    const own = pieces.filter(({ letter }) => letter === name);
    own.sort((a, b) => Number(a.split) - Number(b.split));
    const full = own.reduce((product, { size }) => product * size, 1);
    const size = sizes[name] ?? full;
    if (size > full) throw new Error(`size ${size} of ${name}, of which ${full} are stored`);
    if (size < full) hidden[name] = size;
    return ramp(size, (at) => {
      let [rest, place] = [at, 0];
      for (const piece of own.toReversed()) {
        place += (rest % piece.size) * piece.stride;
        rest = Math.floor(rest / piece.size);
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

function piecesOf(stored: number[], layout: string): Piece[] {
  const found = [...layout.matchAll(/([A-Z])|(0*[1-9]\d*)([a-z])/g)];
  const whole = layout.length > 0 && found.map(([text]) => text).join("") === layout;
  const axes = found.map(([, axis]) => axis).filter((axis) => axis !== undefined);
  const known = found.every(([, , , part]) => !part || axes.includes(part.toUpperCase()));
  if (!whole || !known || new Set(axes).size < axes.length) {
    throw new Error(`${JSON.stringify(layout.slice(0, 40))} is no layout`);
  }
  if (found.length !== stored.length) {
    throw new Error(`${layout} has ${found.length} axes, the array has ${stored.length}`);
  }
  const strides = stridesOf(stored);
  return found.map(([text, axis, size, part], at) => {
    if (part && Number(size) !== stored[at]) {
      throw new Error(`${text} of ${layout} is axis ${at}, which has ${stored[at]}`);
    }
    const letter = axis ?? part!.toUpperCase();
    return { letter, split: axis === undefined, size: stored[at]!, stride: strides[at]! };
  });
}

function stridesOf(shape: number[]): number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
}

function ramp(length: number, at: (index: number) => number): Float64Array {
  return Float64Array.from({ length }, (_, index) => at(index));
}
