import type { TensorAnswer } from "../shared/tensor_questions.ts";

/** One axis of a layout as stored: a letter, and the size of its piece where the axis is split ("8c"). */
interface Piece {
  letter: string;
  factor: number | null;
}

/** `NCHW8c` in pieces; null where the text is no layout. */
export function pieces(layout: string): Piece[] | null {
  const found = [...layout.matchAll(/([A-Z])|(\d+)([a-z])/g)];
  if (found.map(([text]) => text).join("") !== layout || found.length === 0) return null;
  return found.map(([, whole, factor, part]) =>
    whole
      ? { letter: whole, factor: null }
      : { letter: part!.toUpperCase(), factor: Number(factor) },
  );
}

/** Where a value of the unfolded tensor lies among the axes as stored; null without a layout. */
export function physicalIndex(
  { layout, axisNames }: Pick<TensorAnswer, "layout" | "axisNames">,
  logical: readonly number[],
): number[] | null {
  const parts = layout ? pieces(layout) : null;
  if (!parts) return null;
  const rest = new Map(axisNames.map((name, axis) => [name, logical[axis] ?? 0]));
  const stored: number[] = [];
  for (let k = parts.length - 1; k >= 0; k -= 1) {
    const { letter, factor } = parts[k]!;
    const left = rest.get(letter) ?? 0;
    stored[k] = factor === null ? left : left % factor;
    rest.set(letter, factor === null ? 0 : Math.floor(left / factor));
  }
  return stored;
}

/** Where a stored value lies among the axes shown; the index itself without a layout. */
export function logicalIndex(
  { layout, axisNames }: Pick<TensorAnswer, "layout" | "axisNames">,
  stored: readonly number[],
): number[] {
  const parts = layout ? pieces(layout) : null;
  if (!parts) return [...stored];
  const sizes = new Map<string, number>();
  const sums = new Map<string, number>();
  for (let k = parts.length - 1; k >= 0; k -= 1) {
    const { letter, factor } = parts[k]!;
    const size = sizes.get(letter) ?? 1;
    sums.set(letter, (sums.get(letter) ?? 0) + stored[k]! * size);
    sizes.set(letter, size * (factor ?? 1));
  }
  return axisNames.map((name) => sums.get(name) ?? 0);
}

/** Whether a value only fills up a block of the layout, as far as the sizes without padding are known. */
export function isPadding(
  { layout, layouts, axisNames }: Pick<TensorAnswer, "layout" | "layouts" | "axisNames">,
  logical: readonly number[],
): boolean {
  const sizes = layout ? layouts.find((each) => each.layout === layout)?.sizes : undefined;
  if (!sizes) return false;
  return axisNames.some((name, axis) => logical[axis]! >= (sizes[name] ?? Infinity));
}
