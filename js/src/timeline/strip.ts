import { lowerBoundNear } from "../shared/sorted.ts";
import type { Lane } from "./intervals.ts";

/** One lane as pixel columns: runs of columns that look the same, left to right, idle columns left out. */
export interface Strip {
  count: number;
  /** Columns [left, right) of each run. */
  left: Int32Array;
  right: Int32Array;
  /** Position in the lane of the slice that takes most of the run. */
  position: Int32Array;
  /** Busy time over the run's time: 1 where one slice covers all of it. */
  share: Float32Array;
}

/**
 * What `width` pixel columns show of a lane, column c being the time [from + c·step, from + (c+1)·step).
 *
 * A slice gives one run of the columns that it covers whole; every other column is summed up exactly from prefix
 * sums. The work is O(width · log n), however many slices there are.
 */
export function strip(lane: Lane, from: number, step: number, width: number): Strip {
  const left = new Int32Array(width);
  const right = new Int32Array(width);
  const position = new Int32Array(width);
  const share = new Float32Array(width);
  let count = 0;
  const [first, last] = lane.range(from, from + width * step);
  let at = first;
  for (let column = 0; column < width; ) {
    while (at < last && lane.end[at]! <= from + column * step) {
      at = Math.max(at + 1, lowerBoundNear(lane.end, from + column * step, at));
    }
    if (at >= last) break;
    const start = (lane.start[at]! - from) / step;
    column = Math.max(column, Math.floor(start));
    if (column >= width) break;
    const whole = Math.min(width, Math.floor((lane.end[at]! - from) / step));
    left[count] = column;
    if (start <= column && whole > column) {
      position[count] = at;
      share[count] = 1;
      column = whole;
    } else {
      const time = from + column * step;
      const next = Math.max(at, lowerBoundNear(lane.start, time + step, at));
      position[count] = lane.dominantOf(at, next, time, time + step);
      share[count] = Math.min(1, lane.busyOf(at, next, time, time + step) / step);
      column++;
    }
    right[count] = column;
    if (share[count]! > 0) count++;
  }
  return { count, left, right, position, share };
}
