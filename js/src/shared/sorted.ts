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
