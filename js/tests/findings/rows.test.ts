import { describe, expect, it } from "vitest";
import {
  brief,
  counts,
  type FindingRow,
  nextNode,
  progress,
  rowsOf,
  sentence,
} from "../../src/debugger/finding_rows.ts";
import type { Finding, FindingsAnswer } from "../../src/shared/client/answers.ts";
import { selectionOf } from "../../src/shell/palette.ts";

function finding(rule: string, title: string, nodes: number[] = [], more: Partial<Finding> = {}) {
  const plain = {
    severity: "hotspot",
    confidence: "high",
    why: "",
    evidence: [],
    next: "",
  } as const;
  return { ...plain, rule, title, nodes, entries: [], ...more } as Finding;
}

function keeper() {
  let serial = 0;
  let rows: FindingRow[] = [];
  return (findings: Finding[], notes: [number, string][] = []) => {
    rows = rowsOf(rows, findings, notes, () => `k${++serial}`);
    return rows;
  };
}

describe("rows", () => {
  it("keep their keys when their ranks and titles change", () => {
    const show = keeper();
    const [slow, dead] = show([finding("slow", "a", [4]), finding("dead", "3 channels", [7])]);
    const later = show([
      finding("first-nan", "node 2", [2]),
      finding("dead", "12 channels", [7, 9]),
      finding("slow", "a", [4]),
    ]);
    expect(later.map(({ key }) => key)).toEqual(["k3", dead!.key, slow!.key]);
    expect(later.map(({ rank }) => rank)).toEqual([0, 1, 2]);
    expect(later[1]!.title).toBe("12 channels");
  });

  it("are identified by their rule and first node", () => {
    const show = keeper();
    const before = show([finding("zero", "x", [1]), finding("zero", "y", [5])]);
    const after = show([
      finding("zero", "x", [1]),
      finding("zero", "z", [3]),
      finding("zero", "y, now more", [5]),
    ]);
    expect([after[0]!.key, after[2]!.key]).toEqual(before.map(({ key }) => key));
    expect(after[1]!.key).toBe("k3");
  });

  it("list the user's notes last, without a rank", () => {
    const show = keeper();
    const rows = show([finding("slow", "a", [4])], [[9, "look"]]);
    expect(rows[1]).toMatchObject({ key: "noted-9", severity: "noted", title: "look", rank: null });
    expect(show([], [[9, "look again"]])[0]!.key).toBe("noted-9");
  });
});

describe("the selection of a row", () => {
  const select = (each: Finding) => selectionOf(each.nodes, each);

  it("contains all its nodes, the first one last, and its entry", () => {
    const entries: [number, number][] = [
      [41, 0],
      [38, 1],
    ];
    expect(select(finding("r", "t", [38, 41], { entries }))).toEqual({
      nodes: [41, 38],
      entry: [38, 1],
    });
    expect(select(finding("r", "t", [38]))).toEqual({ nodes: [38], entry: [38, 0] });
    expect(select(finding("r", "t", [], { entries: [[3, 2]] }))).toEqual({
      nodes: [3],
      entry: [3, 2],
    });
    expect(select(finding("r", "t"))).toBeNull();
  });

  it("cycles through its nodes", () => {
    const row = keeper()([finding("r", "t", [5, 6, 9])])[0]!;
    expect([nextNode(row, null, 1), nextNode(row, 5, 1), nextNode(row, 9, 1)]).toEqual([5, 6, 5]);
    expect([nextNode(row, 5, -1), nextNode(row, 77, 1)]).toEqual([9, 5]);
    expect(nextNode(keeper()([finding("r", "t")])[0]!, 5, 1)).toBeNull();
  });
});

describe("texts of findings", () => {
  it("give screen readers severity, confidence and nodes, plus the evidence when open", () => {
    const told = {
      evidence: ["59 +Inf"],
      why: "all was read",
      next: "look",
      severity: "error",
    } as const;
    const [row, note] = keeper()(
      [finding("r", "first Inf", [1, 2, 3, 4, 5], { ...told, evidence: [...told.evidence] })],
      [[2, "mine"]],
    ) as [FindingRow, FindingRow];
    expect(sentence(row, 0, 2, false)).toBe(
      "Finding 1 of 2; error, high confidence: first Inf; nodes 1, 2, 3 and 2 more; folded.",
    );
    expect(sentence(row, 0, 2, true)).toBe(
      "Finding 1 of 2; error, high confidence: first Inf; nodes 1, 2, 3 and 2 more; 59 +Inf; all was read; next: look.",
    );
    expect(sentence(note, 1, 2, false)).toBe("Note 2 of 2; mine; node 2.");
  });

  it("count the severities that occur, most severe first", () => {
    const severities = ["hotspot", "error", "hotspot", "info"] as const;
    const found = severities.map((severity, i) => finding("r", `${i}`, [i], { severity }));
    expect(counts(found).map(([, text]) => text)).toEqual(["1 error", "2 hotspots", "1 info"]);
    expect(counts([])).toEqual([]);
  });

  it("report the progress of the scan", () => {
    const at = (state: FindingsAnswer["state"], done: number, total = 1030) =>
      progress({ state, done, total, findings: [] });
    expect(at("none", 0)).toBe("scanning …");
    expect(at("scanning", 34)).toBe("scanning 34 of 1,030 tensors …");
    expect(at("cancelled", 34)).toBe("stopped after 34 of 1,030 tensors");
    expect(at("done", 1030)).toBe("1,030 tensors scanned");
    expect(at("done", 0, 0)).toBe("no tensors to scan");
  });
});

describe("a title on one line", () => {
  it.each([
    ["#38 conv2d + add + add + relu takes 5.97 %", "#38 conv2d + … + relu takes 5.97 %"],
    ["#3:1 a + b + … + c + d: 59 of 8,192", "#3:1 a + … + d: 59 of 8,192"],
    ["of it: #4 conv2d + add, #7 dense", "of it: #4 conv2d + add, #7 dense"],
    ["conv2d + add + relu (10×) 46.0 %", "conv2d + add + relu (10×) 46.0 %"],
    ["1 + 1 is no name", "1 + 1 is no name"],
  ])("shortens names with an id: %s", (title, short) => {
    expect(brief(title)).toBe(short);
  });
});
