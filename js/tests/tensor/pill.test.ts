// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { Verdict } from "../../src/shared/client/health.ts";
import type { TensorAnswer } from "../../src/shared/client/tensor_questions.ts";
import { HealthPill } from "../../src/tensor/distribution/health_pill.ts";
import type { ShownTensor } from "../../src/tensor/state.ts";
import { answer, statistics } from "./answer.ts";

function shown(change: Partial<TensorAnswer> = {}, state = "exact"): ShownTensor {
  const known = { ...statistics({ size: 64 }), state };
  return {
    entry: [0, 0],
    answer: { ...answer({}), ...change },
    statistics: known,
  } as unknown as ShownTensor;
}

function pill(told: ShownTensor, verdict?: number, brief = "4 of 16 dead") {
  const made = new HealthPill({ go: () => {} } as never);
  made.show(told);
  if (verdict !== undefined) made.judge({ verdict, brief });
  return {
    said: made.node.querySelector("strong")?.textContent,
    look: /health-(\w+)$/.exec(made.node.className)?.[1],
  };
}

describe("the health of a tensor", () => {
  it("uses the verdict of the run once it is known", () => {
    expect(pill(shown())).toEqual({ said: "✓ all finite", look: "good" });
    const doubt = pill(shown(), Verdict.SUSPICIOUS);
    expect(doubt).toEqual({ said: "⚠ suspicious: 4 of 16 dead", look: "doubt" });
    expect(pill(shown(), Verdict.OK, "")).toEqual({ said: "✓ OK, all finite", look: "good" });
  });

  it("does not repeat the counts", () => {
    const told = shown();
    Object.assign(told.statistics!.statistics!, { finite: 5, posInf: 59, verdict: "error" });
    const fault = pill(told, Verdict.FAULTY, "59 Inf");
    expect(fault).toEqual({ said: "⚠ not finite", look: "error" });
  });

  it("uses its own counts if the run has no verdict on these values", () => {
    for (const verdict of [Verdict.NOT_SCANNED, Verdict.UNKNOWN]) {
      expect(pill(shown(), verdict).said).toBe("✓ all finite");
    }
    const other = shown({ readings: ["packed", "bytes"], reading: "bytes" });
    expect(pill(other, Verdict.SUSPICIOUS).said).toBe("✓ all finite");
    const usual = shown({ readings: ["packed", "bytes"], reading: "packed" });
    expect(pill(usual, Verdict.SUSPICIOUS).said).toBe("⚠ suspicious: 4 of 16 dead");
  });

  it("marks counts that come from a sample", () => {
    const { said } = pill(shown({}, "sampled"), Verdict.SUSPICIOUS);
    expect(said).toBe("⚠ suspicious: 4 of 16 dead; counts of a sample of 64");
  });
});
