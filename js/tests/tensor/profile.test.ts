import { describe, expect, it } from "vitest";
import type { ProfileAnswer } from "../../src/shared/client/tensor_questions.ts";
import {
  cellWords,
  holding,
  indexAtPlace,
  profileScene,
  zoomed,
} from "../../src/tensor/picture/profile_scene.ts";
import { random } from "../timeline/fixture.ts";

function profile(length: number, step = 1): ProfileAnswer {
  const cells = Math.ceil(length / step);
  const next = random(length);
  const mean = Float32Array.from({ length: cells }, () => next(2000) - 1000);
  return {
    axis: 0,
    length,
    step,
    minimum: mean.map((value) => value - next(50)),
    maximum: mean.map((value) => value + next(50)),
    mean,
    flags: new Uint8Array(cells),
  };
}

describe("a profile", () => {
  it.each([
    [5, 1],
    [100, 1],
    [4000, 1],
    [1001, 10],
    [100_000, 25],
  ])("covers %i indices (step %i), each once, in order", (length, step) => {
    const answer = profile(length, step);
    const { bars, plot } = profileScene(answer, { first: 0, length }, "linear", 600, 300);
    expect(bars.length).toBeLessThanOrEqual(600);
    let at = 0;
    for (const bar of bars) {
      expect(bar.from).toBe(at);
      at = bar.to + 1;
      const cells = [Math.floor(bar.from / step), Math.floor(bar.to / step) + 1] as const;
      expect(bar.least).toBe(Math.min(...answer.minimum.subarray(...cells)));
      expect(bar.largest).toBe(Math.max(...answer.maximum.subarray(...cells)));
    }
    expect(at).toBe(length);
    const last = bars.at(-1)!;
    expect(last.x + last.width).toBeCloseTo(plot.x + plot.width);
  });

  it("finds the index below the pointer", () => {
    const answer = profile(100_000, 25);
    const stretch = { first: 5000, length: 50 };
    const scene = profileScene(answer, stretch, "linear", 600, 300);
    const each = scene.plot.width / 50;
    expect(indexAtPlace(scene, stretch, scene.plot.x + 7.5 * each)).toBe(5007);
    expect(indexAtPlace(scene, stretch, scene.plot.x - 1)).toBeNull();
    expect([scene.bars[0]!.from, scene.bars.at(-1)!.to]).toEqual([5000, 5049]);
  });

  it("zooms around an index and shows at least eight", () => {
    const stretch = zoomed({ first: 0, length: 1000 }, 1000, 4, 500);
    expect(stretch.length).toBe(250);
    expect(stretch.first).toBeLessThanOrEqual(500);
    expect(stretch.first + stretch.length).toBeGreaterThan(500);
    expect(zoomed({ first: 3, length: 10 }, 1000, 100, 5).length).toBe(8);
    expect(zoomed(stretch, 1000, 0.01, 500)).toEqual({ first: 0, length: 1000 });
    expect(holding({ first: 10, length: 5 }, 20)).toEqual({ first: 16, length: 5 });
    expect(holding({ first: 10, length: 5 }, 3)).toEqual({ first: 3, length: 5 });
  });

  it("describes a cell", () => {
    const answer = profile(10, 5);
    answer.minimum.set([-1.5, Number.NaN]);
    answer.maximum.set([2, Number.NaN]);
    answer.mean.set([0.25, Number.NaN]);
    answer.flags[1] = 3;
    expect(cellWords(answer, 3, "float32")).toBe("indices 0 to 4: min −1.5, mean 0.25, max 2");
    expect(cellWords(answer, 9, "float32")).toBe("indices 5 to 9: no finite value, some NaN, +Inf");
    answer.mean[0] = Number.NaN;
    expect(cellWords(answer, 3, "float32")).toContain("mean unknown");
  });

  it("keeps one scale of values for all ranges", () => {
    const answer = profile(1000);
    const all = profileScene(answer, { first: 0, length: 1000 }, "linear", 600, 300);
    const part = profileScene(answer, { first: 10, length: 20 }, "linear", 600, 300);
    expect(part.axis!.low).toBe(all.axis!.low);
    const log = profileScene(answer, { first: 0, length: 1000 }, "log", 600, 300);
    expect(log.axis!.kind).toBe("symlog");
  });
});
