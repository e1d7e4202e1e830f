import type { StringColumn } from "./columns.ts";

/** What varies along the timeline: memory in use, counters of a trace. A value holds until the next one. */
export interface CounterColumns {
  names: StringColumn;
  /** "B" of bytes, "" where the trace does not say. */
  units: StringColumn;
  /** What each is and is not. */
  said: StringColumn;
  /** Counter c has the values [offsets[c], offsets[c + 1]). */
  offsets: Int32Array;
  ns: Float64Array;
  value: Float64Array;
  info: {
    /** Why memory is not among them and how to get it, "" where it is. */
    missing: string;
    /** How many values there are, where only the extremes of short stretches were sent; else 0. */
    thinned: number;
    /** Counters that were not sent. */
    leftOut: number;
  };
}
