/** Replies of every page: the run, its columns, nodes and findings, as in `answers/node.py`. */
import { type GraphColumns, NODE_KINDS, TRUST_LABELS } from "../shared/client/answers.ts";
import { ARRAYS } from "../shared/client/columns.ts";
import type { TimelineColumns } from "../shared/client/timeline_columns.ts";
import type { Columns } from "../shared/client/wire.ts";
import { counted, duration, givenText, isShort, percent } from "../shared/format.ts";
import type { Question, StoredAnswers, StoredData, StoredReply } from "./stored_data.ts";

const CONSUMERS = 200;
const LISTED = 500;
const REPEATS = 20;

function nodeDetails(data: StoredData, node: number): object {
  if (!data.has("graph")) throw new Error("this run has no graph");
  const graph = data.columns<"graph">("graph");
  const more = data.columns<"page nodes">("nodes");
  const count = graph.names.length;
  if (node >= count) throw new Error(`node ${node} of a graph with ${counted(count, "node")}`);
  const [attrs, last] = [more.attrOffsets[node]!, more.attrOffsets[node + 1]!];
  const outputs = graph.entryOffsets[node + 1]! - graph.entryOffsets[node]!;
  const read = rows(graph.edgeTarget, node);
  return {
    id: node,
    name: graph.names.at(node),
    funcName: graph.funcNames.at(node),
    kind: graph.roles.at(node) || NODE_KINDS[graph.kinds[node]!],
    opKind: graph.opKinds.at(node),
    attrs: range(last - attrs, attrs).map((at) => [more.attrNames.at(at), more.attrValues.at(at)]),
    inputs: read.slice(0, LISTED).map((edge) => input(graph, more, edge)),
    inputCount: read.length,
    outputs: range(Math.min(outputs, LISTED)).map((slot) => output(data, graph, more, node, slot)),
    outputCount: outputs,
    times: times(data, graph, node),
    notes: rows(more.noteNode, node).map((at) => more.notes.at(at)),
  };
}

