import type { SessionClient } from "../shared/client/session_client.ts";
import { Marked } from "./data/marked.ts";
import type { Data } from "./data.ts";

const SOURCE = "timeline";

/** Which slices and nodes are selected, here and in the other views. */
export class Selection {
  readonly #data: Data;
  readonly #session: SessionClient;
  /** A slice without a node, or of several, that was picked here. */
  #own = -1;

  constructor(data: Data, session: SessionClient) {
    this.#data = data;
    this.#session = session;
  }

  /** Changes with what is selected. */
  get key(): string {
    const { selected, slice } = this.#session;
    return JSON.stringify([selected, slice, this.#own]);
  }

  /** Whether what is selected are the nodes of a slice that was picked and is of several. */
  get isShared(): boolean {
    const nodes = this.#data.slices.nodesOf(this.#own);
    return nodes.length > 1 && String(nodes) === String(this.#session.selected);
  }

  /** Selects the node of a slice, or all nodes of one that is of several; -1 selects none. */
  pick(slice: number, toggle: boolean): void {
    const { slices } = this.#data;
    const nodes = slices.nodesOf(slice);
    const node = nodes.length === 1 ? nodes[0]! : -1;
    this.#own = node < 0 ? slice : -1;
    if (nodes.length > 1) this.nodes(nodes);
    else if (node >= 0 && toggle) this.#session.toggle(node, SOURCE);
    else if (node >= 0) {
      this.#session.select(node, SOURCE, { occurrence: slices.occurrenceOf(slice) });
    } else this.#session.select(null, SOURCE);
  }

  node(node: number, toggle: boolean): void {
    if (toggle) this.#session.toggle(node, SOURCE);
    else if (node !== this.#session.node || this.#session.selected.length > 1) {
      this.#session.select(node, SOURCE);
    }
  }

  nodes(nodes: readonly number[]): void {
    this.#session.selectMany(nodes, SOURCE);
  }

  /** Selects all nodes of the op kind of the selected one. */
  kind(): void {
    const { node } = this.#session;
    const { names, ranking } = this.#data;
    if (node === null) return;
    const kind = names.opKind(node);
    const found = ranking.kinds(names).find((each) => each.kind === kind);
    if (found) this.nodes(found.nodes);
  }

  /** The slice that is looked at, and the one that was picked here, -1 for none; one `before` stays if it may. */
  look(before: number): { current: number; own: number } {
    const { slices } = this.#data;
    const { node, slice } = this.#session;
    const own = node === null || this.isShared ? this.#own : -1;
    if (own < 0) this.#own = -1;
    const occurrences = node === null || own >= 0 ? null : this.#slicesFor(node);
    const nearest = occurrences?.includes(before) ? before : occurrences?.[0];
    const current = slice ? slices.of(slice[0])[slice[1]] : nearest;
    return { current: current ?? own, own };
  }

  /** All slices of the selected nodes. */
  get marked(): Marked {
    const { slices } = this.#data;
    return new Marked(slices.count, this.#slices());
  }

  *#slices(): Iterable<number> {
    const { slices } = this.#data;
    for (const node of this.#session.selected) {
      yield* slices.of(node);
      yield* slices.sharedBy(node);
    }
  }

  /** The slices of a node; where it has none of its own, those that it shares, with the fewest others first. */
  #slicesFor(node: number): Int32Array {
    const { slices } = this.#data;
    const own = slices.of(node);
    if (own.length) return own;
    const shared = [...slices.sharedBy(node)];
    const count = (slice: number) => slices.nodesOf(slice).length;
    return Int32Array.from(shared.sort((a, b) => count(a) - count(b)));
  }
}
