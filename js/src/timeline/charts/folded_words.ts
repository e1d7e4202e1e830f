import { counted, duration, integer, percent } from "../../shared/format.ts";
import type { Data } from "../data.ts";
import type { Called } from "../sums/called.ts";
import { apartText } from "./diverging.ts";
import { type Lanes, MEDIAN } from "./lanes.ts";
import type { MatrixRow } from "./repeat_matrix.ts";

/** What the folded repeats say of an operator, in one repeat or at its median. */
export class FoldedWords {
  readonly #lanes: Lanes;
  readonly #called: Called;
  readonly #warm: number;

  constructor(lanes: Lanes, called: Called, warm: number) {
    this.#lanes = lanes;
    this.#called = called;
    this.#warm = warm;
  }

  lines(row: MatrixRow, lane: number): string[] {
    const { median, p10, p90, values, noisy } = row;
    const whole = this.#lanes.starts(lane).at(-1)!;
    const of = lane === MEDIAN ? `the sum of medians` : `repeat ${integer(lane + 1)}`;
    const ns = lane === MEDIAN ? median : values[lane]!;
    return [
      this.#called.title(row.key),
      lane === MEDIAN
        ? `median ${this.#called.told(median)} of ${counted(values.length, "repeat")}`
        : `repeat ${integer(lane + 1)} of ${integer(values.length)}${lane < this.#warm ? ", warm-up" : ""}: ` +
          `${this.#called.told(ns)}, ${apartText(ns / median - 1)} of the median`,
      `p10 … p90 ${this.#called.told(p10)} … ${this.#called.told(p90)}`,
      `${percent(ns / whole)} of ${duration(whole)}, ${of}`,
      ...(noisy ? ["noisy: p90 is more than 1.2 × p10"] : []),
    ];
  }
}

/** Why there is no such chart. */
export function noFolding({ slices }: Data): string | null {
  const { info, nodeCount } = slices.columns;
  if (nodeCount.some((count) => count > 1)) return null;
  return info.words.byName
    ? "A trace has slices, not repeats of a whole run: there is nothing to overlay."
    : `Each ${info.words.item} was measured once. Measure several repeats: run(repeat=10).`;
}
