import type { Slices } from "../data/slices.ts";
import type { Range } from "./aggregate.ts";
import type { KeyOf } from "./called.ts";

/** The slices that touch a range, by their key from 0 to `size` - 1, those of key -1 left out. */
export function byKey(
  { rows, count }: Slices,
  range: Range | null,
  size: number,
  key: KeyOf,
): [first: Int32Array, slices: Int32Array] {
  const first = new Int32Array(size + 1);
  const keys = new Int32Array(count).fill(-1);
  for (const row of rows) {
    const [begin, end] = range ? row.range(...range) : [row.first, row.last];
    for (let slice = begin; slice < end; slice++) {
      keys[slice] = key(slice, row);
      if (keys[slice]! >= 0) first[keys[slice]! + 1]!++;
    }
  }
  for (let i = 1; i < first.length; i++) first[i]! += first[i - 1]!;
  const next = first.slice();
  const slices = new Int32Array(first[size]!);
  keys.forEach((each, slice) => {
    if (each >= 0) slices[next[each]!++] = slice;
  });
  return [first, slices];
}
