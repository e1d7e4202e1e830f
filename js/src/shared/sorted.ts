/** First position in [low, high) whose value is `value` or more; `high` where there is none. */
export function lowerBound(
  values: Float64Array | Int32Array,
  value: number,
  low = 0,
  high = values.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First position in [low, high) whose value is more than `value`; `high` where there is none. */
export function upperBound(
  values: Float64Array | Int32Array,
  value: number,
  low = 0,
  high = values.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same as `lowerBound`, quick where the answer lies near `low`. */
export function lowerBoundNear(
  values: Float64Array | Int32Array,
  value: number,
  low: number,
): number {
  let [from, step] = [low, 1];
  while (from < values.length && values[from]! < value) {
    low = from + 1;
    from += step;
    step *= 2;
  }
  return lowerBound(values, value, low, Math.min(from, values.length));
}
