/** What every page answers: the run, its columns, its nodes and what was found in it. */
import type { Answers, Reply } from "./stored.ts";
import type { StoredData } from "./stored_data.ts";
import { nodeDetails } from "./stored_node.ts";

const NO_FINDINGS = { state: "none", done: 0, total: 0, findings: [] };

export function runAnswers(data: StoredData): Answers {
  const { answers } = data.head;
  const part = (kind: string) => () => {
    if (!data.has(kind)) return plain(null);
    const { headers, buffer } = data.table(kind);
    const result = { columns: headers, info: answers[kind] ?? null };
    return { result, buffers: [new DataView(buffer)] };
  };
  const findings = () => plain(answers.findings ?? NO_FINDINGS);
  return {
    summary: () => plain(answers.summary),
    graph: part("graph"),
    facts: part("nodes"),
    timeline: part("timeline"),
    tensors: part("tensors"),
    memory: part("memory"),
    critical: part("critical"),
    roofline: part("roofline"),
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
