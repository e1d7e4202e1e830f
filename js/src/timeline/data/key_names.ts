import type { GraphColumns } from "../../shared/client/answers.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { type Names, type Title, titleText } from "./names.ts";
import { Operators } from "./operators.ts";
import type { Slices } from "./slices.ts";

/** Op kind of the time that an execution takes outside of its instructions. */
const RUNTIME = "runtime";

/** Names of the keys of sums: operators by node or name. */
export class KeyNames {
  readonly operators: Operators;
  readonly #names: Names;

  constructor(
    readonly slices: Slices,
    names: Names,
    readonly graph: GraphColumns | null,
  ) {
    this.operators = new Operators(slices);
    this.#names = names;
  }

  /** The node of a key, or -1. */
  node(key: number): number {
    return key < this.operators.nodes ? key : -1;
  }

  nodes(key: number): number[] {
    const call = this.operators.call(key);
    if (call >= 0) return [...this.slices.nodesOfCall(call)];
    return key < this.operators.nodes ? [key] : [];
  }

  /** `dense + add #66`, or a recorded name. */
  title(key: number, label = this.label(key)): string {
    return titleText(this.titleOf(key, label));
  }

  titleOf(key: number, label = this.label(key)): Title {
    const node = this.node(key);
    return node < 0 ? { label, id: "", shape: "" } : this.#names.titleOf(node, label);
  }

  label(key: number): string {
    const call = this.operators.call(key);
    if (call >= 0) return this.slices.columns.setNames?.at(call) ?? "";
    const apart = this.operators.noWork(key);
    if (apart) return apart;
    const node = this.node(key);
    if (node < 0) return this.slices.nameLabel(this.operators.name(key)) || "no name";
    return this.#names.ofNode(node) || this.slices.nameLabel(this.#nameCode(node));
  }

  /** Color of a key by its op kind, or by its difference if two runs are compared. */
  fill(theme: Theme, key: number): string {
    return this.#names.changeFill(theme, this.node(key)) ?? this.mark(theme, key);
  }

  mark(theme: Theme, key: number): string {
    const call = this.operators.call(key);
    if (call >= 0) {
      return this.#names.colors.ofCall(theme, this.kind(key), this.slices.columns.setNs![call]!);
    }
    const node = this.graph ? this.node(key) : -1;
    return this.#names.fill(theme, node, node < 0 ? this.#nameCode(key) : -1);
  }

  kind(key: number): string {
    const call = this.operators.call(key);
    if (call >= 0) return this.slices.columns.setKinds?.at(call) ?? "other";
    const apart = this.operators.noWork(key);
    if (apart) return apart;
    const { whole } = this.slices.columns.info.words;
    if (whole && this.node(key) < 0 && this.slices.names.at(this.operators.name(key)) === whole) {
      return RUNTIME;
    }
    const node = this.node(key);
    return node >= 0 && this.graph
      ? this.#names.opKind(node)
      : this.#names.nameKind(this.#nameCode(key));
  }

  /** Name of an operator that has only a name, or of a node that only slices name. */
  #nameCode(key: number): number {
    const node = this.node(key);
    if (node < 0) return this.operators.name(key);
    const first = this.slices.of(node)[0];
    return first === undefined ? -1 : this.slices.nameCodeOf(first);
  }
}
