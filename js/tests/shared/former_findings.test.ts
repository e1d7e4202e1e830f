import { expect, it } from "vitest";
import { inPresentWords } from "../../src/shared/client/former_findings.ts";

const REST = { rule: "r", title: "t", evidence: [], why: "", nodes: [], entries: [], next: "" };
const AT = { state: "done", done: 1, total: 1 } as const;

it("findings recorded in former words are read in today's", () => {
  const { findings } = inPresentWords({
    ...AT,
    findings: [
      { ...REST, kind: "fault", certainty: "certain" },
      { ...REST, kind: "doubt", certainty: "likely" },
      { ...REST, kind: "cost", certainty: "possible" },
      { ...REST, kind: "note", certainty: "certain" },
      { ...REST, severity: "warning", confidence: "medium" },
    ],
  });
  expect(findings.map((each) => [each.severity, each.confidence])).toEqual([
    ["error", "high"],
    ["warning", "medium"],
    ["hotspot", "low"],
    ["info", "high"],
    ["warning", "medium"],
  ]);
  expect(findings[0]).toEqual({ ...REST, severity: "error", confidence: "high" });
});
