import { describe, expect, it } from "vitest";
import { type ComparisonColumns, ComparisonData } from "../../src/comparison/data.ts";
import { DifferenceRows } from "../../src/comparison/difference_list.ts";
import { graphOptions } from "../../src/comparison/pane.ts";
import { StringColumn } from "../../src/shared/client/columns.ts";

const INFO = {
  titles: ["left", "right"] as [string, string],
  sentence: "3 of 4 nodes matched",
  kinds: ["only in A", "only in B", "shape"],
  certainties: ["exact", "likely", "possible"],
  reasons: ["same id", "parts"],
  matched: "3 of 4 nodes of A",
  speedRange: null,
  speedNotes: [],
  changeNotes: [],
};

/** a0 ~ b0, a1 ~ b1 b2 (fused), a2 ~ b3; a3 and b4 are alone. */
function dataColumns(): ComparisonColumns {
  return {
    pairA: Int32Array.of(0, 1, 1, 2),
    pairB: Int32Array.of(0, 1, 2, 3),
    certainty: Uint8Array.of(0, 1, 2, 0),
    reason: Uint8Array.of(0, 1, 1, 0),
    groupKind: Uint8Array.of(0, 1, 2),
    groupStart: Int32Array.of(0, 1, 2, 4),
    groupChange: new StringColumn(Int32Array.of(0, 1, 2), ["relu", "add", "[1] → [2]"]),
    memberA: Int32Array.of(3, -1, 0, 2),
    memberB: Int32Array.of(-1, 4, 0, 3),
    labelA: new StringColumn(Int32Array.of(0, 1, 1, 0), ["relu", "conv2d + add"]),
    labelB: new StringColumn(Int32Array.of(0, 1, 1, 0, 1), ["relu", "add"]),
    shapeA: new StringColumn(Int32Array.of(0, 0, 0, 1), ["1×16", ""]),
    shapeB: new StringColumn(Int32Array.of(0, 0, 0, 0, 1), ["1×16", "1×8"]),
  };
}

function fresh(columns: ComparisonColumns): ComparisonData {
  return new ComparisonData({ ...columns, info: INFO });
}

describe("ComparisonData", () => {
  it("finds matches in both directions, with the last part as partner", () => {
    const found = fresh(dataColumns());
    expect(found.matches(0, 1).map(({ node }) => node)).toEqual([1, 2]);
    expect(found.partner(0, 1)).toBe(2);
    expect(found.partner(1, 1)).toBe(1);
    expect(found.partner(0, 3)).toBeNull();
    expect(found.parts(0, 1, 1)).toEqual([2, 1]);
  });

  it("codes every node by its least certain match, or as unmatched", () => {
    const found = fresh(dataColumns());
    expect([...found.codes(0)]).toEqual([0, 2, 0, 3]);
    expect([...found.codes(1)]).toEqual([0, 1, 2, 0, 3]);
  });

  it("describes a node", () => {
    const found = fresh(dataColumns());
    expect(found.sentence(0, 1)).toBe("A #1 conv2d + add ~ B #1, #2: possible, parts");
    expect(found.sentence(1, 4)).toBe("B #4 add has no match in A");
  });
});

describe("Rows", () => {
  it("opens groups with several members, filters by kind and finds nodes", () => {
    const rows = new DifferenceRows(fresh(dataColumns()));
    expect(rows.length).toBe(3);
    rows.open(0, true);
    expect(rows.isOpen(0)).toBe(false);
    rows.open(2, true);
    expect(rows.length).toBe(5);
    expect(rows.at(3)).toEqual({ group: 2, member: 2, isMember: true });
    expect(rows.at(4)).toEqual({ group: 2, member: 3, isMember: true });
    expect([rows.node(0, rows.at(2)), rows.node(1, rows.at(2))]).toEqual([0, 0]);
    expect(rows.more(rows.at(2))).toBe("+1");
    expect([rows.node(0, rows.at(4)), rows.node(1, rows.at(4))]).toEqual([2, 3]);
    expect(rows.more(rows.at(4))).toBe("");
    expect(rows.find(1, 3)).toBe(4);
    rows.kind = 1;
    expect(rows.length).toBe(1);
    expect([rows.node(0, rows.at(0)), rows.node(1, rows.at(0))]).toEqual([-1, 4]);
    expect(rows.lineOf(2)).toBe(-1);
    expect(rows.find(1, 3)).toBe(-1);
  });
});

describe("graphOptions", () => {
  it("separates each graph's own options from the shared ones", () => {
    const shared: Record<string, unknown> = { color_by: "match" };
    const options = {
      get: (name: string) => shared[name],
      set: (name: string, value: unknown) => {
        shared[name] = value;
      },
      onChange: () => {},
    };
    const own = graphOptions(options as never);
    let heard = 0;
    own.onChange("search", () => heard++, new AbortController().signal);
    own.set("search", "conv");
    own.set("search", "conv");
    own.set("color_by", "time");
    expect(own.get("search")).toBe("conv");
    expect(heard).toBe(1);
    expect(shared).toEqual({ color_by: "time" });
  });
});
