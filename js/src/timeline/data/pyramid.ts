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
