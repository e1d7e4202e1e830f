import { describe, expect, it } from "vitest";
import { luminance } from "../../src/shared/drawing/theme.ts";
import { indexTicks, niceTicks, powerTicks } from "../../src/shared/drawing/value_axis.ts";
import { aboutText, shortText } from "../../src/shared/number_text.ts";
import { legendTicks } from "../../src/tensor/picture/color_legend.ts";
import {
  ColorScale,
  colorScale,
  rgb,
  SPECIAL,
  STOPS,
  sameScale,
  specialOf,
  table,
} from "../../src/tensor/picture/color_scale.ts";
import { cellSpecial, colorCells } from "../../src/tensor/picture/plane_painter.ts";
import { profileAxis } from "../../src/tensor/picture/profile_scene.ts";
import { known } from "./answer.ts";

const lights = (map: "sequential" | "diverging") =>
  Array.from({ length: 256 }, (_, i) =>
    luminance(`rgb(${[...table(map).subarray(3 * i, 3 * i + 3)].join(",")})`),
  );

/** Distance in CIE Lab of two colors as people without red cones (protan) or green cones (deutan) see them. */
function distance(a: number[], b: number[], see: (linear: number[]) => number[]): number {
  const linear = (value: number) =>
    value <= 10.31 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const lab = (color: number[]) => {
    const [r, g, b] = see(color.map(linear)).map((v) => Math.min(1, Math.max(0, v)));
    const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
    const x = f((0.4124 * r! + 0.3576 * g! + 0.1805 * b!) / 0.9505);
    const y = f(0.2126 * r! + 0.7152 * g! + 0.0722 * b!);
    const z = f((0.0193 * r! + 0.1192 * g! + 0.9505 * b!) / 1.089);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  };
  const [p, q] = [lab(a), lab(b)];
  return Math.hypot(...p.map((value, i) => value - q[i]!));
}

// Viénot, Brettel and Mollon (1999), on linear RGB.
const VISIONS: Record<string, (color: number[]) => number[]> = {
  normal: (color) => color,
  protan: ([r, g, b]) => [
    0.1124 * r! + 0.8876 * g!,
    0.1124 * r! + 0.8876 * g!,
    0.004 * (r! - g!) + b!,
  ],
  deutan: ([r, g, b]) => [
    0.2927 * r! + 0.7073 * g!,
    0.2927 * r! + 0.7073 * g!,
    -0.0223 * (r! - g!) + b!,
  ],
};

describe("the ends of a scale", () => {
  // Read as float32 the first is below, the second above the number in the statistics.
  it.each([-4372227689818005000, -7.5e-12, 0.1])(
    "include their own value %d, rounded to float32",
    (end) => {
      const [cell] = new Float32Array([end]);
      for (const scale of [
        new ColorScale(end, 5, "sequential", "linear"),
        new ColorScale(-5e18, end, "sequential", "linear"),
        new ColorScale(end, end, "sequential", "linear"),
      ]) {
        expect([scale.side(cell!), scale.side(end)]).toEqual(["on", "on"]);
      }
      const one = new ColorScale(end, end, "sequential", "linear");
      expect([one.side(cell! - Math.abs(end)), one.side(cell! + Math.abs(end))]).toEqual([
        "under",
        "over",
      ]);
    },
  );
});

describe("the color tables", () => {
  it("increase in lightness for values of one sign", () => {
    const light = lights("sequential");
    for (let i = 1; i < 256; i += 1) expect(light[i]).toBeGreaterThan(light[i - 1]! - 1e-3);
  });

  it("are lightest at zero, and equally dark at both ends, for values of both signs", () => {
    const light = lights("diverging");
    expect(light.indexOf(Math.max(...light))).toBeGreaterThanOrEqual(126);
    expect(light.indexOf(Math.max(...light))).toBeLessThanOrEqual(129);
    expect(Math.abs(light[0]! - light[255]!)).toBeLessThan(0.03);
  });

  it.each(Object.keys(VISIONS))("keep both arms distinguishable in %s vision", (vision) => {
    const stops = STOPS.diverging.map(rgb);
    for (let k = 0; k < 4; k += 1) {
      expect(distance(stops[k]!, stops[8 - k]!, VISIONS[vision]!)).toBeGreaterThan(20);
    }
  });

  it.each(["sequential", "diverging"] as const)("avoid the colors of NaN and Inf (%s)", (map) => {
    for (const special of Object.values(SPECIAL)) {
      for (let i = 0; i < 256; i += 1) {
        const color = [...table(map).subarray(3 * i, 3 * i + 3)];
        expect(distance(color, rgb(special), VISIONS.normal!)).toBeGreaterThan(20);
      }
    }
  });
});

