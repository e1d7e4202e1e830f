import { describe, expect, it } from "vitest";
import type { RooflineColumns } from "../../src/shared/client/answers.ts";
import { StringColumn } from "../../src/shared/client/columns.ts";
import {
  beside,
  decadeTicks,
  OperatorPoints,
  placeLabels,
  rateText,
  typedRate,
} from "../../src/timeline/charts/roofline_points.ts";

function texts(values: string[]): StringColumn {
  const unique = [...new Set(values)];
  return new StringColumn(
    Int32Array.from(values, (value) => unique.indexOf(value)),
    unique,
  );
}

/** Nodes 0 … 4: two points, a move, one without a formula, one without a time. */
function columns(): RooflineColumns {
  return {
    node: Int32Array.of(0, 1, 2, 3, 4),
    flops: Float64Array.of(1000, 100, 0, Number.NaN, 50),
    bytes: Float64Array.of(100, 200, 400, 80, 10),
    exact: Uint8Array.of(1, 1, 1, 1, 1),
    dtypes: texts(["float32", "int8", "float32", "float32", "float32"]),
    why: texts(["", "", "", "operations unknown: no formula for lrn", ""]),
    info: { convention: "" },
  };
}

const NS = Float64Array.of(10, 40, 20, 30, Number.NaN);

describe("points", () => {
  const points = new OperatorPoints(columns(), NS);

  it("are placed by operations, bytes and time", () => {
    expect([...points.byTime]).toEqual([1, 0]);
    expect([...points.byPlace]).toEqual([1, 0]);
    expect(points.intensity[0]).toBe(10);
    expect(points.rate[0]).toBe(1e11);
    expect(points.moved(1)).toBe(5e9);
    expect(points.highest).toEqual({ flops: 1e11, bytes: 2e10 });
  });

  it("give reasons if they cannot be placed, the slowest first", () => {
    expect(points.missing()).toEqual([
      { why: "operations unknown: no formula for lrn", points: [3], ns: 30 },
      { why: "no arithmetic: 0 operations", points: [2], ns: 20 },
      { why: "no time above zero", points: [4], ns: 0 },
    ]);
  });

  it("are bound by memory or compute only if both ceilings are known", () => {
    expect(points.bound(0, { flops: 1e12, bytes: null })).toBeNull();
    expect(points.bound(0, { flops: 1e12, bytes: 1e10 })).toEqual({ by: "memory", share: 1 });
    expect(points.bound(0, { flops: 2e11, bytes: 1e11 })).toEqual({ by: "compute", share: 0.5 });
    expect(points.bound(2, { flops: 1, bytes: 1 })).toBeNull();
  });

  it("fit inside the axes together with ceilings", () => {
    const { x, y } = points.extent({ flops: 1e13, bytes: 1e10 });
    expect(x.high).toBeGreaterThan(3);
    expect(y.high).toBeGreaterThan(13);
    expect(
      new OperatorPoints({ ...columns(), node: new Int32Array(0) }, NS).extent({
        flops: null,
        bytes: null,
      }),
    ).toEqual({ x: { low: -1, high: 1 }, y: { low: -1, high: 1.2 } });
  });
});

describe("rates", () => {
  it("are written with three digits and a prefix", () => {
    expect(rateText(4.726784e6, "FLOP")).toBe("4.73 MFLOP");
    expect(rateText(999.7, "B/s")).toBe("1 kB/s");
    expect(rateText(0, "FLOP")).toBe("0 FLOP");
    expect(rateText(Number.NaN, "B/s")).toBe("unknown");
  });

  it("are parsed from typed text", () => {
    expect(typedRate("")).toBeNull();
    expect(typedRate("200e9")).toBe(2e11);
    expect(typedRate(" 200 GFLOP/s ")).toBe(2e11);
    expect(typedRate("25 GB/s")).toBe(2.5e10);
    expect(typedRate("1,000")).toBe(1000);
    expect(typedRate("1,250.5 G")).toBe(1.2505e12);
    for (const bad of ["fast", "-3", "0", "1e999", "3 X", "1,5 T", "1.5.2", "G", "."])
      expect(typedRate(bad)).toBeNaN();
    expect(typedRate(rateText(2.5e10, "B/s"))).toBe(2.5e10);
  });
});

describe("ticks and labels", () => {
  it("use powers of ten, plus 2 and 5 on a short axis", () => {
    expect(decadeTicks({ low: -1.2, high: 2.1 }, 5)).toEqual([0.1, 1, 10, 100]);
    expect(decadeTicks({ low: 0, high: 1 }, 6)).toEqual([1, 2, 5, 10]);
    expect(decadeTicks({ low: 0, high: 12 }, 4)).toEqual([1, 1e3, 1e6, 1e9, 1e12]);
  });

  it("never overlap each other or a point", () => {
    const spots = [0, 1, 2, 3].map((i) => ({ x: 100 + 14 * i, y: 60, radius: 8 }));
    const room = { left: 0, top: 0, right: 240, bottom: 120 };
    const found = placeLabels(
      spots.map((spot) => beside(spot, 90)),
      spots,
      room,
    );
    const shown = found.filter((label) => label !== null);
    expect(shown.length).toBeGreaterThan(0);
    for (const [i, a] of shown.entries()) {
      expect(a.x).toBeGreaterThanOrEqual(0);
      expect(a.x + a.width).toBeLessThanOrEqual(240);
      for (const b of shown.slice(i + 1)) {
        const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || Math.abs(a.y - b.y) >= 13;
        expect(apart).toBe(true);
      }
      for (const { x, y, radius } of spots) {
        const inside = x > a.x - radius && x < a.x + a.width + radius;
        expect(inside && Math.abs(a.y - y) < radius + 6).toBe(false);
      }
    }
  });
});
