import type { StringColumn } from "./columns.ts";

/** Numbers of a difference that rows by node and by op kind share; times in nanoseconds, NaN where unknown. */
export interface ChangeRows {
  label: StringColumn;
  nsA: Float64Array;
  nsB: Float64Array;
  /** Two-sided p value, and that corrected for the number of tests. */
  p: Float64Array;
  q: Float64Array;
  /** By how much a repeat of B is longer, and the 95 % interval of that. */
  shift: Float64Array;
  low: Float64Array;
  high: Float64Array;
  /** Index into `info.verdicts`. */
  verdict: Uint8Array;
  /** What the verdict rests on, in words. */
  why: StringColumn;
}

/** The times of two runs compared, the largest difference first; see `tvmdbg_widgets/answers/change.py`. */
export interface ChangeColumns extends ChangeRows {
  kind: StringColumn;
  /** The node of A that stands for the row: the last as it runs, -1 where A has none. */
  node: Int32Array;
  /** Nodes of row `i` are `aStart[i]` to `aStart[i + 1] - 1` of `aNodes`. */
  aStart: Int32Array;
  aNodes: Int32Array;
  bStart: Int32Array;
  bNodes: Int32Array;
  /** Beside each of `bNodes`: its label, and its first slice as an index in `run.timeline`, -1 for none. */
  bNames: StringColumn;
  bSlices: Int32Array;
  /** Index into `info.matches`, 255 where one side has no node. */
  match: Uint8Array;
  reason: StringColumn;
  /** Of the first output, `1×64×8×8`: tells operators of one label apart. */
  shape: StringColumn;
  repeatsAStart: Int32Array;
  repeatsA: Float64Array;
  repeatsBStart: Int32Array;
  repeatsB: Float64Array;
  kindLabel: StringColumn;
  kindNsA: Float64Array;
  kindNsB: Float64Array;
  kindP: Float64Array;
  kindQ: Float64Array;
  kindShift: Float64Array;
  kindLow: Float64Array;
  kindHigh: Float64Array;
  kindVerdict: Uint8Array;
  kindWhy: StringColumn;
  /** Distinct names of the slices of B: the label and the op kind of what they are of. */
  sliceNames: StringColumn;
  sliceLabels: StringColumn;
  sliceKinds: StringColumn;
  info: {
    titles: [a: string, b: string];
    sentence: string;
    said: string[];
    verdicts: string[];
    matches: string[];
    total: { a: number; b: number; verdict: number; why: string };
  };
}
