import { describe, expect, it } from "vitest";
import * as tokens from "../../../tvmdbg_widgets/figures/tokens.json";
import { channels, inkOn, luminance, ramp } from "../../src/shared/drawing/theme.ts";

const contrast = (a: string, b: string) => {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
};

describe("colors", () => {
  it("are parsed from hex and rgb notation", () => {
    expect(channels("#fff")).toEqual([255, 255, 255]);
    expect(channels("#0a0B0c")).toEqual([10, 11, 12]);
    expect(channels("rgb(1, 2, 3)")).toEqual([1, 2, 3]);
    expect(channels("rgba(1, 2, 3, 0.5)")).toEqual([1, 2, 3]);
  });

  it("have the luminance that WCAG 2 gives them", () => {
    expect(luminance("#000000")).toBe(0);
    expect(luminance("#ffffff")).toBeCloseTo(1, 10);
    expect(luminance("#777777")).toBeCloseTo(0.18447, 4);
    expect(contrast("#ffffff", "#767676")).toBeCloseTo(4.54, 2);
  });

  it("are interpolated between stops and clamped at the ends", () => {
    const stops = ["#000000", "#ffffff"];
    expect([-1, 0, 0.5, 1, 2].map((share) => ramp(stops, share))).toEqual([
      "rgb(0, 0, 0)",
      "rgb(0, 0, 0)",
      "rgb(128, 128, 128)",
      "rgb(255, 255, 255)",
      "rgb(255, 255, 255)",
    ]);
  });
});

describe("ink", () => {
  it("has a contrast of at least 4.5 : 1 on every fill", () => {
    for (const scheme of ["light", "dark"] as const) {
      const heat = Array.from({ length: 21 }, (_, i) => ramp(tokens.heat[scheme], i / 20));
      for (const fill of [...Object.values(tokens.opKinds[scheme]), ...heat]) {
        expect(contrast(inkOn(fill), fill), fill).toBeGreaterThanOrEqual(4.5);
      }
    }
    for (let gray = 0; gray < 256; gray++) {
      const fill = `rgb(${gray}, ${gray}, ${gray})`;
      expect(contrast(inkOn(fill), fill)).toBeGreaterThanOrEqual(4.5);
    }
  });
});
