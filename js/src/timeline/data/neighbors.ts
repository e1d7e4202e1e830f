import { type Row, RowKind, type Slices } from "./slices.ts";

/** What lies around a slice; slices are -1 where there is none. */
export interface Neighbors {
  parent: number;
  /** How many slices lie in it and in none that lies in it. */
  children: number;
  /** In its row; the time between is 0 or more, up to a rounded nanosecond. */
  previous: number;
  sincePrevious: number;
  next: number;
  untilNext: number;
}

export function neighbors(slices: Slices, slice: number): Neighbors {
  const row = slices.rows[slices.rowOf(slice)]!;
  const [previous, next] = [slice - 1, slice + 1];
  const [hasPrevious, hasNext] = [previous >= row.first, next < row.last];
  return {
    parent: slices.parentOf(slice),
    children: childrenOf(slices, slice),
    previous: hasPrevious ? previous : -1,
    sincePrevious: hasPrevious
      ? Math.max(0, slices.startOf(slice) - slices.endOf(previous))
      : Number.NaN,
    next: hasNext ? next : -1,
    untilNext: hasNext ? Math.max(0, slices.startOf(next) - slices.endOf(slice)) : Number.NaN,
  };
}

function childrenOf(slices: Slices, slice: number): number {
  const inner = rowInside(slices, slice);
  const [first, last] = inner ? inside(slices, inner, slice) : [0, 0];
  return last - first;
}

/** The row in which the slices lie whose parent a slice can be. */
function rowInside(slices: Slices, slice: number): Row | undefined {
  const row = slices.rows[slices.rowOf(slice)];
  if (row?.kind !== RowKind.NESTED) return undefined;
  const { rows } = slices.tracks[row.track]!;
  return rows.find((each) => each.kind === RowKind.NESTED && each.depth === row.depth + 1);
}

/** The slices of an inner row whose parent a slice is. */
function inside(slices: Slices, inner: Row, slice: number): [first: number, last: number] {
  let [first, last] = inner.range(slices.startOf(slice), slices.endOf(slice));
  while (first < last && slices.parentOf(first) !== slice) first++;
  while (first < last && slices.parentOf(last - 1) !== slice) last--;
  return [first, last];
}

/** The child that takes longest, the first of equals; -1 where there is none. */
export function longestChild(slices: Slices, slice: number): number {
  const inner = rowInside(slices, slice);
  if (!inner) return -1;
  const [first, last] = inside(slices, inner, slice);
  return inner.dominantOf(first, last, slices.startOf(slice), slices.endOf(slice));
}
