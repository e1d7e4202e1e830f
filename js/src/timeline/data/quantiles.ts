import { append } from "../../shared/many.ts";

/** Slices per entry of a prefix sum. */
export const BLOCK = 16;
/** Blocks between two pauses, less one. */
const PAUSE = (1 << 13) - 1;

/** Sums of all values before every block of 16, and of all at the end. */
export function prefixSums(values: Uint32Array | Float64Array): Float64Array {
  const before = new Float64Array(Math.ceil(values.length / BLOCK) + 1);
  let sum = 0;
  for (let block = 0; block + 1 < before.length; block++) {
    const end = Math.min(values.length, (block + 1) * BLOCK);
    for (let i = block * BLOCK; i < end; i++) sum += values[i]!;
    before[block + 1] = sum;
  }
  return before;
}

/** Position of the maximum of values[from … to) in O(log n); the first of equals. */
export class MaxPyramid {
  #values: Uint32Array | Float64Array;
  /** Per level, the position of the maximum of every full block of 16, 256, … values. */
  readonly #levels: Int32Array[] = [];

  constructor(values: Uint32Array | Float64Array) {
    this.#values = values;
    for (const _ of this.#rise());
  }

  /** Built with pauses. */
  static *making(values: Uint32Array | Float64Array): Generator<void, MaxPyramid> {
    const pyramid = new MaxPyramid(values.subarray(0, 0));
    pyramid.#values = values;
    yield* pyramid.#rise();
    return pyramid;
  }

  *#rise(): Generator<void, void> {
    const values = this.#values;
    for (let blocks = Math.floor(values.length / BLOCK); blocks > 0; ) {
      const below = this.#levels.at(-1);
      const level = new Int32Array(blocks);
      for (let block = 0; block < blocks; block++) {
        let best = below ? below[block * BLOCK]! : block * BLOCK;
        for (let i = block * BLOCK + 1; i < (block + 1) * BLOCK; i++) {
          const at = below ? below[i]! : i;
          if (values[at]! > values[best]!) best = at;
        }
        level[block] = best;
        if ((block & PAUSE) === PAUSE) yield;
      }
      this.#levels.push(level);
      blocks = Math.floor(blocks / BLOCK);
    }
  }

  /** Position of the maximum, -1 for an empty range. */
  argmax(from: number, to: number): number {
    let best = -1;
    let [low, high] = [from, to];
    for (let level = 0; low < high; level++) {
      while (low < high && low % BLOCK) best = this.#better(best, level, low++);
      while (low < high && high % BLOCK) best = this.#better(best, level, --high);
      low /= BLOCK;
      high /= BLOCK;
    }
    return best;
  }

  #better(best: number, level: number, block: number): number {
    const at = level === 0 ? block : this.#levels[level - 1]![block]!;
    if (best < 0) return at;
    const [value, known] = [this.#values[at]!, this.#values[best]!];
    return value > known || (value === known && at < best) ? at : best;
  }
}

/** Number of values below which sorting is quicker than counting. */
const FEW = 2048;
const BUCKETS = 1 << 16;
/** Values between two pauses. */
const PIECE = 1 << 17;

/** Ranges [first, last) of a column, one after the other. */
export type Stretches = readonly (readonly [first: number, last: number])[];

/** Order statistics at ascending positions of non-negative numbers in linear time: counts 16 bits at a time. */
export function* valuesAt(
  values: Uint32Array | Float64Array,
  stretches: Stretches,
  places: readonly number[],
): Generator<void, number[]> {
  const count = stretches.reduce((sum, [first, last]) => sum + last - first, 0);
  if (count <= FEW) return pick(gathered(values, stretches, count).sort(), places);
  if (values instanceof Uint32Array) return yield* whole(values, stretches, places);
  return yield* floating(gathered(values, stretches, count), places, 3);
}

/** Runs a generator without pauses and returns its result. */
export function finished<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Linearly interpolated percentiles, as numpy's default; NaN without values. */
export function percentiles(
  values: Uint32Array | Float64Array,
  stretches: Stretches,
  shares: readonly number[],
): number[] {
  return finished(percentiling(values, stretches, shares));
}

