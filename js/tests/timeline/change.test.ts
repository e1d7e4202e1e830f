import { describe, expect, it } from "vitest";
import type { ChangeColumns } from "../../src/shared/client/answers.ts";
import { StringColumn } from "../../src/shared/client/columns.ts";
import { Change, changeText, pText, ratioText, Verdict } from "../../src/timeline/data/change.ts";

function texts(...all: string[]): StringColumn {
  const unique = [...new Set(all)];
  return new StringColumn(
    Int32Array.from(all, (text) => unique.indexOf(text)),
    unique,
  );
}

const NONE = Float64Array.of(Number.NaN, Number.NaN, Number.NaN, Number.NaN);

/** A function against two parts, noise, one only in A, one only in B. */
function columns(): ChangeColumns {
  const rows = {
    nsA: Float64Array.of(100, 50, 0, 7),
    nsB: Float64Array.of(300, 51, 90, 0),
    p: NONE,
    q: NONE,
    shift: NONE,
    low: NONE,
    high: NONE,
    verdict: Uint8Array.of(Verdict.SLOWER, Verdict.NOISE, Verdict.ONLY_B, Verdict.ONLY_A),
    shown: Uint8Array.of(1, 0, 1, 1),
  };
  const why = texts("p = 0.01", "p = 0.5", "alone", "alone");
  return {
    ...rows,
    label: texts("conv2d + add", "dense", "cast", "copy"),
    why,
    kind: texts("convolution", "matmul", "cast/quantize", "copy"),
    node: Int32Array.of(5, 2, -1, 3),
    aStart: Int32Array.of(0, 1, 2, 2, 3),
    aNodes: Int32Array.of(5, 2, 3),
    bStart: Int32Array.of(0, 2, 3, 4, 4),
    bNodes: Int32Array.of(6, 7, 2, 9),
    bNames: texts("conv2d", "add", "dense", "cast"),
    bSlices: Int32Array.of(11, 12, 10, 13),
    match: Uint8Array.of(1, 0, 255, 255),
    reason: texts("parts of a fused function", "same id", "", ""),
    shape: texts("1×16", "1×16", "1×8", ""),
    repeatsAStart: Int32Array.of(0, 2, 2, 2, 2),
    repeatsA: Float64Array.of(90, 110),
    repeatsBStart: Int32Array.of(0, 2, 2, 2, 2),
    repeatsB: Float64Array.of(290, 310),
    kindLabel: texts(),
    kindNsA: new Float64Array(),
    kindNsB: new Float64Array(),
    kindP: new Float64Array(),
    kindQ: new Float64Array(),
    kindShift: new Float64Array(),
    kindLow: new Float64Array(),
    kindHigh: new Float64Array(),
    kindVerdict: new Uint8Array(),
    kindShown: new Uint8Array(),
    kindWhy: texts(),
    sliceNames: texts("fused_add_3", "fused_conv2d"),
    sliceLabels: texts("add", "conv2d"),
    sliceKinds: texts("elementwise", "convolution"),
    info: {
      rows: 0,
      counts: {},
      titles: ["one", "other"],
      sentence: "",
      said: [],
      verdicts: ["slower", "faster", "noise", "unknown", "only in A", "only in B"],
      matches: ["exact", "likely", "possible"],
      roundings: [0, 0],
      total: { a: 157, b: 441, verdict: 0, why: "" },
    },
  };
}

describe("Change", () => {
  const change = new Change(columns());

  it("finds rows by nodes of A and by slices of B", () => {
    expect([5, 2, 3, 4].map((node) => change.rowOf(node))).toEqual([0, 1, 3, -1]);
    expect([11, 12, 13, 1].map((slice) => change.rowOfSlice(slice))).toEqual([0, 0, 2, -1]);
    expect(change.sliceB(2)).toBe(13);
    expect(change.sliceB(3)).toBe(-1);
    expect(change.named("fused_add_3")).toEqual(["add", "elementwise"]);
    expect(change.named("of A")).toBeNull();
  });

  it("sorts by change or execution order, and filters by verdict", () => {
    expect(change.rows("change")).toEqual([0, 1, 2, 3]);
    expect(change.rows("order")).toEqual([1, 3, 0, 2]);
    expect(change.rows("change", Verdict.NOISE)).toEqual([1]);
    expect(change.counts()).toEqual([
      [0, 1],
      [2, 1],
      [4, 1],
      [5, 1],
    ]);
  });

  it("scales each change except noise by the largest one", () => {
    expect(change.most).toBe(200);
    expect([0, 1, 2, 3].map((row) => change.share(row))).toEqual([1, null, 0.725, 0.4825]);
  });

  it("describes both sides and the confidence of the match", () => {
    expect(change.nodesText(0)).toBe("#5 ~ #6, #7");
    expect(change.nodesText(1)).toBe("#2");
    expect(change.nodesText(2)).toBe("#9");
    expect([0, 1, 2].map((row) => change.matchLabel(row))).toEqual(["likely", "", ""]);
    expect(change.sentence(0)).toBe(
      "conv2d + add (#5 ~ #6, #7): 100.0 ns in A, 300.0 ns in B, +200.0 ns (3.0× slower), slower: p = 0.01",
    );
  });

  it("writes differences, ratios and p values", () => {
    expect([1.82e6, -340e3, 0, Number.NaN].map(changeText)).toEqual([
      "+1.820 ms",
      "−340.0 µs",
      "0 ns",
      "unknown",
    ]);
    const told = (nsA: number, nsB: number) =>
      ratioText(0, { ...columns(), nsA: Float64Array.of(nsA), nsB: Float64Array.of(nsB) });
    expect([told(10, 10), told(10, 5), told(1, 20), told(0, 5)]).toEqual([
      "same speed",
      "2.0× faster",
      "20× slower",
      "–",
    ]);
    expect([0.00794, 1e-9, Number.NaN].map(pText)).toEqual(["0.0079", "< 0.0001", "–"]);
  });
});
