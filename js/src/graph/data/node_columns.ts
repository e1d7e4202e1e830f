import type { GraphColumns } from "../../shared/client/answers.ts";
import { bytes, duration, speed } from "../../shared/format.ts";
import { shortText } from "../../shared/number_text.ts";

interface ColumnBase {
  name: string;
  of: "nodes" | "entries";
  /** Progress of a long computation. */
  work: Work | null;
}

/** See `NodeColumn` in `tvmdbg_widgets/model/graph/node_columns.py`. */
export interface NumberColumn extends ColumnBase {
  /** NaN if unknown. */
  values: Float64Array;
  unit: string;
  scale: "linear" | "log" | "symlog" | "diverging";
  range: readonly [low: number, high: number] | null;
  together: "largest" | "sum" | "mean" | "ratio";
  /** Combined value of several nodes, if it is not the sum. */
  sum?: ((nodes: ArrayLike<number>) => number) | undefined;
  /** Value that the nodes share with others; NaN for none. */
  shared?: ((nodes: ArrayLike<number>) => number) | undefined;
  terms?: readonly [divisor: Float64Array, dividend: Float64Array] | undefined;
  /** Why values are unknown; may be empty. */
  note?: string | undefined;
}

export interface ClassColumn extends ColumnBase {
  /** -1 if unknown. */
  codes: Int32Array;
  classes: readonly string[];
  hatched?: number | undefined;
  ordered?: boolean | undefined;
}

export type NodeColumn = NumberColumn | ClassColumn;

export interface Work {
  state: "scanning" | "done" | "cancelled";
  done: number;
  total: number;
}

export interface Wire {
  of: "nodes" | "entries";
  unit: string;
  scale: NumberColumn["scale"];
  range: [number, number] | null;
  together: NumberColumn["together"];
  classes: string[] | null;
  /** The class that is hatched on top of its color. */
  hatched?: number;
  ordered?: boolean;
  note?: string;
  terms?: readonly Wire["data"][];
  data: DataView | { base64: string };
  state?: Work["state"];
  done?: number;
  total?: number;
}

export function ownColumn(graph: GraphColumns, name: string): NodeColumn | null {
  const of = "entries" as const;
  const work = null;
  const texts = { dtype: graph.dtypes, layout: graph.entryLayouts }[name];
  if (texts) {
    const { codes, unique } = texts;
    const empty = unique.indexOf("");
    return {
      name,
      of,
      work,
      codes: codes.map((code) => (code === empty ? -1 : code)),
      classes: unique,
    };
  }
  if (name === "bytes") {
    const values = graph.entryBytes;
    return { name, of, work, values, unit: "B", scale: "linear", range: null, together: "sum" };
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
  return { name, of: "entries", work: null, codes, classes: distinct.map(label) };
}

export function readColumn(graph: GraphColumns, name: string, wire: Wire): NodeColumn | null {
  const nodes = graph.kinds.length;
  const rows = wire.of === "nodes" ? nodes : (graph.entryOffsets[nodes] ?? 0);
  const data = bytesOf(wire.data);
  const work = wire.state
    ? { state: wire.state, done: wire.done ?? 0, total: wire.total ?? 0 }
    : null;
  if (data.byteLength !== rows * (wire.classes ? 4 : 8)) return null;
  const { of, classes } = wire;
  const { hatched, ordered } = wire;
  if (classes) return { name, of, work, classes, hatched, ordered, codes: new Int32Array(data) };
  const { unit, scale, range, together, note } = wire;
  const terms = wire.terms?.map((term) => new Float64Array(bytesOf(term))) as NumberColumn["terms"];
  const values = new Float64Array(data);
  return { name, of, work, values, unit, scale, range, together, note, terms };
}

/** A copy: parts of a message may begin at any byte. */
function bytesOf(data: Wire["data"]): ArrayBuffer {
  if ("base64" in data)
    return Uint8Array.from(atob(data.base64), (char) => char.charCodeAt(0)).buffer;
  const { buffer, byteOffset, byteLength } = data;
  return new Uint8Array(buffer, byteOffset, byteLength).slice().buffer;
}

/** Rows [first, end) of a node in a column. */
export function rowsOf(
  graph: GraphColumns,
  { of }: ColumnBase,
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
