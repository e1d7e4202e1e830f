import { describe, expect, it } from "vitest";
import { paragraphs } from "../../src/debugger/mount.ts";
import {
  codeOfRun,
  nodesCode,
  rangeCode,
  sliceCode,
  timesCode,
} from "../../src/shell/code_copy.ts";

describe("code for a selection", () => {
  it("is a Python expression for nodes, a slice or a time range", () => {
    expect(nodesCode([38])).toBe("run.graph.nodes[38]");
    expect(nodesCode([35, 38])).toBe("[run.graph.nodes[i] for i in (35, 38)]");
    expect(nodesCode([])).toBe("run.graph");
    expect(timesCode([38])).toBe("run.timeline.node(38)");
    expect(timesCode([1, 2])).toBe("[run.timeline.node(i) for i in (1, 2)]");
    expect(timesCode([])).toBe("run.timeline.top()");
    expect(sliceCode(38, 2)).toBe("run.timeline.slice(run.timeline.slices_of(38)[2])");
    expect(rangeCode([0.1, 2e21])).toBe("run.area(0.1, 2e+21).to_dataframe()");
  });
});

describe("the comment after code", () => {
  it("names the run in one line", () => {
    expect(codeOfRun("run.graph", "resnet20")).toBe("run.graph  # run: resnet20");
    const hostile = "a\nimport os\r\u2028b\u202e\x00c\x0cd";
    expect(codeOfRun("run.graph", hostile)).toBe("run.graph  # run: a import os b c d");
  });

  it("is left out where the run has no name", () => {
    for (const none of [null, "", " \n"]) expect(codeOfRun("run.graph", none)).toBe("run.graph");
  });
});

describe("the prose of a tour", () => {
  it("is split into paragraphs at empty lines", () => {
    expect(paragraphs("one\nline\n\n  two \n \n\nthree\n")).toEqual(["one\nline", "two", "three"]);
    expect(paragraphs("")).toEqual([]);
  });
});
