import type { Slices } from "./slices.ts";

/** Roles of slices that are no work, from 1 on; see `NO_WORK` in `analysis/times/keys.py`. */
export const NO_WORK = ["loading", "delegate's own clock", "profiler"] as const;

/** Keys of sums: nodes, then calls of several, then names, then slices that are no work. */
export class Operators {
  readonly nodes: number;
  readonly calls: number;
  readonly #slices: Slices;

  constructor(slices: Slices) {
    this.#slices = slices;
    this.nodes = slices.columns.nodeNs.length;
    this.calls = slices.columns.setNs?.length ?? 0;
  }

  /** Grows with the names, which are not all known before the slices have come. */
  get size(): number {
    return this.#names + this.#slices.names.length + NO_WORK.length;
  }

  of(slice: number): number {
    const role = this.#slices.roleOf(slice);
    if (role > 0) return this.#names + this.#slices.names.length + role - 1;
    const node = this.#slices.nodeOf(slice);
    if (node >= 0) return node;
    const call = this.#slices.callOf(slice);
    return call >= 0 ? this.nodes + call : this.#names + this.#slices.nameCodeOf(slice);
  }

  call(operator: number): number {
    const call = operator - this.nodes;
    return call >= 0 && call < this.calls ? call : -1;
  }

  /** Index of the operator's name, or -1 for a node or a call. */
  name(operator: number): number {
    const name = operator - this.#names;
    return name >= 0 && name < this.#slices.names.length ? name : -1;
  }

  /** Name of the role of slices that are no work; else "". */
  noWork(operator: number): string {
    return NO_WORK[operator - this.#names - this.#slices.names.length] ?? "";
  }

  get #names(): number {
    return this.nodes + this.calls;
  }
}
