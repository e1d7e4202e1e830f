/** Recorded replies about tensors, and what a question names of them. */
import type {
  Entry,
  HistogramAnswer,
  StatisticsAnswer,
} from "../shared/client/tensor_questions.ts";
import type { StoredData, StoredVariant } from "./stored_data.ts";
import type { Question } from "./stored_questions.ts";

export interface TensorReading extends StoredVariant {
  /** Number of the variant. */
  variant: number;
  shape: number[];
  drawn: boolean;
  /** True for complex values, which have no order. */
  unordered: boolean;
}

export class StoredFacts {
  readonly #variants: StoredVariant[];

  constructor(data: StoredData) {
    const recorded = data.recorded({ kind: "variants" });
    if (!recorded) throw new Error("this run has no tensors");
    this.#variants = recorded.result as StoredVariant[];
  }

  find(question: Question): TensorReading {
    const [node, output] = question.integers("entry", 2) as unknown as Entry;
    const first = this.#number([node, output]);
    if (first < 0) throw new Error(`no tensor for node ${node}, output ${output}`);
    const { readings } = this.#variants[first]!.header;
    const requested = readings.length ? question.choice("reading", readings) : null;
    if (!readings.length) question.text("reading");
    const variant = requested === null ? first : this.#number([node, output], requested);
    const stored = this.#variants[variant]!;
    const { storedShape: shape, unordered = false } = stored.header;
    const drawn = stored.statistics.statistics !== null && !shape.includes(0);
    return { ...stored, variant, shape, drawn, unordered };
  }

  /** The variants of the real and imaginary parts of complex numbers. */
  parts({ header: { entry } }: TensorReading): number[] {
    return [this.#number(entry, "real"), this.#number(entry, "imag")];
  }

  #number([node, output]: Entry, reading?: string): number {
    return this.#variants.findIndex(
      ({ header }) =>
        header.entry[0] === node &&
        header.entry[1] === output &&
        (reading === undefined || header.reading === reading),
    );
  }
}

/** Why a fact about the values is missing, and how to get it. */
export function missing({ note, remedy }: StoredVariant, what: string): string {
  const why = note || "its values were not saved";
  return `not in this page: ${what} (${why}); open the dump, or ${remedy}`;
}

/** Statistics without the distribution. */
export function storedStatistics({ statistics }: StoredVariant): StatisticsAnswer {
  const { histogram } = statistics;
  return { ...statistics, histogram: histogram && withEdges(histogram) };
}

/** Equal bins are stored with their first and last edge alone. */
function withEdges({ counts, edges, ...rest }: HistogramAnswer): HistogramAnswer {
  const [first, last] = [edges[0]!, edges.at(-1)!];
  const step = (last - first) / counts.length;
  const even = counts.map((_, bin) => bin * step + first);
  return { counts, edges: edges.length > 2 ? edges : [...even, last], ...rest };
}