describe("a color scale", () => {
  it("is symmetric about zero for values of both signs, else from least to largest", () => {
    const both = colorScale(known({ low: -1, high: 3 }), choice({}))!;
    expect([both.map, both.low, both.high, both.share(0)]).toEqual(["diverging", -3, 3, 0.5]);
    const one = colorScale(known({ low: 2, high: 3 }), choice({}))!;
    expect([one.map, one.low, one.high]).toEqual(["sequential", 2, 3]);
    const forced = colorScale(known({ low: 2, high: 3 }), choice({ map: "diverging" }))!;
    expect([forced.low, forced.high]).toEqual([-3, 3]);
  });

  it("spans the picture on request", () => {
    const made = known({ low: -10, high: 10, mean: [1, 2, 3, 4] });
    const scale = colorScale(made, choice({ range: "plane" }))!;
    expect([scale.low, scale.high, scale.map]).toEqual([1, 4, "sequential"]);
  });

  it("is null without a finite value", () => {
    const nan = known({
      low: null,
      high: null,
      mean: [Number.NaN, Number.NaN, Number.NaN, Number.NaN],
    });
    expect(colorScale(nan, choice({}))).toBeNull();
  });

  it.each(["linear", "symlog"] as const)("is inverted by value() (%s)", (kind) => {
    const scale = new ColorScale(-50, 2000, "sequential", kind);
    for (const value of [-50, -1, 0, 1e-3, 7, 2000]) {
      expect(scale.value(scale.share(value))).toBeCloseTo(value, 6);
    }
    expect([scale.share(-1e9), scale.share(1e9)]).toEqual([0, 1]);
  });

  it("puts a single value in the middle", () => {
    const scale = new ColorScale(0, 0, "sequential", "symlog");
    expect([scale.share(0), scale.single, scale.ticks(4)]).toEqual([0.5, true, []]);
  });

  it("extends to zero in a profile only if zero is near", () => {
    expect(profileAxis(new ColorScale(0.1, 1, "sequential", "linear")).low).toBe(0);
    expect(profileAxis(new ColorScale(0.9, 1, "sequential", "linear")).low).toBe(0.9);
    expect(profileAxis(new ColorScale(-1, -0.1, "sequential", "linear")).high).toBe(0);
  });
});

describe("cells with NaN or Inf", () => {
  const tile = {
    minimum: Float32Array.of(1, Number.NaN, 0, 2),
    maximum: Float32Array.of(1, Number.NaN, 4, 2),
    mean: Float32Array.of(1, Number.NaN, 2, 2),
    flags: Uint8Array.of(0, 2, 1 | 4, 0),
  };

  it("use a special color if they have no finite value or are too small for a mark", () => {
    expect(cellSpecial(tile, 1, 20)).toBe("posInf");
    expect(cellSpecial(tile, 2, 20)).toBeNull();
    expect(cellSpecial(tile, 2, 2)).toBe("nan");
    expect(specialOf(4)).toBe("negInf");
    const pixels = colorCells(
      tile,
      { scale: new ColorScale(0, 4, "sequential", "linear"), cells: "mean" },
      2,
    );
    expect([...pixels.subarray(4, 8)]).toEqual([...rgb(SPECIAL.posInf), 255]);
    expect([...pixels.subarray(8, 12)]).toEqual([...rgb(SPECIAL.nan), 255]);
    expect([...pixels.subarray(12, 15)]).toEqual([...table("sequential").subarray(384, 387)]);
  });
});

describe("ticks", () => {
  it("are round, inside the range, and exact as written", () => {
    expect(niceTicks(-1.5, 2.06, 4).map(({ text }) => text)).toEqual(["−1", "0", "1", "2"]);
    expect(niceTicks(0, 0.3, 3).map(({ value }) => value)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(niceTicks(3, 3, 4)).toEqual([]);
    expect(niceTicks(-1.7e308, 1.7e308, 4).length).toBeGreaterThan(1);
    expect(powerTicks(-20, 300, 0.3).map(({ value }) => value)).toEqual([-10, -1, 0, 1, 10, 100]);
    expect(indexTicks(0, 32, 6)).toEqual([0, 10, 20, 30]);
    expect(indexTicks(0, 3, 10)).toEqual([0, 1, 2]);
  });

  it("mark rounded numbers", () => {
    expect(shortText(-0.00012345)).toBe("−1.234e−4");
    expect([aboutText(65376), aboutText(0.1), aboutText(-2)]).toEqual(["65376", "0.1", "−2"]);
    expect(aboutText(0.123456789)).toBe("≈ 0.1235");
  });

  it("do not overlap in the legend", () => {
    for (const [low, high] of [
      [-7, 7],
      [0.00146, 0.732],
      [-1e-9, 1e-9],
      [0, 65376],
      [-88.59685, 88.59685],
    ]) {
      for (const kind of ["linear", "symlog"] as const) {
        const ticks = legendTicks(new ColorScale(low!, high!, "diverging", kind), 200);
        const boxes = ticks.map(({ text, at, align }) => {
          const long = 6.5 * text.length;
          const from = align === "start" ? at : align === "end" ? at - long : at - long / 2;
          return [from, from + long] as const;
        });
        for (let k = 1; k < boxes.length; k += 1) {
          expect(boxes[k]![0]).toBeGreaterThan(boxes[k - 1]![1]);
        }
        expect(ticks.length).toBeGreaterThanOrEqual(2);
      }
    }
  });
});

describe("two scales", () => {
  it("are equal only if each value has the same color", () => {
    const of = (...given: ConstructorParameters<typeof ColorScale>) => new ColorScale(...given);
    const scale = of(-1, 1, "diverging", "linear");
    expect(sameScale(scale, of(-1, 1, "diverging", "linear"))).toBe(true);
    expect(sameScale(null, null)).toBe(true);
    for (const other of [
      null,
      of(-2, 1, "diverging", "linear"),
      of(-1, 2, "diverging", "linear"),
      of(-1, 1, "sequential", "linear"),
      of(-1, 1, "diverging", "symlog"),
      of(-1, 1, "diverging", "linear", [-1, 0.5]),
      of(-1, 1, "diverging", "linear", [-0.5, 1]),
    ]) {
      expect(sameScale(scale, other)).toBe(false);
    }
  });
});

function choice(change: object) {
  return { scale: "linear", map: "auto", range: "tensor", ...change } as const;
}
