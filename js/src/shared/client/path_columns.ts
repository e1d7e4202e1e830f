import type { Columns } from "./wire.ts";

/** The longest path through the graph by time; see `tvmdbg_widgets/analysis/timeline/critical_path.py`. */
export interface CriticalColumns extends Columns<"critical"> {
  info: {
    /** Why there is no path and how to get one; then there are no columns, and nothing below. */
    missing: string;
    said: string[];
    length: number;
    total: number;
    /** Nothing ran beside anything else: the length is a lower bound. */
    sequential: boolean;
  };
}

/** What each operator (P) computes and moves, counted from shapes; see `tvmdbg_widgets/analysis/work`. */
export interface RooflineColumns extends Columns<"roofline"> {
  info: { missing: string; convention: string };
}
