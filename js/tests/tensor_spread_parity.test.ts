import { describe, expect, it } from "vitest";
import golden from "../../tests/data/tensors/spread.json";
import type { StatisticsAnswer } from "../src/shared/tensor_questions.ts";
import { beyondText } from "../src/tensor/beyond.ts";
import { specialCounts } from "../src/tensor/health_pill.ts";
import { share } from "../src/tensor/share.ts";
import { spreadOf } from "../src/tensor/spread.ts";
import { spreadScene } from "../src/tensor/spread_scene.ts";

type Case = (typeof golden)[number];

function answerOf({
  statistics,
  histogram,
  limits,
  distribution,
  robust,
  linear,
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
    reason: "",
  } as unknown as StatisticsAnswer;
}

describe("the histogram of figures is the live view's", () => {
  it.each(golden)("$why", (each) => {
    const answer = answerOf(each);
    const zoom = each.robust && ([each.robust.low, each.robust.high] as const);
    const found = spreadOf(answer, each.dtype, { kind: "linear", zoom })!;
    expect(beyondText(answer)).toBe(each.beyond);
    const told = each.spread!;
    expect([found.axis.low, found.axis.high]).toEqual([told.low, told.high]);
    expect([found.codes, found.whole, found.apart]).toEqual([told.codes, told.whole, told.apart]);
    expect(found.slots).toEqual(told.slots);
    expect(found.limits).toEqual(told.limits);
    expect(found.bars.map(({ from, to }) => [from, to])).toEqual(
      told.bars.map((bar) => bar.slice(0, 2)),
    );
    found.bars.forEach(({ least, most, likely }, bar) => {
      const own = told.bars[bar]!;
      expect([least, most]).toEqual([own[2], own[3] ?? Infinity]);
      expect(likely).toBeCloseTo(own[4]!, 9);
    });
    const { top } = spreadScene(found, each.statistics.size, 300, 150, false);
    expect(top).toBeCloseTo(told.top, 9);
    const ticks = each.ticks.length ? found.axis.ticks(6).map(({ value }) => value) : [];
    expect(ticks).toEqual(each.ticks);
  });
});

describe("the counts beside a figure are the live view's", () => {
  it.each(golden)("$why", ({ statistics, dtype, health }) => {
    const specials = specialCounts(answerOf({ statistics } as Case).statistics!, dtype);
    expect(health.slice(0, specials.length)).toEqual(specials);
    const { zero, size } = statistics;
    expect(health[specials.length]).toBe(`${zero} zero${share(zero, size)}`);
  });
});
