import type { Row, Slices } from "./slices.ts";

/** One row as pixel columns: runs of columns that look the same, left to right, idle columns left out. */
export interface Strip {
  count: number;
  /** Columns [left, right) of each run. */
  left: Int32Array;
  right: Int32Array;
  /** The slice that takes most of the run. */
  slice: Int32Array;
  /** Busy time over the run's time: 1 where one slice covers all of it. */
  share: Float32Array;
}

/**
 * What `width` pixel columns show of a row, column c being the time [from + c·step, from + (c+1)·step).
 *
 * A slice gives one run of the columns that it covers whole; every other column is summed up exactly from prefix
 * sums. The work is O(width · log n), however many slices there are.
 */
export function strip(slices: Slices, row: Row, from: number, step: number, width: number): Strip {
  const left = new Int32Array(width);
  const right = new Int32Array(width);
  const slice = new Int32Array(width);
  const share = new Float32Array(width);
  let count = 0;
  const [first, last] = row.range(from, from + width * step);
  let at = first;
  for (let column = 0; column < width; ) {
    const since = from + column * step;
    if (at < last && slices.endOf(at) <= since) at = row.endingAfter(since, at + 1);
    if (at >= last) break;
    const start = (slices.startOf(at) - from) / step;
    column = Math.max(column, Math.floor(start));
    if (column >= width) break;
    const whole = Math.min(width, Math.floor((slices.endOf(at) - from) / step));
    left[count] = column;
    if (start <= column && whole > column) {
      slice[count] = at;
      share[count] = 1;
      column = whole;
    } else {
      const time = from + column * step;
      const next = Math.max(at, row.startingAt(time + step, at));
      slice[count] = row.dominantOf(at, next, time, time + step);
      share[count] = Math.min(1, row.busyOf(at, next, time, time + step) / step);
      column++;
    }
    right[count] = column;
    if (share[count]! > 0) count++;
  }
  return { count, left, right, slice, share };
}
