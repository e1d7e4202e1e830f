import { describe, expect, it } from "vitest";
import { wrapParts } from "../../src/tensor/tensor_figure.ts";
import { HALF_EM } from "../engine/widths.ts";

const TEXT = "rows: axis 6 (40), columns: axis 7 (30); axis 0 at 0 of 2; axis 1 at 0 of 3";

describe("wrapParts", () => {
  it.each([90, 120, 180, 250, 330, 420, 500])("breaks at semicolons or evenly (%i px)", (room) => {
    const lines = wrapParts(TEXT, room, HALF_EM);
    expect(Math.max(...lines.map((line) => HALF_EM.width(line, 11)))).toBeLessThanOrEqual(room);
    if (lines.length < 4) expect(lines.join(" ")).toBe(TEXT);
    if (room >= 250) {
      for (const line of lines.slice(0, -1)) expect(line.endsWith(";")).toBe(true);
    }
  });
});
