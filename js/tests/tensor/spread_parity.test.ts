import { describe, expect, it } from "vitest";
import golden from "../../../tests/data/tensors/spread.json";
import type { StatisticsAnswer } from "../../src/shared/client/tensor_questions.ts";
import { specialCounts, valueWords } from "../../src/tensor/descriptions.ts";
import { spreadOf } from "../../src/tensor/distribution/spread.ts";
import { spreadScene } from "../../src/tensor/distribution/spread_scene.ts";
import { beyondText, crowdText } from "../../src/tensor/picture/color_controls.ts";
import { colorScale, nearRange } from "../../src/tensor/picture/color_scale.ts";

type Case = (typeof golden)[number];

function answerOf({
  statistics,
  histogram,
  limits,
  distribution,
  robust,
  linear,
  scale,
  crowd,
}: Case): StatisticsAnswer {
  const columns = distribution && {
    low: Float64Array.from(distribution.low),
    high: Float64Array.from(distribution.high),
    count: Float64Array.from(distribution.count),
  };
  return {
    state: "exact",
    done: statistics.size,
    total: statistics.size,
    statistics,
    histogram,
    limits,
    distribution: columns,
    percentiles: [],
    robust,
    linear,
    scale,
    crowd,
    reason: "",
  } as unknown as StatisticsAnswer;
}

describe.each(["auto", "log", "symlog"] as const)(
  "histograms of figures and of the live view (%s)",
  (choice) => {
    it.each(golden)("$why", (each) => {
      const answer = answerOf(each);
      const colors = { scale: choice, map: "auto", range: "auto" } as const;
      const near = nearRange(answer, colors);
      const kind = colorScale({ statistics: answer, tile: null }, colors)?.kind ?? "linear";
      const zoom = near && ([near.low, near.high] as const);
      const found = spreadOf(answer, each.dtype, { kind, zoom })!;
      const words = [beyondText(answer, colors), crowdText(answer, colors)].join("");
      if (choice === "auto") expect(words).toBe(each.adapted);
      const told = each.spreads[choice]!;
      expect(found.axis.kind).toBe(told.kind);
      expect(found.axis.low).toBeCloseTo(told.low, 9);
      expect(found.axis.high).toBeCloseTo(told.high, 9);
      expect([found.codes, found.whole, found.apart]).toEqual([told.codes, told.whole, told.apart]);
      expect(found.only).toBe(told.only);
      expect(found.slots).toEqual(told.slots);
      expect(found.limits).toEqual(told.limits);
      const near9 = (one: number, other: number) =>
        expect(Math.abs(one - other)).toBeLessThanOrEqual(1e-9 * Math.abs(other));
      expect(found.bars.length).toBe(told.bars.length);
      found.bars.forEach(({ from, to, least, most, likely }, bar) => {
        const own = told.bars[bar]!;
        near9(from, own[0]!);
        near9(to, own[1]!);
        expect([least, most]).toEqual([own[2], own[3] ?? Infinity]);
        expect(likely).toBeCloseTo(own[4]!, 6);
      });
      const { top } = spreadScene(found, each.statistics.size, 300, 150, false);
      expect(top).toBeCloseTo(told.top, 6);
      const ticks = told.ticks.length ? found.axis.ticks(6).map(({ value }) => value) : [];
      expect(ticks.map((value) => value.toPrecision(9))).toEqual(
        told.ticks.map((value) => value.toPrecision(9)),
      );
    });
  },
);

// Recorded when Python had these words too.
describe("counts of figures and of the live view", () => {
  it.each(golden)("$why", (each) => {
    const answer = answerOf(each);
    const { counts } = valueWords(answer, each.dtype)!;
    expect([...specialCounts(answer.statistics!), ...counts.map(({ text }) => text)]).toEqual(
      each.health,
    );
  });
});
