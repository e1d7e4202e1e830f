import { describe, expect, it } from "vitest";
import { share, specialCounts } from "../src/tensor/header.ts";
import { barAt, histogramScene } from "../src/tensor/histogram_scene.ts";
import { statistics } from "./tensor_answer.ts";

const bins = { counts: [10, 0, 1, 5], edges: [-2, -1, 0, 1, 2], size: 20, nan: 1, posInf: 3 };

describe("the histogram", () => {
  const scene = histogramScene(statistics(bins), 300, 130, false)!;

  it("keeps NaN and Inf out of the bins", () => {
    expect(scene.bars.slice(0, 4).map(({ count }) => count)).toEqual(bins.counts);
    const others = scene.bars.slice(4);
    expect(others.map(({ special, count }) => [special, count])).toEqual([
      ["nan", 1],
      ["posInf", 3],
    ]);
    for (const bar of others) expect(bar.x).toBeGreaterThan(scene.plot.x + scene.plot.width);
  });

  it("draws heights by count, on a log axis if asked", () => {
    const [first, empty, one] = scene.bars;
    expect(first!.height).toBeCloseTo(scene.plot.height);
    expect(empty!.height).toBe(0);
    expect(one!.height).toBeCloseTo(scene.plot.height / 10);
    const log = histogramScene(statistics(bins), 300, 130, true)!;
    expect(log.bars[2]!.height).toBeCloseTo((log.plot.height * Math.log(2)) / Math.log(11));
  });

  it("says range, count and share of a bar", () => {
    expect(scene.bars[0]!.text).toBe("[−2, −1): 10 values (50.0 %)");
    expect(scene.bars[3]!.text).toBe("[1, 2]: 5 values (25.0 %)");
    expect(scene.bars[4]!.text).toBe("NaN: 1 value (5.0 %)");
    const { x, width } = scene.bars[2]!;
    expect(barAt(scene, x + width / 2)).toBe(2);
    expect(barAt(scene, 299)).toBeNull();
  });

  it("marks zero inside the range only", () => {
    expect(scene.zero).toBeCloseTo(scene.plot.x + scene.plot.width / 2);
    const positive = statistics({ counts: [1, 2], edges: [1, 2, 3] });
    expect(histogramScene(positive, 300, 130, false)!.zero).toBeNull();
  });

  it("shows NaN where no value is finite", () => {
    const nothing = histogramScene(statistics({ size: 4, nan: 4 }), 300, 130, false)!;
    expect(nothing.bars.map(({ special, count }) => [special, count])).toEqual([["nan", 4]]);
  });
});

describe("the health of a tensor", () => {
  it("names first what is there", () => {
    const { statistics: found } = statistics({ posInf: 59, size: 8192 });
    expect(specialCounts(found!)).toEqual(["59 +Inf", "0 NaN", "0 −Inf"]);
  });

  it("never rounds a share to nothing or to all", () => {
    expect([share(0, 5), share(1, 5), share(5, 5)]).toEqual(["", " (20.0 %)", " (100.0 %)"]);
    expect([share(1, 1e6), share(999_999, 1e6)]).toEqual([" (< 0.1 %)", " (> 99.9 %)"]);
  });
});
