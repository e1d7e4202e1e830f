import type { SumsAnswer, SumsInfo } from "../../shared/client/timeline_columns.ts";
import type { Columns } from "../../shared/client/wire.ts";
import { addTo } from "../../shared/many.ts";
import type { KeyNames } from "./key_names.ts";
import { callers, MergedTree, placesOf } from "./merged_tree.ts";

/** One row of a table: a sum of time and its breakdown, NaN if unknown. */
export interface SumRow {
  readonly id: string;
  /** Operator, or -1. */
  readonly key: number;
  readonly label: string;
  /** Op kind; "" for none or several. */
  readonly kind: string;
  /** Work of the model; other rows have no share, and come last. */
  readonly isWork: boolean;
  /** Self time in the range, and number of slices that touch it. */
  readonly ns: number;
  readonly count: number;
  readonly nodes: readonly number[];
  /** The first slice, or -1. */
  readonly slice: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly low: number;
  readonly high: number;
  readonly noisy: boolean;
  readonly repeats: number;
  /** Rows below it, or null. */
  readonly inside: (() => readonly SumRow[]) | null;
}

type SumColumns = Omit<Columns<"sums">, "around">;

/** Row of an answer by number. */
export function sumRow(columns: SumColumns, at: number, called: KeyNames): Omit<SumRow, "inside"> {
  const { nodes, nodeStart } = columns;
  const key = columns.key[at]!;
  const label = columns.label.at(at);
  return {
    id: `${at}`,
    key,
    label: called.node(key) < 0 ? label : called.title(key, label),
    kind: columns.kind.at(at),
    isWork: columns.work[at] === 1,
    ns: columns.ns[at]!,
    count: columns.count[at]!,
    nodes: [...nodes.subarray(nodeStart[at]!, nodeStart[at + 1]!)],
    slice: columns.slice[at]!,
    mean: columns.mean[at]!,
    p50: columns.p50[at]!,
    p90: columns.p90[at]!,
    low: columns.low[at]!,
    high: columns.high[at]!,
    noisy: columns.noisy[at] === 1,
    repeats: columns.repeats[at]!,
  };
}

const UNKNOWN = {
  mean: Number.NaN,
  p50: Number.NaN,
  p90: Number.NaN,
  low: Number.NaN,
  high: Number.NaN,
  noisy: false,
  repeats: 0,
};

/** Times by any grouping, as Python sums them; `tree` of a table by callers. */
export class SumTable {
  readonly rows: readonly SumRow[];
  readonly info: SumsInfo;
  readonly tree: MergedTree | null;
  readonly #called: KeyNames;

  constructor(answer: SumsAnswer, called: KeyNames, paths: Columns<"paths"> | null) {
    this.info = answer.info;
    this.#called = called;
    this.tree = paths && new MergedTree(paths);
    const below = new Map<number, number[]>();
    answer.around.forEach((around, at) => {
      addTo(below, around, at);
    });
    const rows = (around: number): readonly SumRow[] =>
      (below.get(around) ?? []).map((at) => {
        const row = sumRow(answer, at, called);
        const inside = this.tree ? this.#callers(row) : below.has(at) ? () => rows(at) : null;
        return { ...row, inside };
      });
    this.rows = rows(-1);
  }

  /** Callers with their part of its self time. */
  #callers({ key, id }: Omit<SumRow, "inside">): () => readonly SumRow[] {
    const { tree } = this;
    return () => {
      const above = new MergedTree(callers(tree!, placesOf(tree!, key), tree!.self));
      return this.#below(above, 0, id);
    };
  }

  #below(tree: MergedTree, place: number, id: string): readonly SumRow[] {
    const [first, last] = [tree.inside[place] ?? 0, tree.inside[place + 1] ?? 0];
    return Array.from({ length: last - first }, (_, i) => {
      const at = first + i;
      const key = tree.key[at]!;
      const path = `${id} ← ${key}`;
      return {
        ...UNKNOWN,
        ...{ id: path, key, label: this.#called.title(key), kind: this.#called.kind(key) },
        isWork: !this.#called.operators.noWork(key),
        ...{ ns: tree.total[at]!, count: tree.count[at]!, nodes: this.#called.nodes(key) },
        slice: this.rows.find((row) => row.key === key)?.slice ?? -1,
        inside: tree.inside[at]! < tree.inside[at + 1]! ? () => this.#below(tree, at, path) : null,
      };
    });
  }
}
