import type { Columns } from "./wire.ts";

/** What varies along the timeline: memory in use, counters of a trace. A value holds until the next one. */
export interface CounterColumns extends Columns<"counters"> {
  info: {
    /** Why memory is not among them and how to get it, "" where it is. */
    missing: string;
    /** How many values there are, where only the extremes of short stretches were sent; else 0. */
    thinned: number;
    /** Counters that were not sent. */
    leftOut: number;
  };
}
