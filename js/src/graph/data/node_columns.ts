import type { GraphColumns, NodeColumnInfo, RunReplies } from "../../shared/client/answers.ts";
import { bytes, duration, speed } from "../../shared/format.ts";
import { shortText } from "../../shared/number_text.ts";

/** Numbers of nodes or entries; NaN if unknown. */
export interface NumberColumn
  extends Pick<NodeColumnInfo, "of" | "unit" | "scale" | "range" | "together"> {
  name: string;
  values: Float64Array;
  /** Combined value of several nodes, if it is not the sum. */
  sum?: (nodes: ArrayLike<number>) => number;
  /** Value that the nodes share with others; NaN for none. */
  shared?: (nodes: ArrayLike<number>) => number;
  terms?: readonly [divisor: Float64Array, dividend: Float64Array] | undefined;
  /** Why values are unknown; may be empty. */
  note?: string;
}

export interface ClassColumn extends Pick<NodeColumnInfo, "of" | "classes"> {
  name: string;
  /** -1 if unknown. */
  codes: Int32Array;
  /** The class that is hatched on top of its color. */
  hatched?: number;
  ordered?: boolean;
}

export type NodeColumn = NumberColumn | ClassColumn;

/** Progress of a long computation. */
export interface Work {
  state: "scanning" | "done" | "cancelled";
  done: number;
  total: number;
}

export function ownColumn(graph: GraphColumns, name: string): NodeColumn | null {
  const of = "entries" as const;
  const texts = { dtype: graph.dtypes, layout: graph.entryLayouts }[name];
  if (texts) {
    const { codes, unique } = texts;
    const empty = unique.indexOf("");
    const known = codes.map((code) => (code === empty ? -1 : code));
    return { name, of, codes: known, classes: unique };
  }
  if (name === "bytes") {
    const values = graph.entryBytes;
    return { name, of, values, unit: "B", scale: "linear", range: null, together: "sum" };
  }
  if (name === "storage") return numbered(graph, graph.storageIds, name, (id) => `slot ${id}`);
  if (name !== "device") return null;
  return numbered(
    graph,
    graph.deviceTypes,
    name,
    (type) => graph.info?.devices[type] ?? `device type ${type}`,
  );
}

/** All unknown if the graph lists no ids. */
function numbered(
  { kinds, entryOffsets }: GraphColumns,
  ids: Int32Array,
  name: string,
  label: (id: number) => string,
): NodeColumn {
  const distinct = [...new Set(ids)].filter((id) => id >= 0);
  const code = new Map(distinct.map((id, row) => [id, row]));
  const codes = new Int32Array(entryOffsets[kinds.length] ?? 0);
  for (let entry = 0; entry < codes.length; entry++) codes[entry] = code.get(ids[entry]!) ?? -1;
  return { name, of: "entries", codes, classes: distinct.map(label) };
}

/** A column of Python; null if it has not a row for each node or entry. */
export function readColumn(
  graph: GraphColumns,
  name: string,
  { info, values, codes, divisor, dividend }: RunReplies["nodeColumn"],
): NodeColumn | null {
  const nodes = graph.kinds.length;
  const rows = info.of === "nodes" ? nodes : (graph.entryOffsets[nodes] ?? 0);
  if ((values ?? codes)?.length !== rows) return null;
  const { classes, ordered, hatched, ...more } = info;
  if (codes) return { of: info.of, name, codes, classes, ordered, hatched };
  const terms = divisor && dividend && ([divisor, dividend] as const);
  return { ...more, name, values: values!, terms };
}

/** Rows [first, end) of a node in a column. */
export function rowsOf(
  graph: GraphColumns,
  { of }: NodeColumn,
  node: number,
): [first: number, end: number] {
  return of === "nodes"
    ? [node, node + 1]
    : [graph.entryOffsets[node]!, graph.entryOffsets[node + 1]!];
}

/** Sum, mean, log ratio of two sums, or largest magnitude of some nodes; NaN if none is known. */
export function combined(
  graph: GraphColumns,
  column: NumberColumn,
  nodes: ArrayLike<number>,
): number {
  const { values, together, terms } = column;
  if (terms && nodes.length > 1) return ratio(terms, nodes);
  if (column.sum && nodes.length > 1) return column.sum(nodes);
  const counts = together === "sum" && nodes.length > 1 ? graph.nodeCount : undefined;
  let [count, result] = [0, Number.NaN];
  for (let i = 0; i < nodes.length; i++) {
    const [first, end] = rowsOf(graph, column, nodes[i]!);
    for (let row = first; row < end; row++) {
      const value = values[row]! * (counts?.[nodes[i]!] ?? 1);
      if (Number.isNaN(value)) continue;
      if (count++ === 0) result = value;
      else if (together !== "largest") result += value;
      else if (Math.abs(value) > Math.abs(result)) result = value;
    }
  }
  return together === "mean" ? result / count : result;
}

function ratio(
  [divisor, dividend]: NonNullable<NumberColumn["terms"]>,
  nodes: ArrayLike<number>,
): number {
  let [below, above] = [0, 0];
  for (let i = 0; i < nodes.length; i++) {
    const [one, two] = [divisor[nodes[i]!]!, dividend[nodes[i]!]!];
    if (Number.isNaN(one) || Number.isNaN(two)) continue;
    below += one;
    above += two;
  }
  return above > 0 && below > 0 ? Math.log2(above / below) : Number.NaN;
}

/** A value with its unit: `3.214 ms`, `16.0 KiB`, `31.2 dB`. */
export function valueText(value: number, unit: string): string {
  if (unit === "ns") return duration(value);
  if (unit === "×") return speed(2 ** value);
  if (unit === "B") return bytes(Math.round(value)).replace(/ \(.*/, "");
  return `${shortText(value)}${unit ? ` ${unit}` : ""}`;
}
