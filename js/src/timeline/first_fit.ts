/** Finds the first lane that is free at a time, in O(log lanes): a tree of the least end below each knot. */
export class FirstFit {
  #size = 1;
  #ends = new Float64Array([0, -Infinity]);
  #used = 0;

  get lanes(): number {
    return this.#used;
  }

  /** Takes the first lane whose last end is `start` or before, until `end`. */
  take(start: number, end: number): number {
    if (this.#ends[1]! > start) this.#grow();
    let knot = 1;
    while (knot < this.#size) knot = this.#ends[2 * knot]! <= start ? 2 * knot : 2 * knot + 1;
    const lane = knot - this.#size;
    this.#ends[knot] = end;
    for (knot >>= 1; knot >= 1; knot >>= 1) {
      this.#ends[knot] = Math.min(this.#ends[2 * knot]!, this.#ends[2 * knot + 1]!);
    }
    this.#used = Math.max(this.#used, lane + 1);
    return lane;
  }

  #grow(): void {
    const size = this.#size * 2;
    const ends = new Float64Array(2 * size).fill(-Infinity);
    ends.set(this.#ends.subarray(this.#size), size);
    for (let knot = size - 1; knot >= 1; knot--) {
      ends[knot] = Math.min(ends[2 * knot]!, ends[2 * knot + 1]!);
    }
    [this.#size, this.#ends] = [size, ends];
  }
}
