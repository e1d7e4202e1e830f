import type { Columns } from "./wire.ts";

/** Numbers of a difference that rows by node and by op kind share; times in nanoseconds, NaN where unknown. */
export type ChangeRows = Pick<
  Columns<"change">,
  "label" | "nsA" | "nsB" | "p" | "q" | "shift" | "low" | "high" | "verdict" | "why"
>;

/** The times of two runs compared, the largest difference first; see `tvmdbg_widgets/answers/change.py`. */
export interface ChangeColumns extends Columns<"change"> {
  info: {
    titles: [a: string, b: string];
    sentence: string;
    said: string[];
    verdicts: string[];
    matches: string[];
    total: { a: number; b: number; verdict: number; why: string };
  };
}
