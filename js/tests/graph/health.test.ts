import { describe, expect, it } from "vitest";
import {
  BoxHealth,
  NO_VALUES,
  NodeHealth,
  verdictLabel,
  verdictSign,
} from "../../src/graph/data/health.ts";
import { Groups, Links } from "../../src/graph/data/links.ts";
import { buildScene } from "../../src/graph/layout/scene.ts";
import { Verdict } from "../../src/shared/client/health.ts";
import { healthOf } from "../shared/health_answer.ts";
import { blocks, residual, WORDS } from "./fixture.ts";

const FAULT = { verdict: Verdict.FAULTY, nan: 4, words: "4 NaN of 8 values", brief: "4 NaN" };
const DOUBT = { verdict: Verdict.SUSPICIOUS, words: "0 in all 8 values", brief: "all zero" };
const groups = new Groups(residual());

/** Boxes 0, 2 (with parameter 1), 4 (with 3 and 1), 5 and 6. */
const scene = buildScene(new Links(residual()), {
  ...{ fold: true, groups, open: null, only: null, words: WORDS },
});

describe("the health of the graph", () => {
  it("takes the worst output of each node and marks nodes without values", () => {
    const answer = healthOf(5, { 1: DOUBT, 2: FAULT, 3: DOUBT });
    answer.node.set([0, 2, 2, 2, 4]);
    answer.output.set([0, 0, 1, 2, 0]);
    const health = new NodeHealth(answer, 7);
    expect(Array.from(health.verdict)).toEqual([
      1,
      NO_VALUES,
      3,
      NO_VALUES,
      1,
      NO_VALUES,
      NO_VALUES,
    ]);
    expect([health.brief(2), health.brief(0), health.brief(6)]).toEqual([
      "4 NaN",
      "OK",
      "no values",
    ]);
    expect(health.lines(2)).toEqual([
      "output 0 suspicious: 0 in all 8 values",
      "output 1 faulty: 4 NaN of 8 values",
      "output 2 suspicious: 0 in all 8 values",
    ]);
    expect(health.lines(6)).toEqual(["no values"]);
    expect(health.worst).toBe(2);
  });

  it("shows the faults of folded parameters in all boxes that read them", () => {
    const boxes = new BoxHealth(new NodeHealth(healthOf(7, { 1: FAULT, 3: DOUBT }), 7), scene);
    expect([0, 1, 2, 3, 4].map((box) => boxes.verdict(box))).toEqual([1, 3, 3, 1, 1]);
    expect(boxes.brief(1)).toBe("4 NaN in #1");
    expect(boxes.brief(2)).toBe("4 NaN in #1");
    expect(boxes.brief(3)).toBe("OK");
  });

  it("shows the worst verdict inside a closed group", () => {
    const graph = blocks(2, 3);
    const closed = new Groups(graph);
    const open = new Uint8Array(closed.count);
    const options = { fold: true, groups: closed, open, only: null, words: WORDS };
    const drawn = buildScene(new Links(graph), options);
    const count = graph.kinds.length;
    const ill = closed.nodes(0)[4]!;
    const health = new NodeHealth(healthOf(count, { [ill]: FAULT }), count);
    const boxes = new BoxHealth(health, drawn);
    const [first, second] = [drawn.boxOfGroup[0]!, drawn.boxOfGroup[4]!];
    expect([first, second].map((box) => boxes.verdict(box))).toEqual([Verdict.FAULTY, Verdict.OK]);
    expect(boxes.brief(first)).toBe(`4 NaN in #${ill}`);
  });

  it("judges a closed group by its values, even if its first node has none", () => {
    const graph = blocks(1, 2);
    const closed = new Groups(graph);
    const open = new Uint8Array(closed.count);
    const options = { fold: true, groups: closed, open, only: null, words: WORDS };
    const drawn = buildScene(new Links(graph), options);
    const answer = healthOf(1);
    answer.node.set([closed.nodes(0)[2]!]);
    const boxes = new BoxHealth(new NodeHealth(answer, graph.kinds.length), drawn);
    const box = drawn.boxOfGroup[0]!;
    expect([boxes.verdict(box), boxes.brief(box)]).toEqual([Verdict.OK, "OK"]);
  });

  it("reports no values for a node even if its parameters are OK", () => {
    const answer = healthOf(2);
    answer.node.set([1, 3]);
    const boxes = new BoxHealth(new NodeHealth(answer, 7), scene);
    expect([0, 1, 2].map((box) => verdictLabel(boxes.verdict(box)))).toEqual(
      Array(3).fill("no values"),
    );
  });

  it("finds the next node with a verdict, wrapping around", () => {
    const health = new NodeHealth(healthOf(7, { 2: FAULT, 5: FAULT }), 7);
    expect([-1, 2, 5].map((node) => health.next(Verdict.FAULTY, node))).toEqual([2, 5, 2]);
    expect(health.next(Verdict.SUSPICIOUS, 0)).toBe(-1);
    expect(new NodeHealth(healthOf(7), 7).worst).toBe(-1);
  });

  it("gives suspicious, faulty and unknown verdicts distinct signs", () => {
    const signs = [Verdict.SUSPICIOUS, Verdict.FAULTY, Verdict.UNKNOWN].map(verdictSign);
    expect(new Set(signs).size).toBe(3);
    expect(verdictSign(Verdict.OK)).toBe("");
  });
});
