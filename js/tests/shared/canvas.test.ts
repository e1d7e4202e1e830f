import { describe, expect, it } from "vitest";
import { TextMeasure } from "../../src/shared/drawing/canvas.ts";
import { nodeTitle } from "../../src/shared/format.ts";
import { shortName } from "../../src/shared/short_name.ts";

/** Every letter is one px wide. */
const measure = new TextMeasure({
  font: "",
  measureText: (text: string) => ({ width: Array.from(text).length }),
} as unknown as CanvasRenderingContext2D);

describe("a text that does not fit", () => {
  it.each([
    ["conv2d + add + add + relu", 25, "conv2d + add + add + relu"],
    ["conv2d + add + add + add + relu", 25, "conv2d + add + … + relu"],
    ["conv2d + add + add + relu", 18, "conv2d + … + relu"],
    ["conv2d + add + add + relu", 12, "conv2d + …"],
    ["conv2d + add + add + relu", 9, "conv2d…"],
    ["conv2d + add + add + relu", 5, "conv…"],
    ["conv2d + add + add + relu", 3, ""],
    ["contrib_conv2d_NCHWc + add", 24, "contrib_conv2d_NCHWc + …"],
    ["tvmgen_default_fused_nn_conv2d_add_relu_51", 20, "tvmgen…add_relu_51"],
    ["global_avg_pool2d", 9, "…pool2d"],
    ["kernel_3", 6, "kerne…"],
    ["reshape (zero-copy)", 12, "reshape…"],
    ["inception block × 4", 15, "inception…× 4"],
    ["#30 conv2d + add", 15, "#30 conv2d + …"],
    ["#30 conv2d + add", 13, "#30 conv2d…"],
    ["#30:1 conv2d + add", 7, "#30:1"],
    ["#30 conv2d + add", 2, ""],
    ["x".repeat(5000), 10, `${"x".repeat(9)}…`],
    ["𝒳𝒳𝒳𝒳𝒳𝒳", 5, "𝒳𝒳𝒳𝒳…"],
    [" _ ", 2, ""],
  ])("%s in %i is %s", (text, room, shown) => {
    expect(measure.fit(text, room)).toBe(shown);
    expect(shortName(text, room)).toBe(shown);
  });

  it("keeps the id of a fused operator, and both of its ends", () => {
    const name = nodeTitle("conv2d + add + add + relu", 38);
    for (let room = 8; room < name.length; room++) {
      expect(shortName(name, room)).toMatch(/^#38 c/);
      if (room > 20) expect(shortName(name, room)).toMatch(/relu$/);
    }
  });

  it("fits the width and keeps whole words after a leading ellipsis", () => {
    const words = ["ab", "conv2d", "+", "relu_51", "(x y)", "×", "3", "a.b/c", "…", "#7"];
    for (let seed = 1; seed < 2000; seed++) {
      const text = Array.from(
        { length: 1 + (seed % 6) },
        (_, i) => words[(seed * (i + 3)) % 10],
      ).join(seed % 3 ? " " : "_");
      for (const room of [0, 2, 5, 9, 14, 20]) {
        const shown = measure.fit(text, room);
        expect(measure.width(shown)).toBeLessThanOrEqual(room);
        if (shown.startsWith("…") && !text.startsWith("…")) {
          const tail = shown.slice(1);
          expect(text.endsWith(tail)).toBe(true);
          if (tail)
            expect(text.at(-tail.length - 1), `${text} ${room} ${shown}`).toMatch(/[\s_./:+,·×|)]/);
        }
      }
    }
  });
});
