/** Logical index of stored values and back, as `model/tensors/layouts.py` lays them out. */
import type { KnownLayout, TensorAnswer } from "./client/tensor_questions.ts";

type Sizes = Readonly<Record<string, number>>;
type Unfolding = Pick<TensorAnswer, "storedAxes" | "storedShape">;

/** Axes of a tensor in a layout, whose padding sizes hide; as stored without one. */
export function laidOut(storedShape: number[], axes: KnownLayout["axes"], sizes: Sizes) {
  const axisNames = Object.keys(axes ?? {});
  const storedAxes = axes ? Object.values(axes) : storedShape.map((_, axis) => [axis]);
  const viewShape = storedAxes.map(
    (parts, axis) =>
      sizes[axisNames[axis] ?? ""] ?? parts.reduce((size, part) => size * storedShape[part]!, 1),
  );
  return { axisNames, storedAxes, storedShape, viewShape };
}

export function storedIndex(
  { storedAxes, storedShape }: Unfolding,
  logical: readonly number[],
): number[] {
  const stored: number[] = [];
  for (const [axis, [slowest, ...split]] of storedAxes.entries()) {
    let rest = logical[axis] ?? 0;
    for (const part of split.reverse()) {
      stored[part] = rest % storedShape[part]!;
      rest = Math.floor(rest / storedShape[part]!);
    }
    stored[slowest!] = rest;
  }
  return stored;
}

export function logicalIndex(
  { storedAxes, storedShape }: Unfolding,
  stored: readonly number[],
): number[] {
  return storedAxes.map((parts) =>
    parts.reduce((sum, part) => sum * storedShape[part]! + (stored[part] ?? 0), 0),
  );
}

interface PaddedTensor {
  layout: string;
  axisNames: readonly string[];
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
