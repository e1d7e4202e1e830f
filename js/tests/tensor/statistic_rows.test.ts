import { describe, expect, it } from "vitest";
import type { StatisticsAnswer } from "../../src/shared/client/tensor_questions.ts";
import { statisticRows } from "../../src/tensor/figure_statistics.ts";
import { statistics } from "./answer.ts";

const exact = (value: number) => ({ text: String(value), value });
const NONE = { text: "none", value: null };

function answer(change: object, percentiles: StatisticsAnswer["percentiles"] = []) {
  const known = statistics({ size: 64 });
  Object.assign(known.statistics!, change);
  return { ...known, percentiles };
}

const bounds = (low: number, high: number) =>
  [1, 5, 25, 50, 75, 95, 99].map((percent) => ({ percent, low: exact(low), high: exact(high) }));

describe("the statistics of a figure", () => {
  it("are a single row if all values are equal", () => {
    const same = answer({ minimum: exact(-3), maximum: exact(-3) });
    expect(statisticRows(same, false)).toEqual([["all", "−3", ""]]);
    const one = answer({ size: 1, minimum: exact(2), maximum: exact(2) });
    expect(statisticRows(one, false)).toEqual([["value", "2", ""]]);
  });

  it("locate the minimum, the maximum and the first non-finite values", () => {
    const rows = statisticRows(
      answer({
        ...{ minimum: exact(-1), maximum: exact(4), argmin: [0, 3], argmax: [] },
        ...{ firstNan: [2, 1], firstPosInf: [], firstNegInf: null },
      }),
      false,
    );
    expect(rows[0]).toEqual(["min", "−1", "at [0, 3]"]);
    expect(rows[1]).toEqual(["max", "4", ""]);
    expect(rows.slice(4)).toEqual([
      ["first NaN", "at [2, 1]", ""],
      ["first +Inf", "", ""],
    ]);
  });

  it("give finite bounds of inexact percentiles, rounded outwards", () => {
    const ends = { minimum: exact(-1), maximum: exact(4) };
    const [median, range] = statisticRows(answer(ends, bounds(1.234567, 1.3)), false).slice(4);
    expect(median).toEqual(["median", "(1.2345 … 1.3)", ""]);
    expect(range![0]).toBe("p1 to p99");
    const most = Number.MAX_VALUE;
    expect(statisticRows(answer(ends, bounds(-most, most)), false)[4]![1]).toBe(
      "(−1.7976931348623157e308 … 1.7976931348623157e308)",
    );
  });

  it("are empty for redacted or missing values", () => {
    const redacted = answer({ minimum: NONE, maximum: NONE, argmin: null });
    expect(statisticRows(redacted, true)).toEqual([]);
    expect(statisticRows(redacted, false)[0]).toEqual(["min", "none", ""]);
    expect(statisticRows(answer({ size: 0 }), false)).toEqual([]);
    expect(statisticRows({ ...answer({}), statistics: null }, false)).toEqual([]);
  });
});
