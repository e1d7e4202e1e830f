/** Logical index of stored values and back; `model/tensors/layouts.py` is the Python twin. */
import type { KnownLayout } from "./client/tensor_questions.ts";
import { counted, shapeText } from "./format.ts";

export interface AxisPiece {
  letter: string;
  factor: number | null;
}

const EXAMPLES = "expected for example NCHW, NHWC or NCHW8c";

/** The stored axes of a layout, or the error in its text. */
export function piecesOf(layout: string): AxisPiece[] | string {
  const matches = [...layout.matchAll(/([A-Z])|(\d+)([a-z])/g)];
  const pieces = matches.map(([, whole, factor, part]) => ({
    letter: whole ?? part!,
    factor: whole ? null : Number(factor),
  }));
  if (!layout || matches.map(([text]) => text).join("") !== layout) {
    return `"${layout}" is not a layout: ${EXAMPLES}`;
  }
  for (const { letter, factor } of pieces) {
    const upper = letter.toUpperCase();
    if (!pieces.some((piece) => piece.letter === upper))
      return `${letter} has no matching ${upper}`;
    if (factor === 0) return `a block of 0 ${letter} is empty`;
  }
  const whole = pieces.filter(({ factor }) => factor === null).map(({ letter }) => letter);
  const twice = whole.find((letter, at) => whole.indexOf(letter) !== at);
  return twice ? `${twice} appears twice` : pieces;
}

/** Why an array of this shape cannot have the layout or the axis sizes; empty if it can. */
export function layoutProblem(
  layout: string,
  stored: readonly number[],
  sizes: Readonly<Record<string, number>> = {},
): string {
  const pieces = piecesOf(layout);
  if (typeof pieces === "string") return pieces;
  if (pieces.length !== stored.length) {
    return `${layout} has ${counted(pieces.length, "axis")}, the tensor is stored as ${shapeText(stored)}`;
  }
  for (const [axis, { letter, factor }] of pieces.entries()) {
    if (factor !== null && factor !== stored[axis]) {
      return `${factor}${letter} of ${layout} is axis ${axis}, which has ${stored[axis]}`;
    }
  }
  const full = fullSizes(pieces, stored);
  for (const [letter, size] of Object.entries(sizes)) {
    const most = full.get(letter);
    if (most === undefined) return `${layout} has no axis ${letter}`;
    if (!Number.isInteger(size) || size < 1 || size > most) return `${letter} must be 1 to ${most}`;
  }
  return "";
}

/** Letters and lengths of the logical axes; null if the layout does not fit. */
export function unfolded(
  layout: string,
  stored: readonly number[],
  sizes: Readonly<Record<string, number>> = {},
): { names: string[]; shape: number[] } | null {
  if (layoutProblem(layout, stored, sizes)) return null;
  const full = fullSizes(piecesOf(layout) as AxisPiece[], stored);
  return {
    names: [...full.keys()],
    shape: [...full].map(([letter, length]) => sizes[letter] ?? length),
  };
}

interface UnfoldedAxes {
  layout: string;
  axisNames: readonly string[];
}

/** Stored index of a value of the unfolded tensor; null without a layout. */
export function physicalIndex(
  { layout, axisNames }: UnfoldedAxes,
  logical: readonly number[],
): number[] | null {
  const pieces = layout ? piecesOf(layout) : "";
  if (typeof pieces === "string") return null;
  const rest = new Map(axisNames.map((name, axis) => [name, logical[axis] ?? 0]));
  const stored: number[] = [];
  for (let k = pieces.length - 1; k >= 0; k -= 1) {
    const { letter, factor } = pieces[k]!;
    if (factor === null) continue;
    const name = letter.toUpperCase();
    const left = rest.get(name) ?? 0;
    stored[k] = left % factor;
    rest.set(name, Math.floor(left / factor));
  }
  for (const [k, { letter, factor }] of pieces.entries()) {
    if (factor === null) stored[k] = rest.get(letter) ?? 0;
  }
  return stored;
}

/** Logical index of a stored value; the index itself without a layout. */
export function logicalIndex(
  { layout, axisNames }: UnfoldedAxes,
  stored: readonly number[],
): number[] {
  const pieces = layout ? piecesOf(layout) : "";
  if (typeof pieces === "string") return [...stored];
  const sums = new Map<string, number>();
  const weights = new Map<string, number>();
  for (let k = pieces.length - 1; k >= 0; k -= 1) {
    const { letter, factor } = pieces[k]!;
    if (factor === null) continue;
    const name = letter.toUpperCase();
    const weight = weights.get(name) ?? 1;
    sums.set(name, (sums.get(name) ?? 0) + (stored[k] ?? 0) * weight);
    weights.set(name, weight * factor);
  }
  for (const [k, { letter, factor }] of pieces.entries()) {
    if (factor !== null) continue;
    sums.set(letter, (sums.get(letter) ?? 0) + (stored[k] ?? 0) * (weights.get(letter) ?? 1));
  }
  return axisNames.map((name) => sums.get(name) ?? 0);
}

interface PaddedTensor extends UnfoldedAxes {
  layouts: readonly Pick<KnownLayout, "layout" | "sizes">[];
}

/** True if a value only pads a block of the layout, as far as the sizes without padding are known. */
export function isPadding(
  { layout, layouts, axisNames }: PaddedTensor,
  logical: readonly number[],
) {
  const sizes = layouts.find((known) => known.layout === layout)?.sizes;
  if (!layout || !sizes) return false;
  return axisNames.some((name, axis) => logical[axis]! >= (sizes[name] ?? Infinity));
}

function fullSizes(pieces: readonly AxisPiece[], stored: readonly number[]): Map<string, number> {
  const full = new Map<string, number>();
  for (const { letter, factor } of pieces) if (factor === null) full.set(letter, 1);
  for (const [axis, { letter }] of pieces.entries()) {
    const name = letter.toUpperCase();
    full.set(name, full.get(name)! * stored[axis]!);
  }
  return full;
}
