import { describe, expect, it } from "vitest";
import type { Distribution, StatisticsAnswer } from "../../src/shared/client/tensor_questions.ts";
import { tidy, ValueAxis } from "../../src/shared/drawing/value_axis.ts";
import { type SpreadChoice, spreadOf } from "../../src/tensor/distribution/spread.ts";
import { barAt, share, spreadScene } from "../../src/tensor/distribution/spread_scene.ts";
import { random } from "../timeline/fixture.ts";
import { statistics } from "./answer.ts";

const LINEAR: SpreadChoice = { kind: "linear", zoom: null };
const bins = {
  counts: [10, 0, 1, 5],
  edges: [-2, -1, 0, 1, 2],
  size: 20,
  nan: 1,
  posInf: 3,
  low: -2,
  high: 2,
};

function drawn(known: StatisticsAnswer, choice = LINEAR, dtype = "float32", log = false) {
  const spread = spreadOf(known, dtype, choice)!;
  return spreadScene(spread, known.statistics!.size, 300, 150, log);
}

/** Bins that hold one value each. */
function alone(values: readonly number[]): Distribution {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const at = Float64Array.from(sorted);
  const count = sorted.map((each) => values.filter((value) => value === each).length);
  return { low: at, high: at, count: Float64Array.from(count) };
}

function knownOf(values: readonly number[]): StatisticsAnswer {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const known = statistics({ low, high, size: values.length });
  known.statistics!.zero = values.filter((value) => value === 0).length;
  known.statistics!.negative = values.filter((value) => value < 0).length;
  known.distribution = alone(values);
  return known;
}

describe("integers in a bin with zero", () => {
  it.each([1, -1])("begin at one on a logarithmic axis (sign %i)", (sign) => {
    const far = sign * (2 ** 32 - 2);
    const known = statistics({ low: Math.min(0, far), high: Math.max(0, far), size: 5 });
    known.statistics!.zero = 2;
    known.statistics!.negative = sign < 0 ? 3 : 0;
    const [near, end] = [
      [0, sign * 0xffff],
      [sign * 0xffff0000, far],
    ].map((bounds) => bounds.sort((a, b) => a - b)) as [[number, number], [number, number]];
    const rising = sign > 0 ? [near, end] : [end, near];
    const low = Float64Array.from(rising, ([from]) => from);
    const high = Float64Array.from(rising, ([, to]) => to);
    known.distribution = { low, high, count: Float64Array.of(...(sign > 0 ? [4, 1] : [1, 4])) };
    const { axis } = spreadOf(known, "int64", { kind: "log", zoom: null })!;
    expect([axis.low, axis.high].sort((a, b) => Math.abs(a) - Math.abs(b))).toEqual([
      sign / 2,
      far + sign / 2,
    ]);
  });
});

describe("the histogram of equal bins", () => {
  const scene = drawn(statistics(bins));

  it("keeps NaN and Inf out of the bins", () => {
    const inside = scene.bars.filter(({ slot }) => !slot);
    expect(inside.map(({ likely }) => likely)).toEqual(bins.counts);
    const others = scene.bars.slice(4);
    expect(others.map(({ slot, likely }) => [slot, likely])).toEqual([
      ["nan", 1],
      ["posInf", 3],
    ]);
    for (const bar of others) expect(bar.x).toBeGreaterThan(scene.plot.x + scene.plot.width);
  });

  it("draws heights by count, on request on a log axis", () => {
    const [first, empty, one] = scene.bars;
    expect(first!.height).toBeCloseTo(scene.plot.height);
    expect(empty!.height).toBe(0);
    expect(one!.height).toBeCloseTo(scene.plot.height / 10);
    const log = drawn(statistics(bins), LINEAR, "float32", true);
    expect(log.bars[2]!.height).toBeCloseTo((log.plot.height * Math.log(2)) / Math.log(11));
  });

  it("describes range, count and share of a bar", () => {
    expect(scene.bars[0]!.text).toBe("[−2, −1): 10 values (50.0 %)");
    expect(scene.bars[3]!.text).toBe("[1, 2]: 5 values (25.0 %)");
    expect(scene.bars[4]!.text).toBe("NaN: 1 value (5.0 %)");
    const { x, width } = scene.bars[2]!;
    expect(barAt(scene, x + width / 2)).toBe(2);
    expect(barAt(scene, scene.plot.x + scene.plot.width + 5)).toBeNull();
  });

  it("marks counts as approximate if the borders are inexact", () => {
    const rough = statistics(bins);
    rough.histogram!.exact = false;
    expect(drawn(rough).bars[0]!.text).toBe("[−2, −1): ≈ 10 values");
  });

  it("separates zeros from the bin that contains them", () => {
    const zeros = statistics(bins);
    zeros.statistics!.zero = 1;
    const { bars } = drawn(zeros);
    expect(bars.map(({ likely }) => likely)).toEqual([10, 0, 0, 5, 1, 1, 3]);
    expect(bars[2]!.text).toBe("[0, 1) excluding 0: 0 values");
    expect(bars[4]!.slot).toBe("zero");
  });

  it("shows NaN where no value is finite", () => {
    const nothing = drawn(statistics({ size: 4, nan: 4, low: null, high: null }));
    expect(nothing.bars.map(({ slot, likely }) => [slot, likely])).toEqual([["nan", 4]]);
  });
});

