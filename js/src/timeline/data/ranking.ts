import { append } from "../../shared/many.ts";
import type { Names } from "./names.ts";
import type { Slices } from "./slices.ts";
import type { SliceColors } from "./state.ts";

export type RankingOrder = "time" | "order";

/** Time of an op kind, or of blocks of one kind. */
export interface KindSum {
  kind: string;
  ns: number;
  share: number;
  /** Number of operators and calls. */
  count: number;
  nodes: number[];
  /** Kind of the blocks, or -1 for an op kind. */
  block: number;
}

/** Times of nodes, calls and names, longest first, no-work last; as in `model/timeline/columns.py`. */
export class Ranking {
  /** Node id by row, or -1. */
  readonly node: Int32Array;
  /** Number of a call of several nodes by row, or -1. */
  readonly call: Int32Array;
  readonly kind: readonly string[];
  readonly ns: Float64Array;
  /** Shares of all work; NaN for no-work. */
  readonly shares: Float64Array;
  /** First slice by row; -1 if the node has a time but no slice. */
  readonly slice: Int32Array;
  /** By row: number of slices, and their durations with nested slices. */
  readonly slices: Int32Array;
  readonly within: Float64Array;
  /** Denominator of the shares. */
  readonly total: number;
  /** Number of rows of operators and calls (of names if no nodes are known); they come first. */
  readonly operators: number;
  readonly #slices: Slices;
  readonly #rowOfNode: Int32Array;
  readonly #rowOfCall: Int32Array;
  readonly #rowOfName = new Map<number, number>();

  constructor(slices: Slices, names: Names) {
    this.#slices = slices;
    const { columns } = slices;
    const { rankNode, rankNs, rankOperator } = columns;
    const rows = [...rankNode.keys()].filter((row) => {
      const node = rankNode[row]!;
      return node < 0 || (rankNs[row] ?? 0) > 0 || names.isOperator(node);
    });
    rows.sort(
      (a, b) =>
        rankOperator[b]! - rankOperator[a]! ||
        Number(Number.isNaN(columns.rankShare[a])) - Number(Number.isNaN(columns.rankShare[b])) ||
        rankNs[b]! - rankNs[a]! ||
        a - b,
    );
    this.node = Int32Array.from(rows, (row) => rankNode[row]!);
    this.call = Int32Array.from(rows, (row) => columns.rankCall[row]!);
    this.kind = rows.map((row) => {
      const node = rankNode[row]!;
      return node >= 0 && names.known ? names.opKind(node) : columns.rankKind.at(row);
    });
    this.ns = Float64Array.from(rows, (row) => rankNs[row]!);
    this.shares = Float64Array.from(rows, (row) => columns.rankShare[row]!);
    this.slice = Int32Array.from(rows, (row) => columns.rankFirst[row]!);
    this.slices = Int32Array.from(rows, (row) => columns.rankSlices[row]!);
    this.within = Float64Array.from(rows, (row) => columns.rankWithin[row]!);
    this.total = columns.info.totalNs ?? Number.NaN;
    this.operators = rows.filter((row) => rankOperator[row]).length;
    this.#rowOfNode = new Int32Array(columns.nodeNs.length).fill(-1);
    this.#rowOfCall = new Int32Array(columns.setNs?.length ?? 0).fill(-1);
    rows.forEach((from, row) => {
      if (this.node[row]! >= 0) this.#rowOfNode[this.node[row]!] = row;
      else if (this.call[row]! >= 0) this.#rowOfCall[this.call[row]!] = row;
      else this.#rowOfName.set(columns.rankName[from]!, row);
    });
  }

  get length(): number {
    return this.node.length;
  }

  /** Row of a node; -1 for unknown times, inputs and parameters. */
  rowOf(node: number): number {
    return this.#rowOfNode[node] ?? -1;
  }

  /** Time of the longest operator or call, the end of every scale. */
  get longest(): number {
    return this.operators ? this.ns[0]! : 0;
  }

  /** Time of a name over the time of the longest row. */
  shareOfName(code: number): number {
    const row = this.#rowOfName.get(code) ?? -1;
    return row < 0 || row >= this.operators || !(this.longest > 0)
      ? 0
      : this.ns[row]! / this.longest;
  }

  /** Sets the scale of slice colors to that of the rows. */
  color(colors: SliceColors): void {
    colors.longest = this.longest;
    colors.shareOfName = (code) => this.shareOfName(code);
  }

  /** Row that counts a slice: of its node, its call, or its name. */
  rowOfSlice(slice: number): number {
    const node = this.#slices.nodeOf(slice);
    if (node >= 0) return this.rowOf(node);
    const call = this.#slices.callOf(slice);
    if (call >= 0) return this.#rowOfCall[call] ?? -1;
    return this.#rowOfName.get(this.#slices.nameCodeOf(slice)) ?? -1;
  }

  /** Name of a call of several nodes; "" for other rows. */
  callName(row: number): string {
    const call = this.call[row] ?? -1;
    return call < 0 ? "" : (this.#slices.columns.setNames?.at(call) ?? "");
  }

  rows(order: RankingOrder): Int32Array {
    const rows = Int32Array.from(this.ns.keys());
    if (order === "time") return rows;
    const start = Float64Array.from(this.slice, (slice) => place(slice, this.#slices));
    return rows.sort((a, b) => start[a]! - start[b]! || this.node[a]! - this.node[b]!);
  }

  cumulative(rows: Int32Array): Float64Array {
    let sum = 0;
    return Float64Array.from(rows, (row) => {
      const share = this.shares[row]!;
      if (Number.isNaN(share)) return Number.NaN;
      sum += share;
      return Math.min(1, sum);
    });
  }

  /** Time by op kind or block kind, longest first; its nodes by time, the longest last so that the session shows it. */
  kinds(names: Names, inBlocks = false): KindSum[] {
    const byKind = new Map<string, KindSum>();
    for (let row = this.length - 1; row >= 0; row--) {
      if (Number.isNaN(this.shares[row]!)) continue;
      const [node, call] = [this.node[row]!, this.call[row]!];
      const block = inBlocks && node >= 0 ? names.colors.block(node) : -1;
      const kind = block < 0 ? this.kind[row]! : names.colors.blockTitle(block);
      const sum = byKind.get(kind) ?? { kind, ns: 0, share: 0, count: 0, nodes: [], block };
      sum.ns += this.ns[row]!;
      if (row < this.operators) sum.count++;
      sum.share += this.shares[row]!;
      if (node >= 0) sum.nodes.push(node);
      else if (call >= 0) append(sum.nodes, this.#slices.nodesOfCall(call));
      byKind.set(kind, sum);
    }
    return [...byKind.values()].sort((a, b) => b.ns - a.ns);
  }
}

/** Start of a slice; for slices that are not loaded their number, which has the same order within a row. */
function place(slice: number, slices: Slices): number {
  if (slice < 0) return Infinity;
  const start = slices.startOf(slice);
  return Number.isNaN(start) ? slice : start;
}
