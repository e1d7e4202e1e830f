import type { GraphColumns } from "../shared/run_client.ts";

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
    this.#inStart = starts(edgeTarget, nodes);
    this.#outStart = starts(edgeSource, nodes);
    const next = this.#outStart.slice();
    this.#outEdges = new Int32Array(this.#outStart[nodes]!);
    for (let edge = 0; edge < edgeSource.length; edge++) {
      const source = edgeSource[edge]!;
      if (source >= 0) this.#outEdges[next[source]!++] = edge;
    }
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

function starts(ends: Int32Array, nodes: number): Int32Array {
  const start = new Int32Array(nodes + 1);
  for (const node of ends) if (node >= 0) start[node + 1]!++;
  for (let node = 0; node < nodes; node++) start[node + 1]! += start[node]!;
  return start;
}
