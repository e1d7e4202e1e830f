import { type GraphColumns, NodeKind, type TimelineColumns } from "../shared/run_client.ts";

/** What nodes and slices are called; without a graph, what the trace calls them. */
export class Names {
  readonly #columns: TimelineColumns;
  readonly #graph: GraphColumns | null;

  constructor(columns: TimelineColumns, graph: GraphColumns | null) {
    this.#columns = columns;
    this.#graph = graph;
  }

  /** Whether there is a graph that names the nodes. */
  get known(): boolean {
    return this.#graph !== null;
  }

  /** Short label of a node; "" where there is no graph. */
  ofNode(node: number): string {
    if (!this.#graph || node < 0) return "";
    return this.#graph.labels.at(node) || this.#graph.names.at(node);
  }

  fullName(node: number): string {
    return node < 0 ? "" : (this.#graph?.names.at(node) ?? "");
  }

  funcName(node: number): string {
    return node < 0 ? "" : (this.#graph?.funcNames.at(node) ?? "");
  }

  ofSlice(slice: number): string {
    return this.ofNode(this.#columns.sliceNode[slice]!) || this.#columns.sliceNames.at(slice);
  }

  opKind(node: number): string {
    return (node < 0 ? "" : this.#graph?.opKinds.at(node)) || "other";
  }

  isOperator(node: number): boolean {
    const kind = this.#graph?.kinds[node];
    return kind !== NodeKind.INPUT && kind !== NodeKind.PARAMETER;
  }

  /** Why a node takes no time, where it is none that runs; else "". */
  idle(node: number): string {
    const kind = node < 0 ? undefined : this.#graph?.kinds[node];
    if (kind === NodeKind.PARAMETER) return "not run (parameter)";
    return kind === NodeKind.INPUT ? "not run (input)" : "";
  }

  /** 2 for each slice of the node whose id is the text, 1 where label, node name, function or recorded name has it. */
  matching(text: string): Uint8Array {
    const wanted = text.toLowerCase();
    const { sliceNames, sliceNode } = this.#columns;
    const [, only, digits] = /^(#?)(\d+)$/.exec(wanted) ?? [];
    const id = digits === undefined ? Number.NaN : Number(digits);
    const has = (each: string) => each.toLowerCase().includes(wanted);
    const bySliceName = sliceNames.unique.map(has);
    const columns = this.#graph
      ? [this.#graph.labels, this.#graph.names, this.#graph.funcNames]
      : [];
    const byNode = columns.map(({ codes, unique }) => ({ codes, hits: unique.map(has) }));
    return Uint8Array.from(sliceNode, (node, slice) => {
      if (node === id) return 2;
      if (only) return 0;
      if (bySliceName[sliceNames.codes[slice]!]) return 1;
      return node >= 0 && byNode.some(({ codes, hits }) => hits[codes[node]!]) ? 1 : 0;
    });
  }
}
