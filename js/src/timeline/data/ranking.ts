import type { Names } from "./names.ts";
import type { Slices } from "./slices.ts";

export type Order = "time" | "order";

/** Slices that are looked at between two pauses. */
const CHUNK = 1 << 16;

/** The time of an op kind, or of blocks of one kind. */
export interface KindSum {
  kind: string;
  ns: number;
  nodes: number[];
}

interface Ranked {
  node: number;
  ns: number;
  slice: number;
  slices: number;
  within: number;
}

/**
 * Operators by time; a row is a node, or all slices of one name where the node is unknown. The time of a name is the
 * self time of its slices: the sum of nested slices would count the inner ones twice.
 */
export class Ranking {
  /** Per row: node id, -1 unknown. */
  node = new Int32Array(0);
  ns = new Float64Array(0);
  /** Per row: its first slice, -1 where the node has a time but no slice. */
  slice = new Int32Array(0);
  /** Per row: how many slices it sums up, and their durations with the slices inside them; 0 and NaN for a node. */
  slices = new Int32Array(0);
  within = new Float64Array(0);
  total = 0;
  /** Sum of the rows whose node is unknown. */
  unjoined = 0;
  #rowOfNode = new Int32Array(0);
  #rowOfName = new Int32Array(0);
  readonly #slices: Slices;
  readonly #names: Names;
  /** Rows in execution order. */
  #executed = new Int32Array(0);

  constructor(slices: Slices, names: Names) {
    this.#slices = slices;
    this.#names = names;
    for (const _ of this.counting());
  }

  /** Ranks anew what is known by now, with a pause now and then; the ranking changes as a whole at the end. */
  *counting(): Generator<void, void> {
    const slices = this.#slices;
    const { nodeNs } = slices.columns;
    const rows: Ranked[] = [];
    nodeNs.forEach((ns, node) => {
      if (Number.isNaN(ns) || (ns === 0 && !this.#names.isOperator(node))) return;
      rows.push({ node, ns, slice: slices.of(node)[0] ?? -1, slices: 0, within: Number.NaN });
    });
    yield;
    const byName = this.#answered() ?? (yield* this.#counted());
    this.#take(rows.concat(byName));
    this.unjoined = byName.reduce((sum, row) => sum + row.ns, 0);
  }

  /** What the first answer says of names; null where it says nothing and the slices do. */
  #answered(): Ranked[] | null {
    const { columns, complete } = this.#slices;
    const { sumName, sumSlice, sumCount, sumSelf, sumWithin } = columns;
    if (complete && !sumName?.length) return null;
    return Array.from(sumSlice ?? [], (slice, at) => ({
      node: -1,
      ns: sumSelf![at]!,
      slice,
      slices: sumCount![at]!,
      within: sumWithin![at]!,
    }));
  }

  *#counted(): Generator<void, Ranked[]> {
    const slices = this.#slices;
    const size = slices.names.length;
    const [first, count] = [new Int32Array(size).fill(-1), new Int32Array(size)];
    const [own, within] = [new Float64Array(size), new Float64Array(size)];
    const { self, duration } = slices.times;
    let budget = CHUNK;
    for (const row of slices.rows) {
      if (this.#names.isOther(row.first)) continue;
      for (let slice = row.first; slice < row.last; slice++) {
        if (--budget === 0) {
          budget = CHUNK;
          yield;
        }
        if (slices.nodeOf(slice) >= 0) continue;
        const code = slices.nameCodeOf(slice);
        if (count[code]!++ === 0) first[code] = slice;
        own[code]! += self[slice]!;
        within[code]! += duration[slice]!;
      }
    }
    const known = [...count.keys()].filter((code) => count[code]);
    known.sort((a, b) => first[a]! - first[b]!);
    return known.map((code) => ({
      node: -1,
      ns: own[code]!,
      slice: first[code]!,
      slices: count[code]!,
      within: within[code]!,
    }));
  }

  #take(rows: Ranked[]): void {
    const slices = this.#slices;
    rows.sort((a, b) => b.ns - a.ns || a.node - b.node);
    this.node = Int32Array.from(rows, (row) => row.node);
    this.ns = Float64Array.from(rows, (row) => row.ns);
    this.slice = Int32Array.from(rows, (row) => row.slice);
    this.slices = Int32Array.from(rows, (row) => row.slices);
    this.within = Float64Array.from(rows, (row) => row.within);
    this.total = this.ns.reduce((sum, ns) => sum + ns, 0);
    this.#rowOfNode = new Int32Array(slices.columns.nodeNs.length).fill(-1);
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

  /** Time of a name over that of the longest row. */
  shareOfName(code: number): number {
    const row = this.#rowOfName[code] ?? -1;
    return row < 0 || !(this.ns[0]! > 0) ? 0 : this.ns[row]! / this.ns[0]!;
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

  /** Op kind of a row that is a name. */
  #kindOfName(row: number): string {
    return this.#names.nameKind(this.#slices.nameCodeOf(this.slice[row]!));
  }

  /**
   * Time by op kind, or of what lies in blocks by kind of block, longest first; the nodes of each by time, longest
   * last: that one is then the session's.
   */
  kinds(names: Names, inBlocks = false): KindSum[] {
    const byKind = new Map<string, KindSum>();
    for (let row = this.length - 1; row >= 0; row--) {
      const node = this.node[row]!;
      const block = inBlocks && node >= 0 ? names.colors.block(node) : -1;
      const own = node < 0 ? this.#kindOfName(row) : names.opKind(node);
      const kind = block < 0 ? own : names.colors.blockTitle(block);
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
