import type { Finding, FindingsAnswer } from "./findings.ts";

const SEVERITIES = { fault: "error", doubt: "warning", cost: "hotspot", note: "info" } as const;
const CONFIDENCES = { certain: "high", likely: "medium", possible: "low" } as const;

type FormerFinding = Omit<Finding, "severity" | "confidence"> & {
  kind: keyof typeof SEVERITIES;
  certainty: keyof typeof CONFIDENCES;
};

export type FormerAnswer = Omit<FindingsAnswer, "findings"> & {
  findings: (Finding | FormerFinding)[];
};

/** What a run recorded before severity and confidence had their names answers, in today's words. */
export function inPresentWords(answer: FormerAnswer): FindingsAnswer {
  return { ...answer, findings: answer.findings.map(present) };
}

function present(finding: Finding | FormerFinding): Finding {
  if ("severity" in finding) return finding;
  const { kind, certainty, ...rest } = finding;
  return { ...rest, severity: SEVERITIES[kind], confidence: CONFIDENCES[certainty] };
}
