import { describe, expect, it } from "vitest";
import type { Distribution } from "../../src/shared/client/tensor_questions.ts";
import { rebinned, withoutZeros } from "../../src/tensor/distribution/spread.ts";
import { random } from "../timeline/fixture.ts";

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 1);

/** Numbers from 0 to 1. */
function uniform(seed: number): () => number {
  const next = random(seed);
  return () => next(2 ** 30) / 2 ** 30;
}

interface Made {
  values: number[];
  distribution: Distribution;
}

/** Values and their bins: some hold one value, some a range, with gaps between, as those of floats have. */
function made(seed: number): Made {
  const draw = uniform(seed);
  const scale = 10 ** Math.floor(draw() * 40 - 20);
  const borders = [...new Set(Array.from({ length: 40 }, () => (draw() - 0.5) * scale))];
  if (seed % 3 === 0) borders.push(0);
  borders.sort((a, b) => a - b);
  const [low, high, count, values]: number[][] = [[], [], [], []];
  for (let k = 0; k + 1 < borders.length; k += 1) {
    const from = borders[k]!;
    const next = borders[k + 1]!;
    const kind = draw();
    if (kind < 0.3) continue;
    const to = kind < 0.5 ? from : from + (next - from) * 0.999;
    if (!(to < next)) continue;
    const many = Math.floor(draw() * 20);
    for (let i = 0; i < many; i += 1) {
      const value = draw() < 0.2 ? from : draw() < 0.2 ? to : from + (to - from) * draw();
      values!.push(Math.min(to, value));
    }
    low!.push(from);
    high!.push(to);
    count!.push(many);
  }
  const [lows, highs, counts] = [low, high, count].map((each) => Float64Array.from(each!));
  return { values: values!, distribution: { low: lows!, high: highs!, count: counts! } };
}

function edgesOf(seed: number, { low, high }: Distribution): number[] {
  const draw = uniform(seed + 1000);
  const [from, to] = [low[0] ?? 0, high.at(-1) ?? 0];
  const own = Array.from({ length: 12 }, () => from + (to - from) * (draw() * 1.4 - 0.2));
  const shared = [low[3] ?? 0, high[5] ?? 0];
  return [...new Set([...own, ...shared])].sort((a, b) => a - b);
}

describe("re-binning", () => {
  it.each(SEEDS)("bounds the true counts, and is exact where no bin is cut (seed %i)", (seed) => {
    const { values, distribution } = made(seed);
    const edges = edgesOf(seed, distribution);
    const bars = rebinned(distribution, edges);
    const last = edges.length - 2;
    const inside = (value: number, k: number) =>
      value >= edges[k]! && (k === last ? value <= edges[k + 1]! : value < edges[k + 1]!);
    bars.forEach((bar, k) => {
      const truth = values.filter((value) => inside(value, k)).length;
      expect(bar.least).toBeLessThanOrEqual(truth);
      expect(bar.most).toBeGreaterThanOrEqual(truth);
      expect(bar.likely).toBeGreaterThanOrEqual(bar.least);
      expect(bar.likely).toBeLessThanOrEqual(bar.most + 1e-9);
      let [least, most] = [0, 0];
      distribution.count.forEach((count, bin) => {
        const [from, to] = [distribution.low[bin]!, distribution.high[bin]!];
        if (inside(from, k) && inside(to, k)) least += count;
        const touches = from <= edges[k + 1]! && to >= edges[k]!;
        const beyond = k !== last && from === edges[k + 1]!;
        if (touches && !beyond) most += count;
      });
      expect([bar.least, bar.most]).toEqual([least, most]);
    });
  });

  it.each(SEEDS)("loses no value between the ends (seed %i)", (seed) => {
    const { values, distribution } = made(seed);
    if (!values.length) return;
    const [from, to] = [distribution.low[0]!, distribution.high.at(-1)!];
    const edges = Array.from({ length: 11 }, (_, k) => from + ((to - from) * k) / 10);
    edges[10] = to;
    const ascending = edges.every((edge, k) => k === 0 || edge > edges[k - 1]!);
    if (!ascending) return;
    const sum = rebinned(distribution, edges).reduce((all, { likely }) => all + likely, 0);
    expect(sum).toBeCloseTo(values.length, 6);
  });

  it("counts a single value exactly, closed at the last edge", () => {
    const one = { low: Float64Array.of(2), high: Float64Array.of(2), count: Float64Array.of(7) };
    expect(rebinned(one, [1, 2])[0]).toEqual({ least: 7, most: 7, likely: 7 });
    expect(rebinned(one, [2, 2])[0]).toEqual({ least: 7, most: 7, likely: 7 });
    expect(rebinned(one, [1, 2, 3]).map(({ least }) => least)).toEqual([0, 7]);
  });

  it("splits the widest bins of float64", () => {
    const wide = {
      low: Float64Array.of(-1.7e308),
      high: Float64Array.of(1.7e308),
      count: Float64Array.of(10),
    };
    const [left, right] = rebinned(wide, [-1.7e308, 0, 1.7e308]);
    expect([left!.likely, right!.likely]).toEqual([5, 5]);
  });

  it("counts the narrowest bins of float64", () => {
    const least = Number.MIN_VALUE;
    const narrow = {
      low: Float64Array.of(3 * least),
      high: Float64Array.of(4 * least),
      count: Float64Array.of(2),
    };
    const bars = rebinned(narrow, [3 * least, 4 * least, 5 * least]);
    expect(bars.map(({ likely }) => likely)).toEqual([2, 0]);
  });
});

describe("the distribution without zeros", () => {
  it("joins the rest of the bins around zero", () => {
    const mixed = {
      low: Float64Array.of(-3, -1e-40, 0, 2),
      high: Float64Array.of(-2, -0, 1e-40, 3),
      count: Float64Array.of(5, 4, 6, 1),
    };
    const { low, high, count } = withoutZeros(mixed, 7);
    expect([...low]).toEqual([-3, -1e-40, 2]);
    expect([...high]).toEqual([-2, 1e-40, 3]);
    expect([...count]).toEqual([5, 3, 1]);
    expect([...withoutZeros(mixed, 10).count]).toEqual([5, 1]);
    expect(withoutZeros(mixed, 0)).toBe(mixed);
  });
});
