import { describe, expect, it } from "vitest";
import { picture, sourceOf, spansOf } from "../../src/page/stored_pictures.ts";
import { AXIS_KINDS, ValueAxis } from "../../src/shared/drawing/value_axis.ts";
import { aboutText, shortText } from "../../src/shared/number_text.ts";
import { outward } from "../../src/tensor/distribution/statistics.ts";
import { Channels, channelSigns } from "../../src/tensor/picture/channels.ts";
import { legendTicks } from "../../src/tensor/picture/color_legend.ts";
import {
  ColorScale,
  colorScale,
  OUTSIDE,
  rgb,
  table,
} from "../../src/tensor/picture/color_scale.ts";
import { colorCells } from "../../src/tensor/picture/plane_painter.ts";
import { PlaneTiles } from "../../src/tensor/picture/tiles.ts";

const MOST = Number.MAX_VALUE;
const LEAST = Number.MIN_VALUE;

/** A tile of float64 of one row, a value a cell. */
function tileOf(values: number[]) {
  const mean = Float64Array.from(values);
  const shape = { row: 0, col: 0, rows: 1, cols: mean.length, rowStep: 1, colStep: 1 };
  const flags = new Uint8Array(mean.length);
  const plane = { planeRows: 1, planeCols: mean.length, exact: true };
  return { ...shape, ...plane, minimum: mean, maximum: mean, mean, flags };
}

describe("values that float32 cannot represent", () => {
  const pixel = (values: number[], scale: ColorScale) => {
    const pixels = colorCells(tileOf(values), { scale, cells: "mean" }, 20);
    return values.map((_, cell) => [...pixels.subarray(4 * cell, 4 * cell + 3)]);
  };

  it.each([1e-320, 1e-300, 1e60, 1e308])("use the color scale of their plane, %d", (size) => {
    const values = [-size, 0, size / 2, size];
    const known = { statistics: null, tile: tileOf(values) };
    const scale = colorScale(known, { scale: "linear", map: "auto", range: "plane" })!;
    expect([scale.low, scale.high]).toEqual([-size, size]);
    const colors = table("diverging");
    const entry = (at: number) => [...colors.subarray(3 * at, 3 * at + 3)];
    expect(pixel(values, scale)).toEqual([0, 128, 191, 255].map(entry));
    expect(legendTicks(scale, 200).map(({ text }) => text)).toContain(aboutText(size));
  });

  it.each([1e-320, 1e-300, 1e300])("respect a range from %d to its double", (low) => {
    const scale = new ColorScale(low, 2 * low, "sequential", "linear");
    const [under, , , over] = pixel([low / 2, low, 2 * low, 3 * low], scale);
    expect([under, over]).toEqual([[...rgb(OUTSIDE.under)], [...rgb(OUTSIDE.over)]]);
    const inside = pixel([low, 2 * low], scale);
    const colors = table("sequential");
    expect(inside).toEqual([[...colors.subarray(0, 3)], [...colors.subarray(765)]]);
  });

  it("are outside a range even if float32 rounds them to its ends", () => {
    const scale = new ColorScale(1, 1 + 1e-9, "sequential", "linear");
    const [under, , over] = pixel([1 - 1e-10, 1, 1 + 2e-9], scale);
    expect([under, over]).toEqual([[...rgb(OUTSIDE.under)], [...rgb(OUTSIDE.over)]]);
  });

  it("do not mark a channel as dead or non-finite", () => {
    const found = new Channels(0, 3);
    const {
      planeRows,
      planeCols,
      exact: _,
      row: __,
      col: ___,
      ...tile
    } = tileOf([0, 1e-320, MOST]);
    found.add({ ...tile, planeRows, planeCols, axis: 0, first: 0, count: 3, length: 3, cols: 1 });
    const all = [0, 1, 2].map((index) => found.get(index)!);
    expect(all.map(({ high }) => high)).toEqual([0, 1e-320, MOST]);
    expect(all.map(channelSigns)).toEqual([["dead"], [], []]);
  });

  it("take more bytes in kept tiles", () => {
    const [wide, narrow] = [new PlaneTiles(), new PlaneTiles()];
    const tile = tileOf([1, 2]);
    const mean = Float32Array.of(1, 2);
    wide.add("a", tile);
    narrow.add("a", { ...tile, mean, minimum: mean, maximum: mean });
    expect([wide.bytes, narrow.bytes]).toEqual([2 * 13, 2 * 9]);
  });
});

describe("an axis", () => {
  const ends = [LEAST, 1e-310, 1, 1e300, MOST].flatMap((end) => [
    [0, end],
    [-end, end],
    [-end, 0],
  ]);
  it.each(AXIS_KINDS.flatMap((kind) => ends.map(([low, high]) => [kind, low!, high!] as const)))(
    "%s from %d to %d is monotonic and has finite ticks",
    (kind, low, high) => {
      const used = kind === "log" ? "symlog" : kind;
      const axis = new ValueAxis(used, low, high);
      expect(axis.single).toBe(false);
      expect([axis.share(low), axis.share(high)]).toEqual([0, 1]);
      const shares = [0, 0.25, 0.5, 0.75, 1].map((share) => axis.share(axis.value(share)));
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
      for (const { value, text } of [...axis.ticks(5), ...powersOf(low, high)]) {
        expect(Number.isFinite(value)).toBe(true);
        expect(text).not.toMatch(/Inf|NaN/);
      }
    },
  );

  const powersOf = (low: number, high: number) =>
    new ColorScale(low, high, "diverging", "symlog").ticks(5);

  it("is logarithmic down to the smallest number", () => {
    const known = { statistics: null, tile: tileOf([0, 1e-320]) };
    const scale = colorScale(known, { scale: "log", map: "auto", range: "plane" })!;
    expect(scale.kind).toBe("log");
    expect(scale.low).toBe(LEAST);
    expect([scale.share(LEAST), scale.share(1e-320)]).toEqual([0, 1]);
  });
});

it("writes the largest and the smallest numbers, and keeps their bounds finite", () => {
  expect([shortText(MOST), shortText(-MOST)]).toEqual(["1.798e308", "−1.798e308"]);
  expect(aboutText(MOST)).toBe("≈ 1.798e308");
  expect(shortText(LEAST)).toBe("4.941e−324");
  for (const value of [MOST, -MOST, LEAST, 1e-320, 1.2345678e300]) {
    for (const side of [1, -1] as const) {
      const bound = Number(outward(value, side));
      expect(Number.isFinite(bound)).toBe(true);
      expect(side > 0 ? bound >= value : bound <= value).toBe(true);
    }
  }
});

it("leaves the mean unknown if the sum overflows float64", () => {
  const values = [MOST, MOST, MOST, MOST, 1e308, 1.5e308, -1e308, -1.5e308];
  const place = { first: 0, down: Float64Array.of(0), across: Float64Array.from(values.keys()) };
  const plane = { shape: [1, 8], axes: [0, 1], index: [0, 0] } as const;
  const spans = spansOf(plane, [0, 0, 1, 8], { rows: 1, cols: 2 });
  const cells = picture(sourceOf({ value: (at) => values[at]!, wide: true }), place, spans);
  expect([...cells.mean]).toEqual([Number.NaN, Number.NaN]);
  expect([...cells.maximum]).toEqual([MOST, 1.5e308]);
});
