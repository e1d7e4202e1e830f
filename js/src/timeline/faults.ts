import { Fault, faultsOf, watchHealth } from "../shared/client/health.ts";
import type { RunClient } from "../shared/client/run_client.ts";
import type { HealthAnswer } from "../shared/client/tensor_questions.ts";
import { Marked } from "./data/marked.ts";
import type { Data } from "./data.ts";
import type { Fact } from "./descriptions.ts";
import type { Span } from "./tracks/scene.ts";

/** An overview is hardly wider, CSS px. */
const PIXELS = 2000;

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
      const every = nodes.flatMap((node) => [...slices.of(node)]);
      const own = every.filter((slice) => !names.isOther(slice));
      const spans = own.map((slice): Span => [slices.startOf(slice), slices.endOf(slice)]);
      const near = scene.viewport.whole / PIXELS;
      return { marked: new Marked(slices.count, own), spans: merged(spans, near) };
    };
    const [origin, spread] = [of(Fault.ORIGIN), of(Fault.SPREAD)];
    scene.faults =
      origin.marked.count + spread.marked.count
        ? {
            origin: origin.marked,
            spread: spread.marked,
            origins: origin.spans,
            spans: spread.spans,
          }
        : null;
    this.#changed();
  }

  #judged(answer: HealthAnswer): void {
    this.#known = answer;
    this.mark();
  }
}

/** The spans from left to right, those as one between which there is hardly a gap. */
function merged(spans: Span[], near: number): Span[] {
  const found: Span[] = [];
  for (const [from, to] of spans.sort(([a], [b]) => a - b)) {
    const last = found.at(-1);
    if (last && from - last[1] <= near) found[found.length - 1] = [last[0], Math.max(last[1], to)];
    else found.push([from, to]);
  }
  return found;
}
