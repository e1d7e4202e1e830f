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

/** Neighbours of every node: row v holds value[i] for each i with key[i] = v. */
export function neighbours(count: number, key: Int32Array, value: Int32Array): Rows {
  const rows = groupBy(count, key);
  const { item } = rows;
  for (let i = 0; i < item.length; i++) item[i] = value[item[i]!]!;
  return rows;
}
