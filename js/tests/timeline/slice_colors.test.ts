import { describe, expect, it } from "vitest";
import type { TimelineColumns } from "../../src/shared/client/timeline_columns.ts";
import { blockFill, heatFill, kindFill, type Theme } from "../../src/shared/drawing/theme.ts";
import type { Change } from "../../src/timeline/data/change.ts";
import { SliceColors } from "../../src/timeline/data/state.ts";

const LIGHT = { dark: false } as Theme;

/** Nodes 0 and 1 are in blocks of unlike kinds, node 2 is in none. */
function columns(colors: TimelineColumns["info"]["colors"]): TimelineColumns {
  const nodeNs = Float64Array.of(40, 10, Number.NaN);
  return { nodeNs, nodeBlock: Int32Array.of(0, 3, -1), info: { colors } } as TimelineColumns;
}

const BLOCKS: [number, string][] = [
  [0, "A residual block"],
  [3, "B residual block"],
];

describe("SliceColors", () => {
  it("cycles through the color modes, starting with Python's choice", () => {
    const colors = new SliceColors(columns({ by: "block", kind: "conv", blocks: BLOCKS }), null);
    const seen = [colors.by];
    for (let i = 0; i < 3; i++) {
      colors.chosen = colors.next;
      seen.push(colors.by);
    }
    expect(seen).toEqual(["block", "share", "kind", "block"]);
    expect(colors.blockTitle(3)).toBe("B residual block");
  });

  it("omits blocks if there are none, and offers changes when runs are compared", () => {
    const found = columns({ by: "share", kind: "conv", blocks: [] });
    const alone = new SliceColors(found, null);
    alone.chosen = "block";
    expect([alone.offered, alone.by]).toEqual([["kind", "share"], "share"]);
    const two = new SliceColors(found, {} as Change);
    expect([two.offered, two.by]).toEqual([["change", "kind"], "change"]);
  });

  it("fills a node by its block, by its share of the longest, or by its kind", () => {
    const colors = new SliceColors(columns({ by: "block", kind: "conv", blocks: BLOCKS }), null);
    expect(colors.ofNode(LIGHT, 1, "conv")).toBe(blockFill(LIGHT, 3));
    expect(colors.ofNode(LIGHT, 2, "pool")).toBe(kindFill(LIGHT, "pool"));
    colors.chosen = "share";
    colors.longest = 40;
    expect(colors.ofNode(LIGHT, 0, "conv")).toBe(heatFill(LIGHT, 1));
    expect(colors.ofNode(LIGHT, 1, "conv")).toBe(heatFill(LIGHT, 0.25));
    expect(colors.ofNode(LIGHT, 2, "conv")).toBe(heatFill(LIGHT, 0));
    expect(colors.ofNode(LIGHT, 2, "pool"), "of another kind").toBe(kindFill(LIGHT, "pool"));
  });
});