describe("the histogram of a distribution", () => {
  it.each([1, 2, 3, 4, 5])("counts values exactly on every scale (seed %i)", (seed) => {
    const next = random(seed);
    const values = Array.from({ length: 400 }, () => (next(2001) - 1000) / 10 ** next(5));
    const known = knownOf(values);
    for (const kind of ["linear", "log", "symlog"] as const) {
      const { bars, slots, apart } = spreadOf(known, "float32", { kind, zoom: null })!;
      const rest = apart ? values.filter((value) => value !== 0) : values;
      for (const { from, to, closed, least, most } of bars) {
        const truth = rest.filter((value) =>
          closed ? value >= from && value <= to : value >= from && value < to,
        ).length;
        expect([least, most]).toEqual([truth, truth]);
      }
      const inBars = bars.reduce((sum, { least }) => sum + least, 0);
      const inSlots = slots.reduce((sum, { count }) => sum + count, 0);
      expect(inBars + inSlots).toBe(values.length);
    }
  });

  it("gives bounds of a count if a border cuts a bin", () => {
    const known = statistics({ low: 0.5, high: 64.5, size: 50 });
    known.distribution = {
      low: Float64Array.of(0.5, 10.2),
      high: Float64Array.of(0.9, 11.8),
      count: Float64Array.of(10, 40),
    };
    const texts = drawn(known).bars.map(({ text }) => text);
    expect(texts[0]).toBe("[0.5, 1.5): 10 values (20.0 %)");
    expect(texts[10]).toBe("[10.5, 11.5): ≈ 25 values (between 0 and 40)");
  });

  it("gives each code of a narrow type a bar of its own, with the end codes marked", () => {
    const known = knownOf([-128, -128, 0, 0, 0, 3, 127]);
    known.limits = [-128, 127];
    known.statistics!.atLowest = 2;
    known.statistics!.atHighest = 1;
    const spread = spreadOf(known, "int8", LINEAR)!;
    expect(spread.bars.map(({ from, to, least }) => [from, to, least])).toEqual([
      [-128, -128, 2],
      [3, 3, 1],
      [127, 127, 1],
    ]);
    expect(spread.slots).toEqual([{ name: "zero", count: 3 }]);
    const scene = spreadScene(spread, 7, 300, 150, false);
    expect(scene.limits.map(({ text }) => text)).toEqual([
      "2 saturated (−128)",
      "1 saturated (127)",
    ]);
    expect(scene.limits.map(({ loud }) => loud)).toEqual([true, true]);
    expect(scene.bars.map(({ text }) => text)[3]).toBe("zero: 3 values (42.9 %)");
    expect(scene.bars[0]!.x).toBeGreaterThanOrEqual(scene.plot.x - 1e-9);
  });

  it("gives inner bars the same number of integers", () => {
    const values = Array.from({ length: 300 }, (_, k) => k - 150);
    const { bars } = spreadOf(knownOf(values), "int16", LINEAR)!;
    const counts = new Set(bars.slice(1, -1).map(({ from, to }) => to - from));
    expect([...counts]).toEqual([5]);
    expect(bars.every(({ from }) => !Number.isInteger(from))).toBe(true);
  });

  it("narrows to a range", () => {
    const values = Array.from({ length: 1000 }, (_, k) => k / 1000);
    const { bars, axis } = spreadOf(knownOf(values), "float32", {
      kind: "linear",
      zoom: [0.2, 0.3],
    })!;
    expect([axis.low, axis.high]).toEqual([0.2, 0.3]);
    expect(bars.reduce((sum, { least }) => sum + least, 0)).toBe(101);
  });

  it("draws limits of the dtype only near values", () => {
    const far = knownOf([1, 2]);
    far.limits = [-65504, 65504];
    expect(spreadOf(far, "float16", LINEAR)!.limits).toEqual([]);
    const near = knownOf([1, 40000]);
    near.limits = [-65504, 65504];
    const { limits, axis } = spreadOf(near, "float16", LINEAR)!;
    expect(limits.map(({ value }) => value)).toEqual([65504]);
    expect(drawn(near, LINEAR, "float16").limits.map(({ loud }) => loud)).toEqual([false]);
    expect(axis.high).toBe(65504);
  });
});

describe("an axis of values", () => {
  it.each(["linear", "log", "symlog"] as const)("maps shares to values and back (%s)", (kind) => {
    const axis = new ValueAxis(kind, kind === "log" ? 1e-7 : -30, 4000);
    for (const share of [0, 0.1, 0.4, 0.77, 1]) {
      expect(axis.share(axis.value(share))).toBeCloseTo(share);
    }
    const edges = axis.edges(64);
    expect([edges[0], edges.at(-1)]).toEqual([axis.low, axis.high]);
    expect(edges.every((edge, k) => k === 0 || edge > edges[k - 1]!)).toBe(true);
  });

  it("is negative where all values are", () => {
    const axis = new ValueAxis("log", -100, -0.01);
    expect(axis.share(-1)).toBeCloseTo(0.5);
    expect(axis.ticks(5).map(({ value }) => value)).toContain(-1);
  });

  it("spans all of float64", () => {
    const axis = new ValueAxis("linear", -1.7e308, 1.7e308);
    expect(axis.share(0)).toBeCloseTo(0.5);
    expect(axis.edges(4)[2]).toBe(0);
  });

  it("rounds the ends of a brush to short numbers", () => {
    const axis = new ValueAxis("linear", 0, 300);
    expect(String(tidy(axis, 0.333333, 1 / 300)).length).toBeLessThanOrEqual(5);
    expect(tidy(axis, 1, 1 / 300)).toBe(300);
  });
});

describe("the health of a tensor", () => {
  it("never rounds a share to zero or to one", () => {
    expect([share(0, 5), share(1, 5), share(5, 5)]).toEqual(["", " (20.0 %)", " (100.0 %)"]);
    expect([share(1, 1e6), share(999_999, 1e6)]).toEqual([" (< 0.1 %)", " (> 99.9 %)"]);
  });
});
