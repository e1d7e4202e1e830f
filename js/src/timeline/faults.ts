import { Fault, faultsOf, watchHealth } from "../shared/health.ts";
import type { RunClient } from "../shared/run_client.ts";
import type { HealthAnswer } from "../shared/tensor_questions.ts";
import type { Data } from "./data.ts";
import { Marked } from "./marked.ts";
import type { Fact } from "./words.ts";

/** Marks the slices in which a fault of values began, and those that it spread to, as soon as a scan tells. */
export class Faults {
  readonly #data: Data;
  readonly #changed: () => void;
  #known: HealthAnswer | null = null;

  constructor(run: RunClient, data: Data, changed: () => void, signal: AbortSignal) {
    this.#data = data;
    this.#changed = changed;
    if (data.graph) watchHealth(run, (answer) => this.#judged(answer), signal);
  }

  /** What is wrong with the values of a node. */
  facts(node: number): Fact[] {
    const known = this.#known;
    const row = known && this.#data.scene.faults ? known.node.indexOf(node) : -1;
    return row >= 0 && known!.words[row] ? [["values", known!.words[row]!]] : [];
  }

  /** The slices are here, or more is known. */
  mark(): void {
    const known = this.#known;
    const { graph, names, scene, slices } = this.#data;
    if (!known || !graph) return;
    const faults = faultsOf(known, graph.kinds.length);
    const of = (fault: number) => {
      const nodes = Array.from(faults.keys()).filter((node) => faults[node] === fault);
      const own = nodes.flatMap((node) => [...slices.of(node)]);
      return new Marked(
        slices.count,
        own.filter((slice) => !names.isOther(slice)),
      );
    };
    const [origin, spread] = [of(Fault.ORIGIN), of(Fault.SPREAD)];
    scene.faults = origin.count + spread.count ? { origin, spread } : null;
    this.#changed();
  }

  #judged(answer: HealthAnswer): void {
    this.#known = answer;
    this.mark();
  }
}
