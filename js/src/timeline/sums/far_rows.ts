import type { AreaAnswer } from "../../shared/client/timeline_columns.ts";
import type { ByRow, Rows, Spread } from "./by_rows.ts";

const UNKNOWN: Spread = {
  mean: Number.NaN,
  p50: Number.NaN,
  p90: Number.NaN,
  low: Number.NaN,
  high: Number.NaN,
  noisy: false,
  repeats: 0,
};

/** Sums of slices that a page does not hold: what the kernel says of them. Spreads and what is below rows it does not. */
export class FarRows implements Rows {
  readonly rows: ByRow[];
  readonly total: number;
  readonly idle = 0;
  readonly alone = 0;
  readonly overlap: boolean;
  /** Rows there are, of which the first are here. */
  readonly all: number;

  /** @param kindOf  op kind of the nodes of a row. */
  constructor(answer: AreaAnswer, kindOf: (nodes: readonly number[]) => string) {
    this.total = answer.sum;
    this.overlap = answer.overlap;
    this.all = answer.rows;
    this.rows = answer.by.map(({ label, nodes, count, sum, share }, at) => ({
      id: `${at} ${label}`,
      label,
      kind: kindOf(nodes),
      isWork: share !== null,
      ns: sum,
      count,
      nodes,
      operators: [],
      isWhole: false,
      each: null,
      slice: -1,
      inside: null,
    }));
  }

  spread(): Spread {
    return UNKNOWN;
  }
}
