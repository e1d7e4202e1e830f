import type { GraphColumns } from "../../shared/client/run_client.ts";
import { groupBy } from "../layout/adjacency.ts";

/** Edges of the graph by node; the edges come sorted by target. */
export class Links {
  readonly #inStart: Int32Array;
  readonly #outStart: Int32Array;
  readonly #outEdges: Int32Array;
  readonly graph: GraphColumns;

  constructor(graph: GraphColumns) {
    this.graph = graph;
    const nodes = graph.kinds.length;
    const { edgeSource, edgeTarget } = graph;
    const out = groupBy(nodes, edgeSource);
    this.#inStart = groupBy(nodes, edgeTarget).start;
    this.#outStart = out.start;
    this.#outEdges = out.item;
  }

  /** Edges into the node are those from the first up to the second, in operand order. */
  range(node: number): [first: number, end: number] {
    return [this.#inStart[node]!, this.#inStart[node + 1]!];
  }

  /** Edges into the node, in operand order. */
  into(node: number): number[] {
    const [start, end] = this.range(node);
    return Array.from({ length: end - start }, (_, i) => start + i);
  }

  /** Edges out of the node, in the order of their consumers. */
  outOf(node: number): Int32Array {
    return this.#outEdges.subarray(this.#outStart[node]!, this.#outStart[node + 1]!);
  }
}
