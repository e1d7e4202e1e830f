/** Slices singled out: a bit each, and a bit for every 32 and every 1,024 of which one is set. */
export class Marked {
  readonly count: number;
  readonly #levels: readonly Int32Array[];

  /** @param slices  how many slices there are. */
  constructor(slices: number, marked: Iterable<number> = []) {
    const levels: Int32Array[] = [];
    for (let size = slices; size > 1 || !levels.length; size = Math.ceil(size / 32)) {
      levels.push(new Int32Array(Math.ceil(size / 32)));
    }
    let count = 0;
    const lowest = levels[0]!;
    for (const slice of marked) {
      if (slice < 0 || slice >= slices) continue;
      if (!(lowest[slice >>> 5]! & (1 << (slice & 31)))) count++;
      for (let [level, at] = [0, slice]; level < levels.length; level++, at >>>= 5) {
        levels[level]![at >>> 5]! |= 1 << (at & 31);
      }
    }
    this.count = count;
    this.#levels = levels;
  }

  has(slice: number): boolean {
    return ((this.#levels[0]![slice >>> 5] ?? 0) & (1 << (slice & 31))) !== 0;
  }

  /** The first marked slice of [from, to), -1 where there is none. */
  next(from: number, to: number): number {
    if (from >= to) return -1;
    let [level, at] = [0, from];
    for (;;) {
      const words = this.#levels[level];
      if (!words) return -1;
      const word = (words[at >>> 5] ?? 0) & (-1 << (at & 31));
      if (word) {
        at = (at & ~31) + trailing(word);
        break;
      }
      at = (at >>> 5) + 1;
      level++;
    }
    while (level-- > 0) at = (at << 5) + trailing(this.#levels[level]![at]!);
    return at < to ? at : -1;
  }
}

/** Position of the lowest set bit. */
function trailing(word: number): number {
  return 31 - Math.clz32(word & -word);
}
