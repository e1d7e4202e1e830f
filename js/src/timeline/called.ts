import { counted } from "../shared/format.ts";
import type { GraphColumns } from "../shared/run_client.ts";
import { kindFill, type Theme } from "../shared/theme.ts";
import { changeFills, fillOfChange } from "./change_fills.ts";
import { Operators } from "./frames.ts";
import type { Names } from "./names.ts";
import type { Slices } from "./slices.ts";

/** What the keys of sums are called: operators by node or name, behind them the groups of the graph. */
export class Called {
  readonly operators: Operators;
  readonly graph: GraphColumns | null;
  readonly #slices: Slices;
  readonly #names: Names;

  #fills: { theme: Theme; css: string[] } | null = null;

  constructor(slices: Slices, names: Names, graph: GraphColumns | null) {
    this.operators = new Operators(slices);
    this.graph = graph;
    this.#slices = slices;
    this.#names = names;
  }

  node(key: number): number {
    return this.operators.node(key);
  }

  /** Number of a group, -1 of an operator. */
  group(key: number): number {
    return key < this.operators.size ? -1 : key - this.operators.size;
  }

  /** Every node that the key stands for. */
  nodes(key: number): number[] {
    const group = this.group(key);
    if (group < 0) return key < this.operators.nodes ? [key] : [];
    const { groupOrder, groupStart, groupEnd } = this.graph!;
    return [...groupOrder.subarray(groupStart[group]!, groupEnd[group]!)];
  }

  /** `#66 dense + add`, a recorded name, `residual block × 3`. */
  title(key: number): string {
    const node = this.node(key);
    return node < 0 ? this.label(key) : `#${node} ${this.label(key)}`.trim();
  }

  label(key: number): string {
    const group = this.group(key);
    if (group >= 0) return this.#group(group);
    const node = this.node(key);
    if (node < 0) return this.#slices.names.at(this.operators.name(key)) || "no name";
    return this.#names.ofNode(node) || this.#recorded(node);
  }

  /** Op kind; "" of a group. */
  /** What is drawn of it is filled with: its kind, or where two runs are compared their difference. */
  fill(theme: Theme, key: number): string {
    const { change } = this.#names;
    if (!change?.colored) return kindFill(theme, this.kind(key));
    if (this.#fills?.theme !== theme) this.#fills = { theme, css: changeFills(theme) };
    return this.#fills.css[fillOfChange(change, change.rowOf(this.node(key)))]!;
  }

  kind(key: number): string {
    if (this.group(key) >= 0) return "";
    const node = this.node(key);
    return node < 0 ? this.#names.nameKind(this.operators.name(key)) : this.#names.opKind(node);
  }

  /** The operators that were fused into one, by the short names of its label. */
  parts(key: number): string[] {
    const node = this.node(key);
    return node < 0 || !this.graph ? [this.label(key)] : this.label(key).split(" + ");
  }

  /** False of an input or a parameter. */
  isRun(key: number): boolean {
    return this.node(key) < 0 || this.#names.isOperator(this.node(key));
  }

  #group(group: number): string {
    const { groupNames, groupRepeats } = this.graph!;
    const name =
      groupNames.at(group) || counted(this.nodes(group + this.operators.size).length, "node");
    return groupRepeats[group]! > 1 ? `${name} × ${groupRepeats[group]}` : name;
  }

  /** What the slices of a node without a graph are called. */
  #recorded(node: number): string {
    const first = this.#slices.of(node)[0];
    return first === undefined ? "" : this.#slices.nameOf(first);
  }
}
