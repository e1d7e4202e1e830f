import { describe, expect, it } from "vitest";
import { shortName } from "../../src/shared/short_name.ts";

describe("a name with a sign or an ellipsis", () => {
  it.each([
    ["✕ residual block", 12, "✕ residual…"],
    ["✕ #72 cast", 8, "✕ #72 c…"],
    ["#38 conv2d + add + … + relu", 25, "#38 conv2d + … + relu"],
    ["✕ residual block × 2", 16, "✕ residual…× 2"],
  ])("keeps the sign with the first word, and one ellipsis: %s", (name, room, short) => {
    expect(shortName(name, room)).toBe(short);
  });
});
