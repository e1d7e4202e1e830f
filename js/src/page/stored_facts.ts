/** Recorded replies about tensors, and what a question names of them. */
import type {
  ChannelsRequest,
  DataRequest,
  HistogramAnswer,
  KnownLayout,
  StatisticsAnswer,
  TensorAnswer,
  TensorRequest,
  ValuesRequest,
} from "../shared/client/tensor_questions.ts";
import type { StoredData } from "./stored_data.ts";

/** What the views of a page ask about a tensor; the fields depend on the kind. */
export type TensorQuestion = TensorRequest & ValuesRequest & ChannelsRequest & DataRequest;

/** Replies about a tensor under one reading, as `Variant.stored` of `export/page/facts.py` records them. */
export interface StoredVariant {
  /** Its number. */
  variant: number;
  /** Along the axes as stored, without a picture. */
  header: TensorAnswer;
  statistics: StatisticsAnswer;
  /** Layout that the saved view was given by hand, if the tensor can have it. */
  own?: KnownLayout[];
  /** Why values are missing; "" if all are there. */
  note: string;
  /** Call that makes a page with the values. */
  remedy: string;
}

export interface TensorReading extends StoredVariant {
  shape: number[];
  drawn: boolean;
  /** True for complex values, which have no order. */
  unordered: boolean;
}

export function readingOf(
  data: StoredData,
  { entry, reading }: Pick<TensorQuestion, "entry" | "reading">,
): TensorReading {
  const found = data.recorded({ kind: "variant", entry, reading: reading ?? null });
  if (!found) throw new Error(`no tensor for node ${entry?.[0]}, output ${entry?.[1]}`);
  const stored = found.result as StoredVariant;
  const { storedShape: shape, unordered = false } = stored.header;
  const drawn = stored.statistics.statistics !== null && !shape.includes(0);
  return { ...stored, shape, drawn, unordered };
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
