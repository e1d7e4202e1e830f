import {
  type GraphColumns,
  NodeKind,
  type TimelineColumns,
} from "../../shared/client/run_client.ts";
import { duration, integer, percent } from "../../shared/format.ts";

/** Mean times of the nodes as shares of their sum and of the largest; NaN stays unknown. */
export class Times {
  readonly ns: Float64Array;
  readonly total: number;
  readonly largest: number;
  /** Node with the largest time; -1 where none is known. */
  readonly slowest: number;
  /** Nodes with a known time above zero, slowest first. */
  readonly ranked: Int32Array;
  readonly timeline: TimelineColumns | null;
  readonly #kinds: Uint8Array;
  readonly #graph: GraphColumns;
  readonly #rank = new Map<number, number>();

  /** @param setNs  times of several nodes together, ns. */
  constructor(
    graph: GraphColumns,
    timeline: TimelineColumns | null,
    setNs: Iterable<number> = timeline?.setNs ?? [],
  ) {
    const { nodeNs, kinds } = graph;
    this.ns = nodeNs;
    this.#kinds = kinds;
    this.#graph = graph;
    this.timeline = timeline;
    const known: number[] = [];
    let total = 0;
    for (let node = 0; node < nodeNs.length; node++) {
      if (!(nodeNs[node]! > 0)) continue;
      total += nodeNs[node]!;
      if (kinds[node] !== NodeKind.PARAMETER) known.push(node);
    }
    for (const ns of setNs) if (ns > 0) total += ns;
    known.sort((a, b) => nodeNs[b]! - nodeNs[a]! || a - b);
    this.total = total;
    this.ranked = Int32Array.from(known);
    this.slowest = known[0] ?? -1;
    this.largest = this.slowest < 0 ? 0 : nodeNs[this.slowest]!;
    for (const [row, node] of known.entries()) this.#rank.set(node, row + 1);
  }

  get known(): boolean {
    return this.slowest >= 0;
  }

  /** A time with its share of the sum of all: `1.2 ms · 3.4 %`; empty for one that is unknown or zero. */
  text(ns: number): string {
    return ns > 0 ? `${duration(ns)} · ${percent(ns / this.total)}` : "";
  }

  /** What a node took with others: `4.9 µs for 2 together`; empty where it did not. */
  together(node: number): string {
    const count = this.#graph.togetherCount?.[node] ?? 0;
    const ns = this.#graph.togetherNs?.[node] ?? Number.NaN;
    return count ? `${duration(ns)} for ${integer(count)} together` : "";
  }

  /** Share of the sum of all node times; NaN where unknown. */
  share(node: number): number {
    return this.total > 0 ? this.ns[node]! / this.total : Number.NaN;
  }

  /** Share of the largest node time, 0 … 1; NaN where unknown, and for what is given rather than run. */
  heat(node: number): number {
    const given = this.#kinds[node]! <= NodeKind.PARAMETER;
    return this.largest > 0 && !(given && this.ns[node] === 0)
      ? this.ns[node]! / this.largest
      : Number.NaN;
  }

  /** 1 for the slowest; null where unknown or zero. */
  rank(node: number): number | null {
    return this.#rank.get(node) ?? null;
  }

  /** Sum of the known times by op kind, and how many nodes it has. */
  byKind(graph: GraphColumns): Map<string, { nodes: number; ns: number }> {
    const { codes, unique } = graph.opKinds;
    const byCode: { nodes: number; ns: number }[] = [];
    for (let node = 0; node < this.ns.length; node++) {
      byCode[codes[node]!] ??= { nodes: 0, ns: 0 };
      const sum = byCode[codes[node]!]!;
      sum.nodes += 1;
      if (this.ns[node]! > 0) sum.ns += this.ns[node]!;
    }
    const sums = new Map<string, { nodes: number; ns: number }>();
    for (const [code, sum] of byCode.entries()) if (sum) sums.set(unique[code]!, sum);
    return sums;
  }
}
