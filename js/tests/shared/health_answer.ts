import { Verdict } from "../../src/shared/client/health.ts";
import type { HealthAnswer } from "../../src/shared/client/tensor_questions.ts";

/** A health of `rows` OK entries, one a node, with other verdicts, words and facts at some of them. */
export function healthOf(
  rows: number,
  others: Record<number, Partial<Row>> = {},
  state: HealthAnswer["state"] = "done",
): HealthAnswer {
  const table = Array.from({ length: rows }, (_, row): Row => ({ ...SOUND, ...others[row] }));
  const order = Array.from(table.keys()).sort(
    (a, b) => WORST.indexOf(table[a]!.verdict) - WORST.indexOf(table[b]!.verdict) || a - b,
  );
  const rank = new Int32Array(rows);
  for (const [at, row] of order.entries()) rank[row] = at;
  const floats = (name: Fact) => Float64Array.from(table, (row) => row[name]);
  return {
    state,
    done: table.filter(({ verdict }) => verdict !== Verdict.NOT_SCANNED).length,
    total: rows,
    words: table.map(({ words }) => words),
    brief: table.map(({ brief }) => brief),
    firstNan: table.findIndex(({ nan }) => nan > 0),
    firstNonfinite: table.findIndex(({ nan, inf }) => nan > 0 || inf > 0),
    node: Int32Array.from(table, (_, row) => row),
    output: new Int32Array(rows),
    verdict: Uint8Array.from(table, ({ verdict }) => verdict),
    nan: floats("nan"),
    inf: floats("inf"),
    zero: floats("zero"),
    saturated: floats("saturated"),
    dead: floats("dead"),
    denormal: floats("denormal"),
    low: floats("low"),
    high: floats("high"),
    rank,
    source: Int32Array.from(table, ({ source }) => source),
  };
}

const SOUND = {
  verdict: Verdict.OK as number,
  words: "",
  brief: "",
  nan: 0,
  inf: 0,
  zero: 0,
  saturated: Number.NaN,
  dead: Number.NaN,
  denormal: 0,
  low: -1,
  high: 1,
  source: -1,
};
type Row = typeof SOUND;
type Fact = Exclude<keyof Row, "verdict" | "words" | "brief" | "source">;

const WORST: readonly number[] = [
  Verdict.FAULTY,
  Verdict.SUSPICIOUS,
  Verdict.UNKNOWN,
  Verdict.NOT_SCANNED,
  Verdict.OK,
];
