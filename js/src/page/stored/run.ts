/** What every page answers: the run, its columns, its nodes and what was found in it. */
import { ARRAYS } from "../../shared/client/columns.ts";
import type { StoredData } from "./data.ts";
import { nodeDetails } from "./node.ts";
import type { Question } from "./question.ts";
import type { Answers, Reply } from "./stored.ts";

const NO_FINDINGS = { state: "none", done: 0, total: 0, findings: [] };

export function runAnswers(data: StoredData): Answers {
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

function plain(result: unknown): Reply {
  return { result, buffers: [] };
}

/** Slices `first` to `last - 1` as parts of the columns that lie in the page: nothing is copied. */
function slices(data: StoredData, question: Question): Reply {
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

/** All names from one on that the first answer had no room for. */
function names(data: StoredData, question: Question): Reply {
  const { headers, buffer } = data.table("names");
  const first = question.integer("first", 0, headers[0]!.length);
  const columns = headers.map((header) => {
    if (header.kind !== "strings") return header;
    return { ...header, codes: header.codes + 4 * first, length: header.length - first };
  });
  return { result: { columns, info: null }, buffers: [new DataView(buffer)] };
}
