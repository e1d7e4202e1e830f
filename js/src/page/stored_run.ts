/** Replies of every page: the run, its columns and findings. */
import { ARRAYS } from "../shared/client/columns.ts";
import type { StoredData, StoredReply } from "./stored_data.ts";
import type { Question, StoredAnswers } from "./stored_questions.ts";

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
