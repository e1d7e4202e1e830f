import { describe, expect, it } from "vitest";
import recorded from "../../../tests/data/numbers/texts.json";
import {
  agree,
  bytes,
  counted,
  duration,
  exactNs,
  integer,
  percent,
  shapeText,
  speed,
  timeShare,
} from "../../src/shared/format.ts";

// tests/make/numbers.py wrote them; Python is held to the same file.
describe("number formats shared with Python", () => {
  const written = {
    duration,
    percent,
    speed,
    bytes,
    integer,
    agree: (asked: Parameters<typeof agree>) => agree(...asked),
    counted: (count: number) => counted(count, "node"),
    nouns: (asked: Parameters<typeof counted>) => counted(...asked),
  };
  it.each(Object.keys(written) as (keyof typeof written)[])("%s", (name) => {
    const texts = recorded[name] as [unknown, string][];
    const write = written[name] as (number: unknown) => string;
    expect(texts.map(([number]) => [number, write(number)])).toEqual(texts);
  });
});

describe("durations", () => {
  it.each([
    [0, "0 ns"],
    [1, "1.000 ns"],
    [0.5, "0.5000 ns"],
    [999.96, "1.000 µs"],
    [2_571_000, "2.571 ms"],
    [43_420_000, "43.42 ms"],
    [999_960_000, "1.000 s"],
    [123_456_000_000, "123.5 s"],
    [-2500, "-2.500 µs"],
    [Number.NaN, "unknown"],
  ])("%d ns", (ns, text) => expect(duration(ns)).toBe(text));

  it("show zero as less than the given unit", () => {
    expect([0, 500, 1000].map((ns) => duration(ns, 1000))).toEqual([
      "< 1 µs",
      "500.0 ns",
      "1.000 µs",
    ]);
    expect(timeShare(0, 0, 1000)).toBe("< 1 µs");
    expect(timeShare(0, 0)).toBe("0 ns · 0 %");
    expect(timeShare(1000, 0.25, 1000)).toBe("1.000 µs · 25.0 %");
  });
});

describe("sizes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB (1,024)"],
    [16_384, "16.0 KiB (16,384)"],
    [3 * 1024 ** 3, "3.0 GiB (3,221,225,472)"],
  ])("%d bytes", (count, text) => expect(bytes(count)).toBe(text));
});

describe("shares", () => {
  it.each([
    [0, "0 %"],
    [1e-9, "< 0.01 %"],
    [0.000114, "0.01 %"],
    [0.0596, "5.96 %"],
    [0.9879, "98.8 %"],
    [1, "100.0 %"],
    [Number.NaN, "unknown"],
    [Infinity, "unknown"],
  ])("%d", (share, text) => expect(percent(share)).toBe(text));
});

describe("counts and shapes", () => {
  it("are exact", () => {
    expect(integer(1_234_567)).toBe("1,234,567");
    expect(exactNs(6_681_980.880_000_001)).toBe("6,681,980.88 ns");
    expect([0, 12_345, -0.001, -1234.5, Number.NaN].map(exactNs)).toEqual([
      "0 ns",
      "12,345 ns",
      "-0.00 ns",
      "-1,234.50 ns",
      "unknown",
    ]);
    expect([[], [10], [1, 64]].map(shapeText)).toEqual(["()", "(10,)", "(1, 64)"]);
  });
});
