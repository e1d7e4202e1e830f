import { describe, expect, it } from "vitest";
import { linkText, pageAddress, parseLink, resolve } from "../../src/page/address.ts";
import { fakeClient } from "../fake_model.ts";
import { stringColumn } from "../shared/string_column.ts";

describe("the address of a page", () => {
  it("omits local folders", () => {
    expect(pageAddress("file:///home/me/two%20runs/a.html#node=1")).toBe("a.html");
    expect(pageAddress("file:///C:/me/a%20b.html?x#y")).toBe("a%20b.html?x");
    expect(pageAddress("https://host.org/runs/a.html#node=1/2")).toBe(
      "https://host.org/runs/a.html",
    );
  });
});

describe("the fragment of an address", () => {
  it("parses all fields and writes them back", () => {
    const { place, problems } = parseLink(
      "#node=12&view=tensor&entry=12,1&slice=12,3&time=0.5,2e6&step=2",
    );
    expect(problems).toEqual([]);
    expect(place).toEqual({
      nodes: ["12"],
      view: "tensor",
      entry: [12, 1],
      slice: [12, 3],
      time: [0.5, 2e6],
      step: 2,
    });
    expect(parseLink(`#${linkText(place)}`)).toEqual({ place, problems: [] });
  });

  it("accepts unescaped names and restores escaped ones", () => {
    expect(parseLink("#node=a+b/c").place.nodes).toEqual(["a+b/c"]);
    const place = { ...parseLink("").place, nodes: ["x&y=#% \u2028", "7"] };
    expect(parseLink(`#${linkText(place)}`).place).toEqual(place);
  });

  it("ignores unrelated fragments", () => {
    for (const text of ["", "#", "#tvmdbg-about", "#:~:text=abc".replace("=", "")]) {
      expect(parseLink(text).problems).toEqual([]);
      expect(linkText(parseLink(text).place)).toBe("");
    }
  });

  it.each([
    "#node=",
    "#node=%E0%A4%A",
    "#nodes=12",
    "#entry=12",
    "#entry=12,-1",
    "#slice=a,b",
    "#slice=1,2,3",
    "#time=5,5",
    "#time=1,Infinity",
    "#time=9,NaN",
    "#step=-1",
    "#step=1.5",
    "#__proto__=1",
  ])("reports a problem with %s", (hash) => {
    const { place, problems } = parseLink(hash);
    expect(problems).toHaveLength(1);
    expect({ ...place, nodes: [] }).toEqual(parseLink("").place);
  });
});

const RUN = fakeClient({
  graph: () => ({
    names: stringColumn(["in", "conv", "twice", "twice"]),
    kinds: new Uint8Array(4),
    entryOffsets: Int32Array.of(0, 1, 3, 4, 5),
  }),
  timeline: () => ({
    ...{ start: new Float64Array(3), duration: new Float64Array(3), name: new Int32Array(3) },
    node: Int32Array.of(1, 1, 2),
    info: { whole: true, bins: 0 },
  }),
});

async function meant(hash: string) {
  return resolve(parseLink(hash).place, RUN, ["graph", "tensor"], 2);
}

describe("a link resolved in a run", () => {
  it("finds nodes by id and by name", async () => {
    expect((await meant("#node=3")).state).toEqual({
      selected: [3],
      entry: [3, 0],
      slice: null,
    });
    expect((await meant("#node=conv&node=2")).state.selected).toEqual([1, 2]);
  });

  it("selects the node of an entry and of a slice", async () => {
    expect((await meant("#entry=1,1")).state).toMatchObject({ selected: [1], entry: [1, 1] });
    expect((await meant("#slice=1,1")).state).toMatchObject({ selected: [1], slice: [1, 1] });
    expect((await meant("#time=1,2&step=1")).state).toEqual({ time_range: [1, 2], tour_step: 1 });
  });

  it.each([
    "#node=4",
    "#node=nothing",
    "#node=twice",
    "#entry=1,2",
    "#entry=9,0",
    "#slice=1,2",
    "#step=2",
    "#view=timeline",
  ])("reports and skips an unresolvable target: %s", async (hash) => {
    const { state, view, problems } = await meant(hash);
    expect(state).toEqual({});
    expect(view).toBeNull();
    expect(problems).toHaveLength(1);
  });
});
