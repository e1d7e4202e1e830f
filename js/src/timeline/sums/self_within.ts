import type { Slices } from "../data/slices.ts";
import { type Range, selfInside } from "./aggregate.ts";

/** Slices that touch a range, and the time in it during which no slice inside them runs. */
export interface Within {
  slices: Int32Array;
  self: Float64Array;
}

/**
 * The own time of every slice in a range, null of all time. A slice that reaches out of the range counts with its part
 * inside; at most two of a row do.
 */
export function selfWithin(slices: Slices, range: Range | null): Within {
  const ranges = slices.rows.map((row): readonly [number, number] =>
    range ? row.range(...range) : [row.first, row.last],
  );
  const size = ranges.reduce((sum, [first, last]) => sum + Math.max(0, last - first), 0);
  const found = { slices: new Int32Array(size), self: new Float64Array(size) };
  let at = 0;
  for (const [first, last] of ranges) {
    for (let slice = first; slice < last; slice++) {
      found.slices[at] = slice;
      found.self[at++] = slices.selfOf(slice);
    }
    if (!range || first >= last) continue;
    for (const slice of [first, last - 1]) {
      found.self[at - (last - slice)] = selfInside(slices, slice, range);
    }
  }
  return found;
}
