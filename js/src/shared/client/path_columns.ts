import type { StringColumn } from "./columns.ts";

/** The longest path through the graph by time; see `tvmdbg_widgets/analysis/timeline/critical_path.py`. */
export interface CriticalColumns {
  /** Its nodes in order. */
  path: Int32Array;
  /** Of every node (N): by how much it could take longer before the end moves; 0 on the path, NaN unknown. */
  slack: Float64Array;
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
export interface RooflineColumns {
  node: Int32Array;
  /** NaN unknown. */
  flops: Float64Array;
  bytes: Float64Array;
  /** 0 where `flops` may be off by 1 %. */
  exact: Uint8Array;
  /** What is computed with. */
  dtypes: StringColumn;
  /** Why something is unknown; else empty. */
  why: StringColumn;
  info: { missing: string; convention: string };
}
