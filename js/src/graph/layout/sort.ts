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
  let found = 0;
  for (let i = 0; i < count; ) {
    runs[found++] = i++;
    while (i < count && key[i - 1]! <= key[i]!) i++;
  }
  while (found > 1) {
    let kept = 0;
    for (let r = 0; r < found; r += 2) {
      const a = runs[r]!;
      if (r + 1 < found) merge(item, key, a, runs[r + 1]!, r + 2 < found ? runs[r + 2]! : count);
      runs[kept++] = a;
    }
    found = kept;
  }
}