function range(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

/** The positions of a value in a column, ascending. */
function rows(column: Int32Array, value: number): number[] {
  const positions: number[] = [];
  for (let at = column.indexOf(value); at >= 0; at = column.indexOf(value, at + 1))
    positions.push(at);
  return positions;
}

function entryText(graph: GraphColumns, node: number, output: number): string {
  const entry = node < 0 ? -1 : graph.entryOffsets[node]! + output;
  if (entry < 0 || entry >= graph.entryOffsets[node + 1]!) return "unknown";
  const dims = graph.shapeDims.subarray(graph.shapeOffsets[entry]!, graph.shapeOffsets[entry + 1]!);
  const size = graph.shapeKnown[entry] ? dims.join("×") || "scalar" : "?";
  return `${graph.dtypes.at(entry) || "?"} ${size}`;
}

function input(graph: GraphColumns, more: Columns<"page nodes">, edge: number): object {
  const [node, output] = [graph.edgeSource[edge]!, graph.edgeOutput[edge]!];
  const choice = more.edge.indexOf(edge);
  return {
    node,
    output,
    name: node >= 0 ? graph.names.at(node) : "not in the graph",
    text: entryText(graph, node, output) + (choice < 0 ? "" : more.candidates.at(choice)),
    trust: TRUST_LABELS[graph.edgeTrust[edge]!],
  };
}

function output(
  data: StoredData,
  graph: GraphColumns,
  more: Columns<"page nodes">,
  node: number,
  output: number,
): object {
  const entry = graph.entryOffsets[node]! + output;
  let text = entryText(graph, node, output);
  const [slot = -1, device = -1] = [graph.storageIds[entry], graph.deviceTypes[entry]];
  if (slot >= 0) text += `, storage ${slot}`;
  if (device >= 0) text += `, ${data.head.devices?.[device]}`;
  if (more.scopes.at(entry)) text += `, scope ${more.scopes.at(entry)}`;
  const heads = rows(graph.headNode, node).filter((at) => graph.headOutput[at] === output);
  if (heads.length) text += `, graph output ${heads.join(", ")}`;
  const targets = rows(graph.edgeSource, node)
    .filter((edge) => graph.edgeOutput[edge] === output)
    .slice(0, CONSUMERS)
    .map((edge) => graph.edgeTarget[edge]!);
  const consumers = [...new Set(targets)].map((id) => ({
    node: id,
    name: graph.names.at(id),
  }));
  return { output, text, consumers };
}

const MEASURED = { mean: "mean", call: "one call", sum: "sum of all calls" } as const;

function times(data: StoredData, graph: GraphColumns, node: number): [string, string][] {
  const timeline = data.has("timeline") ? data.columns<"timeline">("timeline") : null;
  const mean = timeline?.nodeNs[node] ?? Number.NaN;
  const given = givenText(graph, node);
  if (given && !(mean > 0)) return [["time", given]];
  if (!timeline || Number.isNaN(mean)) return [];
  const info = data.head.answers.timeline as TimelineColumns["info"];
  const text = (ns: number) => duration(ns, info.roundingNs);
  const facts: [string, string][] = [[MEASURED[info.words.measured], text(mean)]];
  const short = isShort(mean, info.roundingNs);
  if (!short) facts.push(["in nanoseconds", exact(mean)]);
  if (info.totalNs && !short) {
    facts.push([`share ${info.words.shares}`, percent(graph.nodeShare?.[node] ?? Number.NaN)]);
  }
  const repeats = timeline.repeats.subarray(
    timeline.repeatsOffsets[node]!,
    timeline.repeatsOffsets[node + 1]!,
  );
  if (repeats.length && info.words.repeats) {
    facts.push(["repeats", Array.from(repeats.subarray(0, REPEATS), text).join(", ")]);
    const [low, high] = [timeline.nodeP10[node]!, timeline.nodeP90[node]!];
    if (low !== high) facts.push(["p10 … p90", `${text(low)} … ${text(high)}`]);
  }
  facts.push(["joined", TRUST_LABELS[timeline.nodeTrust[node]!]!]);
  return facts;
}

/** Nanoseconds to the hundredth, ties to even, as in Python. */
function exact(ns: number): string {
  const eighths = ns * 8;
  const half = Number.isInteger(eighths) && Math.abs(eighths % 4) === 1;
  const text = (half ? ns - Math.sign(ns) / 256 : ns).toFixed(2);
  const [whole, rest] = text.split(".");
  return `${whole!.replace(/\B(?=(\d{3})+$)/g, ",")}.${rest} ns`;
}

const NO_FINDINGS = { state: "none", done: 0, total: 0, findings: [] };

export function runAnswers(data: StoredData): StoredAnswers {
  const { answers } = data.head;
  const part = (kind: string) => () => {
    if (!data.has(kind)) return plain(answers[kind] ?? null);
    const { headers, buffer } = data.table(kind);
    const result = { columns: headers, info: answers[kind] ?? null };
    return { result, buffers: [new DataView(buffer)] };
  };
  const findings = () => plain(answers.findings ?? NO_FINDINGS);
  return {
    summary: () => plain(answers.summary),
    highlights: () => plain(answers.highlights ?? []),
    graph: part("graph"),
    facts: part("nodes"),
    timeline: part("timeline"),
    slices: (question) => slices(data, question),
    names: (question) => names(data, question),
    flows: part("flows"),
    sums: (question) => {
      const by = question.text("by");
      return ofAllTime(question, part(`sums ${by === "callers" ? "node" : by}`));
    },
    paths: (question) => ofAllTime(question, part("paths")),
    area: (question) => ofAllTime(question, part("area")),
    merged: (question) => ofAllTime(question, part("merged")),
    repeats: part("repeats"),
    tensors: part("tensors"),
    memory: part("memory"),
    critical: part("critical"),
    roofline: part("roofline"),
    counters: part("counters"),
    comparison: part("comparison"),
    change: part("change"),
    node: (question) => plain(nodeDetails(data, question.integer("node"))),
    findings,
    cancelFindings: findings,
    health: () => {
      const { headers, buffer } = data.table("health");
      const result = { ...(answers.health as object), columns: headers };
      return { result, buffers: [new DataView(buffer)] };
    },
  };
}

function plain(result: unknown): StoredReply {
  return { result, buffers: [] };
}

/** Throws if a question names a range, whose slices only Python sums. */
function ofAllTime(question: Question, reply: () => StoredReply): StoredReply {
  if (!question.has("from")) return reply();
  throw new Error(
    "This page holds sums of all time only; open the run in a notebook to sum a range.",
  );
}

/** Slices `first` to `last - 1` as subarrays of the page's columns: nothing is copied. */
function slices(data: StoredData, question: Question): StoredReply {
  const { headers, buffer } = data.table("slices");
  const first = question.integer("first", 0, headers[0]!.length);
  const last = question.integer("last", first, headers[0]!.length);
  const columns = headers.map((header) => {
    if (header.kind === "strings") return header;
    const width = ARRAYS[header.kind].BYTES_PER_ELEMENT;
    return { ...header, offset: header.offset + first * width, length: last - first };
  });
  return { result: { columns, info: null }, buffers: [new DataView(buffer)] };
}

/** All names from `first` on, which the first answer had no room for. */
function names(data: StoredData, question: Question): StoredReply {
  const { headers, buffer } = data.table("names");
  const first = question.integer("first", 0, headers[0]!.length);
  const columns = headers.map((header) => {
    if (header.kind !== "strings") return header;
    return { ...header, codes: header.codes + 4 * first, length: header.length - first };
  });
  return { result: { columns, info: null }, buffers: [new DataView(buffer)] };
}
