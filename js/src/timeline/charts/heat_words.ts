import type { TimelineInfo } from "../../shared/client/run_client.ts";
import { counted, duration, exactNs, integer } from "../../shared/format.ts";
import type { Data } from "../data.ts";
import type { TimelineOptions } from "../state.ts";
import type { Called } from "../sums/called.ts";
import { apartText } from "./diverging.ts";
import type { MatrixRow, RepeatMatrix } from "./repeat_matrix.ts";

/** What the heat strip says: of itself, of a row, of a cell, of a column. */
export class HeatWords {
  /** How many of the first repeats are warm-up. */
  readonly warm: number;
  readonly #matrix: RepeatMatrix;
  readonly #called: Called;
  readonly #order: string;

  constructor(matrix: RepeatMatrix, called: Called, { warmUp, words }: TimelineInfo) {
    this.#matrix = matrix;
    this.#called = called;
    this.#order = words.order;
    this.warm = matrix.ofSlices ? 0 : warmUp.cut;
  }

  about(sort: TimelineOptions["sort"]): string {
    const { columns, ofSlices, rows } = this.#matrix;
    const order = sort === "time" ? "longest first" : this.#order;
    const what = ofSlices
      ? `columns are the slices of each name, by start time (up to ${integer(columns)}), not repeats of the run`
      : `${counted(columns, "repeat")} across`;
    const warm = this.warm ? `; left of the line: warm-up, ${counted(this.warm, "repeat")}` : "";
    return `${counted(rows.length, "row")}, ${order}; ${what}${warm}`;
  }

  totalLines(repeat: number): string[] {
    const total = this.#matrix.totals[repeat]!;
    const warm = repeat < this.warm ? ["warm-up"] : [];
    return [`repeat ${repeat + 1}`, `total of all rows ${duration(total)}`, ...warm];
  }

  /** Of a row, or of one of its repeats; -1 none. */
  lines(row: MatrixRow, repeat: number): string[] {
    const { median, p10, p90, values } = row;
    const title = this.#called.title(row.key);
    const item = row.slices ? "slice" : "repeat";
    const all = `median ${this.#called.told(median)}, p10 … p90 ${this.#called.told(p10)} … ${this.#called.told(p90)}, ${counted(values.length, item)}`;
    const noisy = row.noisy ? ["noisy: p90 is more than 1.2 × p10"] : [];
    if (repeat < 0) return [title, all, ...noisy];
    const ns = values[repeat]!;
    const exact = ` (${exactNs(ns)})`;
    const warm = repeat < this.warm ? ", warm-up" : "";
    return [
      title,
      `${item} ${integer(repeat + 1)} of ${integer(values.length)}${warm}`,
      Number.isFinite(ns)
        ? `${this.#called.told(ns)}${exact}, ${apartText(ns / median - 1)} of the median`
        : "no value",
      all,
      ...noisy,
    ];
  }
}

/** Why there is no such chart. */
export function noRepeats({ slices }: Data): string | null {
  const { info, nodeCount } = slices.columns;
  if (nodeCount.some((count) => count > 1)) return null;
  if (info.words.byName && slices.count > slices.names.length) return null;
  return info.words.byName
    ? "No name has two slices: there is nothing to compare."
    : `Each ${info.words.item} was measured once. To see warm-up and noise, measure several repeats: run(repeat=10).`;
}
