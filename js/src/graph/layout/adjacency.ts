/** Compressed rows: the items of row r are item[start[r]] … item[start[r + 1] - 1], in input order. */
export interface Rows {
  start: Int32Array;
  item: Int32Array;
}

/** Groups the positions 0 … key.length - 1 by key; negative keys are left out. */
export function groupBy(count: number, key: Int32Array): Rows {
  const start = new Int32Array(count + 1);
  let kept = 0;
  for (let i = 0; i < key.length; i++) {
    const k = key[i]!;
    if (k >= 0) {
      start[k + 1]!++;
      kept++;
    }
  }
  for (let r = 0; r < count; r++) start[r + 1]! += start[r]!;
  const fill = start.slice(0, count);
  const item = new Int32Array(kept);
  for (let i = 0; i < key.length; i++) {
    const k = key[i]!;
    if (k >= 0) item[fill[k]!++] = i;
  }
  return { start, item };
}

/** The values at some places. */
export function at(values: Int32Array, places: Int32Array): Int32Array {
  const found = new Int32Array(places.length);
  for (let i = 0; i < places.length; i++) found[i] = values[places[i]!]!;
  return found;
}

export function bytesAt(values: Uint8Array, places: Int32Array): Uint8Array {
  const found = new Uint8Array(places.length);
  for (let i = 0; i < places.length; i++) found[i] = values[places[i]!]!;
  return found;
}

export function numbersAt(values: Float64Array, places: Int32Array): Float64Array {
  const found = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) found[i] = values[places[i]!]!;
  return found;
}

/** The place of each value in an arrangement of 0 … count - 1. */
export function inverse(arrangement: Int32Array): Int32Array {
  const place = new Int32Array(arrangement.length);
  for (let i = 0; i < arrangement.length; i++) place[arrangement[i]!] = i;
  return place;
}

/** Neighbors of every node: row v holds value[i] for each i with key[i] = v. */
export function neighbors(count: number, key: Int32Array, value: Int32Array): Rows {
  const rows = groupBy(count, key);
  const { item } = rows;
  for (let i = 0; i < item.length; i++) item[i] = value[item[i]!]!;
  return rows;
}