/** Percentiles computed with pauses. */
export function* percentiling(
  values: Uint32Array | Float64Array,
  stretches: Stretches,
  shares: readonly number[],
): Generator<void, number[]> {
  const count = stretches.reduce((sum, [first, last]) => sum + last - first, 0);
  if (!count) return shares.map(() => Number.NaN);
  const at = shares.map((share) => share * (count - 1));
  const places = [
    ...new Set(at.flatMap((position) => [Math.floor(position), Math.ceil(position)])),
  ];
  places.sort((a, b) => a - b);
  const ordered = yield* valuesAt(values, stretches, places);
  const byPosition = new Map(ordered.map((value, i) => [places[i], value]));
  return at.map((position) => {
    const [low, high] = [
      byPosition.get(Math.floor(position))!,
      byPosition.get(Math.ceil(position))!,
    ];
    const share = position - Math.floor(position);
    return share < 0.5 ? low + (high - low) * share : high - (high - low) * (1 - share);
  });
}

function gathered(
  values: Uint32Array | Float64Array,
  stretches: Stretches,
  count: number,
): Float64Array {
  const result = new Float64Array(count);
  let at = 0;
  for (const [first, last] of stretches) {
    result.set(values.subarray(first, last), at);
    at += last - first;
  }
  return result;
}

function pick(sorted: Float64Array, places: readonly number[]): number[] {
  return places.map((place) => sorted[place]!);
}

/** Integers by their upper 16 bits, then by the lower ones. */
function* whole(
  values: Uint32Array,
  stretches: Stretches,
  places: readonly number[],
): Generator<void, number[]> {
  const upper = new Uint32Array(BUCKETS);
  for (const [first, last] of pieces(stretches)) {
    for (let at = first; at < last; at++) upper[values[at]! >>> 16]!++;
    yield;
  }
  const wanted = wantedBuckets(upper, places);
  const tables = new Uint32Array(wanted.length * BUCKETS);
  const tableOf = new Int32Array(BUCKETS).fill(-1);
  wanted.forEach(({ bucket }, table) => {
    tableOf[bucket] = table * BUCKETS;
  });
  for (const [first, last] of pieces(stretches)) {
    countLower(values, first, last, tableOf, tables);
    yield;
  }
  return wanted.flatMap(({ bucket, before, inside }, table) => {
    const lower = tables.subarray(table * BUCKETS, (table + 1) * BUCKETS);
    const local = inside.map((place) => place - before);
    return wantedBuckets(lower, local).flatMap((bucketRank) =>
      bucketRank.inside.map(() => bucket * BUCKETS + bucketRank.bucket),
    );
  });
}

/** Ranges short enough to be read between two pauses. */
function* pieces(stretches: Stretches): Generator<readonly [first: number, last: number]> {
  for (const [first, last] of stretches) {
    for (let at = first; at < last; at += PIECE) yield [at, Math.min(last, at + PIECE)];
  }
}

function countLower(
  values: Uint32Array,
  first: number,
  last: number,
  tableOf: Int32Array,
  tables: Uint32Array,
): void {
  for (let at = first; at < last; at++) {
    const value = values[at]!;
    const table = tableOf[value >>> 16]!;
    if (table >= 0) tables[table + (value & 0xffff)]!++;
  }
}

/** Nonnegative doubles have the order of their bits. */
function* floating(
  values: Float64Array,
  places: readonly number[],
  part: number,
): Generator<void, number[]> {
  if (values.length <= FEW || part < 0) return pick(values.sort(), places);
  const parts = new Uint16Array(values.buffer, values.byteOffset, 4 * values.length);
  const counts = new Uint32Array(BUCKETS);
  for (let at = part; at < parts.length; at += 4) counts[parts[at]!]!++;
  yield;
  const result: number[] = [];
  for (const { bucket, before, inside } of wantedBuckets(counts, places)) {
    const same = new Float64Array(counts[bucket]!);
    for (let at = part, next = 0; at < parts.length; at += 4) {
      if (parts[at] === bucket) same[next++] = values[at >>> 2]!;
    }
    const local = inside.map((place) => place - before);
    yield;
    append(result, yield* floating(same, local, part - 1));
  }
  return result;
}

interface WantedRank {
  bucket: number;
  /** Number of values in the buckets before. */
  before: number;
  /** Wanted positions in this bucket. */
  inside: number[];
}

function wantedBuckets(counts: Uint32Array, places: readonly number[]): WantedRank[] {
  const ranks: WantedRank[] = [];
  let [next, before] = [0, 0];
  for (let bucket = 0; bucket < counts.length && next < places.length; bucket++) {
    const after = before + counts[bucket]!;
    const inside: number[] = [];
    while (next < places.length && places[next]! < after) inside.push(places[next++]!);
    if (inside.length) ranks.push({ bucket, before, inside });
    before = after;
  }
  return ranks;
}
