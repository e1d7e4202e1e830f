import type { Names } from "./names.ts";
import type { Slices } from "./slices.ts";

export type Order = "time" | "order";

/**
 * Operators by time; a row is a node, or all slices of one name where the node is unknown. The time of a name is the
 * self time of its slices: the sum of nested slices would count the inner ones twice.
 */
export class Ranking {
  /** Per row: node id, -1 unknown. */
  readonly node: Int32Array;
  readonly ns: Float64Array;
  /** Per row: its first slice, -1 where the node has a time but no slice. */
  readonly slice: Int32Array;
  /** Per row: how many slices it sums up, and their durations with the slices inside them; 0 and NaN for a node. */
  readonly slices: Int32Array;
  readonly within: Float64Array;
  readonly total: number;
  /** Sum of the rows whose node is unknown. */
  readonly unjoined: number;
  readonly #rowOfNode: Int32Array;
  readonly #rowOfName: Int32Array;
  readonly #slices: Slices;
  /** Rows in execution order. */
  readonly #executed: Int32Array;

  constructor(slices: Slices, names: Names) {
    const { nodeNs } = slices.columns;
    const rows: { node: number; ns: number; slice: number; slices: number; within: number }[] = [];
    nodeNs.forEach((ns, node) => {
      if (Number.isNaN(ns) || (ns === 0 && !names.isOperator(node))) return;
      rows.push({ node, ns, slice: slices.of(node)[0] ?? -1, slices: 0, within: Number.NaN });
    });
    const byName = new Map<number, (typeof rows)[number]>();
    const { sumName, sumSlice, sumCount, sumSelf, sumWithin } = slices.columns;
    if (!slices.complete) {
      sumName?.forEach((code, at) => {
        const [ns, within] = [sumSelf![at]!, sumWithin![at]!];
        const row = { node: -1, ns, slice: sumSlice![at]!, slices: sumCount![at]!, within };
        byName.set(code, row);
      });
    }
    for (let slice = 0; slices.complete && slice < slices.count; slice++) {
      const node = slices.nodeOf(slice);
      if (node >= 0 || names.isOther(slice)) continue;
      const code = slices.nameCodeOf(slice);
      const row = byName.get(code) ?? { node, ns: 0, slice, slices: 0, within: 0 };
      row.ns += slices.selfOf(slice);
      row.within += slices.durationOf(slice);
      row.slices++;
      byName.set(code, row);
    }
    rows.push(...byName.values());
    rows.sort((a, b) => b.ns - a.ns || a.node - b.node);
    this.node = Int32Array.from(rows, (row) => row.node);
    this.ns = Float64Array.from(rows, (row) => row.ns);
    this.slice = Int32Array.from(rows, (row) => row.slice);
    this.slices = Int32Array.from(rows, (row) => row.slices);
    this.within = Float64Array.from(rows, (row) => row.within);
    this.total = this.ns.reduce((sum, ns) => sum + ns, 0);
    this.unjoined = [...byName.values()].reduce((sum, row) => sum + row.ns, 0);
    this.#rowOfNode = new Int32Array(nodeNs.length).fill(-1);
    this.#slices = slices;
    this.#rowOfName = new Int32Array(slices.names.length).fill(-1);
    this.node.forEach((node, row) => {
      if (node >= 0) this.#rowOfNode[node] = row;
      else this.#rowOfName[slices.nameCodeOf(this.slice[row]!)] = row;
    });
    const start = Float64Array.from(this.slice, (slice) =>
      slice < 0 ? Infinity : slices.startOf(slice),
    );
    this.#executed = Int32Array.from(rows.keys()).sort(
      (a, b) => compare(start[a]!, start[b]!) || this.node[a]! - this.node[b]!,
    );
  }

  get length(): number {
    return this.node.length;
  }

  /** Row of a node, -1 where its time is unknown or it is an input or parameter. */
  rowOf(node: number): number {
    return this.#rowOfNode[node] ?? -1;
  }

  /** Row of a slice of no known node: that of its name. */
  rowOfName(slice: number): number {
    return this.#rowOfName[this.#slices.nameCodeOf(slice)] ?? -1;
  }

  share(row: number): number {
    return this.total > 0 ? this.ns[row]! / this.total : Number.NaN;
  }

  /** Rows as the table shows them. */
  rows(order: Order): Int32Array {
    return order === "order" ? this.#executed : Int32Array.from(this.ns.keys());
  }

  /** Share of the total down to and with each of these rows. */
  cumulative(rows: Int32Array): Float64Array {
    let sum = 0;
    return Float64Array.from(rows, (row) => {
      sum += this.ns[row]!;
      return this.total > 0 ? sum / this.total : Number.NaN;
    });
  }

  /** Time by op kind, longest first; the nodes of a kind by time, longest last: that one is then the session's. */
  kinds(names: Names): { kind: string; ns: number; nodes: number[] }[] {
    const byKind = new Map<string, { kind: string; ns: number; nodes: number[] }>();
    for (let row = this.length - 1; row >= 0; row--) {
      const node = this.node[row]!;
      const kind = names.opKind(node);
      const sum = byKind.get(kind) ?? { kind, ns: 0, nodes: [] };
      sum.ns += this.ns[row]!;
      if (node >= 0) sum.nodes.push(node);
      byKind.set(kind, sum);
    }
    return [...byKind.values()].sort((a, b) => b.ns - a.ns);
  }
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
