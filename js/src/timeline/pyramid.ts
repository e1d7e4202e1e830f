const BASE = 16;

/** Answers where the largest of values[from … to) lies in O(log n); equal values: the first. */
export class MaxPyramid {
  readonly #values: Float64Array;
  /** Per level the position of the maximum of each full block of 16, 256, … values. */
  readonly #levels: Int32Array[] = [];

  constructor(values: Float64Array) {
    this.#values = values;
    for (let blocks = Math.floor(values.length / BASE); blocks > 0; ) {
      const below = this.#levels.at(-1);
      const level = new Int32Array(blocks);
      for (let block = 0; block < blocks; block++) {
        let best = below ? below[block * BASE]! : block * BASE;
        for (let i = block * BASE + 1; i < (block + 1) * BASE; i++) {
          const at = below ? below[i]! : i;
          if (values[at]! > values[best]!) best = at;
        }
        level[block] = best;
      }
      this.#levels.push(level);
      blocks = Math.floor(blocks / BASE);
    }
  }

  /** Position of the maximum, -1 of an empty range. */
  argmax(from: number, to: number): number {
    let best = -1;
    let [low, high] = [from, to];
    for (let level = 0; low < high; level++) {
      while (low < high && low % BASE) best = this.#better(best, level, low++);
      while (low < high && high % BASE) best = this.#better(best, level, --high);
      low /= BASE;
      high /= BASE;
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
