import { expect, it } from "vitest";
import { TextWidths } from "../../src/shared/drawing/text_widths.ts";

const widths = new TextWidths();
const FAMILY = "👩\u200d👩\u200d👧\u200d👦";

it.each(["🇩🇪", FAMILY, "e\u0301", "क\u094dष\u093f", "\u1100\u1161\u11a8"])(
  "cuts %s only between grapheme clusters",
  (letter) => {
    const parts = [...widths.clusters(letter.repeat(9))];
    expect(parts.join("")).toBe(letter.repeat(9));
    const heads = parts.map((_, at) => parts.slice(0, at).join(""));
    for (let room = 8; room < 200; room += 7) {
      expect([...heads, letter.repeat(9)]).toContain(
        widths.fit(letter.repeat(9), room, 11).replace("…", ""),
      );
    }
  },
);

it("knows what belongs to one letter", () => {
  expect([...widths.clusters(`🇩🇪${FAMILY}e\u0301`)]).toEqual(["🇩🇪", FAMILY, "e\u0301"]);
  expect([...widths.clusters("שכ")]).toEqual(["ש", "כ"]);
  expect(widths.width("e\u0301か\u3099", 10)).toBeCloseTo(6.2 + 11 + 11);
});

it("breaks lines at spaces, then at marks, then anywhere", () => {
  expect(widths.wrap("conv2d add relu", 60, 11)).toEqual(["conv2d", "add relu"]);
  expect(widths.wrap("fused_conv2d", 50, 11)).toEqual(["fused_", "conv2d"]);
  expect(widths.wrap("aaaaaaaaaaaaaaa", 40, 10, 2)).toEqual(["aaaaaa", "aaaa…"]);
});
