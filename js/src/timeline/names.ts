import { type GraphColumns, NodeKind } from "../shared/run_client.ts";
import type { Change } from "./change.ts";
import type { Slices } from "./slices.ts";

/** What nodes and slices are called; without a graph, what the trace calls them. */
export class Names {
  readonly change: Change | null;
  readonly #slices: Slices;
  readonly #graph: GraphColumns | null;

  constructor(slices: Slices, graph: GraphColumns | null, change: Change | null = null) {
    this.#slices = slices;
    this.#graph = graph;
    this.change = change;
  }

  /** Whether a slice is of the second of two runs: its node is the one of the first that it stands for. */
  isOther(slice: number): boolean {
    return this.change !== null && this.#slices.columns.trackRun[this.#slices.trackOf(slice)] === 1;
  }

  /** Op kind of a slice: of its node, or of what it runs itself in the second of two runs. */
  kindOf(slice: number): string {
    if (!this.isOther(slice)) return this.opKind(this.#slices.nodeOf(slice));
    return this.change!.named(this.#slices.nameOf(slice))?.[1] ?? "other";
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
    if (this.isOther(slice)) {
      const name = this.#slices.nameOf(slice);
      return this.change!.named(name)?.[0] ?? name;
    }
    return this.ofNode(this.#slices.nodeOf(slice)) || this.#slices.nameOf(slice);
  }

  opKind(node: number): string {
    return (node < 0 ? "" : this.#graph?.opKinds.at(node)) || "other";
  }

  /** Op kind of the slices of a name whose node is unknown, by the name alone. */
  nameKind(code: number): string {
    return this.#slices.nameKinds.at(code) || "other";
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

  /** 1 for each node whose label, name or function fits; each distinct text is looked at once. */
  nodesThat(fits: (text: string) => boolean): Uint8Array {
    const nodes = this.#slices.columns.nodeNs.length;
    const found = new Uint8Array(nodes);
    if (!this.#graph) return found;
    for (const { codes, unique } of [
      this.#graph.labels,
      this.#graph.names,
      this.#graph.funcNames,
    ]) {
      const hits = unique.map(fits);
      for (let node = 0; node < nodes; node++) if (hits[codes[node]!]) found[node] = 1;
    }
    return found;
  }
}
