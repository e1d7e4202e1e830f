/** Compressed rows: the items of row r are item[start[r]] … item[start[r + 1] - 1], in input order. */
export interface CompressedRows {
  start: Int32Array;
  item: Int32Array;
}

/** Groups the positions 0 … key.length - 1 by key; negative keys are left out. */
export function groupBy(count: number, key: Int32Array): CompressedRows {
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

export function at(values: Int32Array, places: Int32Array): Int32Array {
  const result = new Int32Array(places.length);
  for (let i = 0; i < places.length; i++) result[i] = values[places[i]!]!;
  return result;
}

export function bytesAt(values: Uint8Array, places: Int32Array): Uint8Array {
  const result = new Uint8Array(places.length);
  for (let i = 0; i < places.length; i++) result[i] = values[places[i]!]!;
  return result;
}

export function inverse(arrangement: Int32Array): Int32Array {
  const place = new Int32Array(arrangement.length);
  for (let i = 0; i < arrangement.length; i++) place[arrangement[i]!] = i;
  return place;
}

/** Neighbors of every node: row v holds value[i] for all i with key[i] = v. */
export function neighbors(count: number, key: Int32Array, value: Int32Array): CompressedRows {
  const rows = groupBy(count, key);
  const { item } = rows;
  for (let i = 0; i < item.length; i++) item[i] = value[item[i]!]!;
  return rows;
}

const SMALL = 24;

let runs = new Int32Array(64);
let sparePart = new Int32Array(64);
let spareKey = new Float64Array(64);

function merge(item: Int32Array, key: Float64Array, a: number, mid: number, b: number): void {
  const left = mid - a;
  for (let i = 0; i < left; i++) {
    sparePart[i] = item[a + i]!;
    spareKey[i] = key[a + i]!;
  }
  let i = 0;
  let j = mid;
  let to = a;
  while (i < left) {
    if (j < b && key[j]! < spareKey[i]!) {
      key[to] = key[j]!;
      item[to++] = item[j++]!;
    } else {
      key[to] = spareKey[i]!;
      item[to++] = sparePart[i++]!;
    }
  }
}

/** Stable; linear on sorted input, O(n log n) on any. */
export function sortByKey(item: Int32Array, key: Float64Array, count: number): void {
  if (count <= SMALL) {
    for (let i = 1; i < count; i++) {
      const k = key[i]!;
      const v = item[i]!;
      let j = i - 1;
      while (j >= 0 && key[j]! > k) {
        key[j + 1] = key[j]!;
        item[j + 1] = item[j]!;
        j--;
      }
      key[j + 1] = k;
      item[j + 1] = v;
    }
    return;
  }
  if (runs.length <= count) {
    runs = new Int32Array(2 * count);
    sparePart = new Int32Array(2 * count);
    spareKey = new Float64Array(2 * count);
  }
  let chosen = 0;
  for (let i = 0; i < count; ) {
    runs[chosen++] = i++;
    while (i < count && key[i - 1]! <= key[i]!) i++;
  }
  while (chosen > 1) {
    let kept = 0;
    for (let r = 0; r < chosen; r += 2) {
      const a = runs[r]!;
      if (r + 1 < chosen) merge(item, key, a, runs[r + 1]!, r + 2 < chosen ? runs[r + 2]! : count);
      runs[kept++] = a;
    }
    chosen = kept;
  }
}
