/** Trials in the order of the horizontal axis, so that those in a part of it are found without looking at all. */
export class Axis {
  readonly rows: Int32Array;
  /** Where each of `rows` lies, ascending. */
  readonly values: Float64Array;

  /** @param values  of all trials; NaN is unknown, and leaves a trial out. */
  constructor(values: Float64Array) {
    let isOrdered = true;
    for (let row = 0; row < values.length; row++) {
      if (!(values[row]! >= (row ? values[row - 1]! : Number.NEGATIVE_INFINITY))) isOrdered = false;
    }
    const all = new Int32Array(values.length);
    for (let row = 0; row < all.length; row++) all[row] = row;
    this.rows = isOrdered ? all : all.filter((row) => !Number.isNaN(values[row]!));
    if (!isOrdered) this.rows.sort((a, b) => values[a]! - values[b]! || a - b);
    this.values = isOrdered ? values : Float64Array.from(this.rows, (row) => values[row]!);
  }

  /** How many trials lie before a value. */
  before(value: number): number {
    let [low, high] = [0, this.values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many trials lie before a value, or at it. */
  upTo(value: number): number {
    let [low, high] = [0, this.values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
