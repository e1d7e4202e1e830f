import { describe, expect, it } from "vitest";
import { Viewport } from "../../src/shared/drawing/canvas.ts";
import { niceStep } from "../../src/shared/drawing/value_axis.ts";
import { percent } from "../../src/shared/format.ts";
import { aboveOrBelow, nextInTrack, nextOccurrence } from "../../src/timeline/actions.ts";
import { areaPreview, RangeWords } from "../../src/timeline/areas.ts";
import { Names, numbered, ticks, timeText } from "../../src/timeline/data/names.ts";
import { Ranking } from "../../src/timeline/data/ranking.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { SliceDescriptions } from "../../src/timeline/descriptions.ts";
import { parsed, SearchHits, TimelineSearch } from "../../src/timeline/search.ts";
import { overlapText } from "../../src/timeline/tracks/headers.ts";
import { TimelineScene, TOP } from "../../src/timeline/tracks/scene.ts";
import { settled } from "../fake_model.ts";
import { columns as graph } from "../graph/fixture.ts";
import { type SliceSpec, timeline } from "./fixture.ts";

const PARAMETER = 1;

/** Two tracks: three operators (one of them twice), a gap, a parameter; in the order of their rows. */
const SPECS: SliceSpec[] = [
  { node: 1, start: 0, duration: 1000 },
  { node: 2, start: 1000, duration: 3000 },
  { node: 3, start: 5000, duration: 500 },
  { node: 2, start: 5500, duration: 1000 },
  { node: 0, start: 0, duration: 0 },
  { node: 4, start: 1000, duration: 100, track: 1 },
];

function parts() {
  const columns = timeline(SPECS, {
    tracks: ["cpu", "gpu"],
    repeats: [[], [950, 1000, 1000, 1000, 1050], [], [400, 400, 500, 600, 600], []],
  });
  const slices = new Slices(columns);
  const names = new Names(
    slices,
    graph([
      { kind: PARAMETER, name: "p0" },
      { label: "dense", func: "fused_dense", opKind: "matmul" },
      { label: "softmax", opKind: "normalization" },
      { label: "add", opKind: "elementwise" },
      { label: "dense", func: "fused_dense_1", opKind: "matmul" },
    ]),
  );
  const ranking = new Ranking(slices, names);
  return { columns, slices, names, ranking, words: new SliceDescriptions(slices, names, ranking) };
}

describe("Ranking", () => {
  it("ranks operators by time, with shares of their sum", () => {
    const { ranking } = parts();
    expect([...ranking.node]).toEqual([2, 1, 3, 4]);
    expect(ranking.total).toBe(3600);
    expect(ranking.shares[0]).toBeCloseTo(2000 / 3600, 12);
    expect([...ranking.cumulative(ranking.rows("time"))].at(-1)).toBeCloseTo(1, 12);
    expect(Array.from(ranking.rows("order"), (row) => ranking.node[row])).toEqual([1, 2, 4, 3]);
    expect([ranking.rowOf(0), ranking.rowOf(2)]).toEqual([-1, 0]);
  });

  it("sums up by op kind, the slowest node last", () => {
    const { ranking, names } = parts();
    expect(ranking.kinds(names).map(({ kind, ns, nodes }) => ({ kind, ns, nodes }))).toEqual([
      { kind: "normalization", ns: 2000, nodes: [2] },
      { kind: "matmul", ns: 1100, nodes: [4, 1] },
      { kind: "elementwise", ns: 500, nodes: [3] },
    ]);
  });

  it("groups slices without a node by name", () => {
    const columns = timeline([
      { name: "a", start: 0, duration: 5 },
      { name: "b", start: 5, duration: 50 },
      { name: "a", start: 60, duration: 10 },
    ]);
    const slices = new Slices(columns);
    const ranking = new Ranking(slices, new Names(slices, null));
    expect([...ranking.ns]).toEqual([50, 15]);
    expect([...ranking.slice]).toEqual([1, 0]);
    expect(ranking.total).toBe(65);
  });

  it("knows times of nodes that have no slice", () => {
    const columns = timeline([], { nodes: 2, nodeNs: [Number.NaN, 70] });
    const slices = new Slices(columns);
    const ranking = new Ranking(slices, new Names(slices, null));
    expect([...ranking.node]).toEqual([1]);
    expect([...ranking.slice]).toEqual([-1]);
  });
});

describe("a range under the hand", () => {
  it("has a number of slices and busy time", () => {
    const { slices } = parts();
    const found = areaPreview(slices, [500, 6000], slices.rows);
    expect(found).toMatchObject({ count: 5, instants: 0 });
    expect(found.tracks).toEqual([
      { track: 0, busy: 4500, idle: 1000 },
      { track: 1, busy: 100, idle: 5400 },
    ]);
    expect(areaPreview(slices, [0, 100], slices.rows).instants).toBe(1);
  });
});

describe("SliceDescriptions", () => {
  it("describes a slice in one sentence", () => {
    const { words } = parts();
    expect(words.sentence(0)).toBe(
      "Slice of #1 dense · 1×8, starts 0 ns, lasts 1.000 µs (mean of 5 repeats, p10 … p90 950.0 ns … 1.050 µs), " +
        "27.8 % of 3.600 µs, rank 2 of 4; synthetic timeline, track cpu; directly before #2 softmax",
    );
  });

  it("separates the duration of a slice from the mean of its node", () => {
    const { words } = parts();
    expect(words.ofSlice(3)).toContainEqual(["slice", "2 of 2 of this node"]);
    expect(words.ofSlice(3)).toContainEqual(["duration", "1.000 µs"]);
    expect(words.ofSlice(3)).toContainEqual(["mean time", "2.000 µs"]);
  });

  it("mentions noise", () => {
    expect(parts().words.sentence(2)).toContain("noisy");
  });

  it("does not round a small share to zero", () => {
    expect([0.5, 0.05, 0.0003, 0.00001, 0, Number.NaN].map(percent)).toEqual([
      "50.0 %",
      "5.00 %",
      "0.03 %",
      "< 0.01 %",
      "0 %",
      "unknown",
    ]);
  });
});

describe("steps", () => {
  it("goes along the track, between tracks and along occurrences", () => {
    const { slices, names } = parts();
    const scene = new TimelineScene(slices, names);
    const path = (steps: (() => number)[]) => steps.map((step) => (scene.current = step()));
    const next = () => nextInTrack(scene, 1);
    expect(path([next, next, next, next, next])).toEqual([0, 1, 2, 3, 3]);
    expect(nextInTrack(scene, -Infinity)).toBe(0);
    expect(nextInTrack(scene, Infinity)).toBe(3);
    scene.current = 0;
    expect(nextInTrack(scene, -1, true)).toBe(4);
    scene.current = 4;
    expect(nextInTrack(scene, 1)).toBe(0);
    scene.current = 1;
    expect(aboveOrBelow(scene, 1)).toBe(5);
    expect(nextOccurrence(scene, 1)).toBe(3);
    expect(nextOccurrence(scene, -1)).toBe(-1);
  });
});

describe("Scene", () => {
  const scene = () => {
    const { slices, names } = parts();
    const made = new TimelineScene(slices, names);
    made.resize(650, 300);
    return made;
  };

  it("hits slices, gaps and slices of no duration", () => {
    const made = scene();
    const y = made.rowBox(made.slices.rows[0]!).y + 5;
    expect(made.hit(made.x(2000), y)).toEqual({ slice: 1, instants: 0 });
    expect(made.hit(made.x(4500), y)).toEqual({
      gap: { track: 0, from: 4000, to: 5000 },
    });
    expect(made.hit(0, made.rowBox(made.slices.rows[1]!).y + 3)).toEqual({ slice: 4, instants: 1 });
    expect(made.hit(10, TOP - 3)).toBeNull();
  });

  it("hits a slice much narrower than a pixel when the pointer is near", () => {
    const columns = timeline([
      { node: 0, start: 0, duration: 1 },
      { node: 1, start: 500_000, duration: 1 },
      { node: 2, start: 1_000_000, duration: 1 },
    ]);
    const slices = new Slices(columns);
    const made = new TimelineScene(slices, new Names(slices, null));
    made.resize(100, 200);
    const y = made.rowBox(made.slices.rows[0]!).y + 5;
    expect(made.hit(50.4, y)).toEqual({ slice: 1, instants: 0 });
    expect(made.hit(30, y)).toEqual({ gap: { track: 0, from: 1, to: 500_000 } });
  });

  it("brings a slice into view without zooming", () => {
    const made = scene();
    made.viewport.show(0, 1000);
    made.reveal(2);
    expect(made.viewport.span).toBe(1000);
    expect(made.viewport.start).toBeLessThanOrEqual(5000);
    expect(made.viewport.end).toBeGreaterThanOrEqual(5500);
  });
});

describe("Found", () => {
  it("searches labels, names and functions, sums times, and wraps around", () => {
    const { slices, names } = parts();
    const found = new SearchHits(slices, names, parsed("DENSE"));
    expect(found.text(-1)).toBe("2 hits, Σ 1.100 µs");
    const from = (slice: number) => found.next({ at: slices.startOf(slice), slice }, 1);
    expect([found.next({ at: 0 }, 1), from(0), from(5), found.next({ at: 0 }, -1)]).toEqual([
      0, 5, 0, 5,
    ]);
    expect(found.text(5)).toBe("2 of 2 hits, Σ 1.100 µs");
    expect(new SearchHits(slices, names, parsed("conv")).text(-1)).toBe("no hits");
    for (const words of ["fused dense", '"fused_dense" matmul', "MATMUL den"]) {
      expect(new SearchHits(slices, names, parsed(words)).text(-1)).toBe("2 hits, Σ 1.100 µs");
    }
    expect(new SearchHits(slices, names, parsed('"fused dense"')).text(-1)).toBe("no hits");
    expect(new SearchHits(slices, names, parsed(" ")).text(-1)).toBe("");
  });
});

describe("Searching", () => {
  /** Of the two slices of dense, 0 and 5, and the two of softmax, 1 and 3. */
  function sought(text: string) {
    const { slices, names } = parts();
    const scene = new TimelineScene(slices, names);
    scene.resize(650, 300);
    const picked: number[] = [];
    const pick = (slice: number) => {
      picked.push(slice);
      scene.current = slice;
    };
    const host = {
      data: { slices, names, scene },
      pick,
      bar: { showHits: (_: string): unknown => undefined, list: { show() {} } },
    };
    const searching = new TimelineSearch({ ...host, found() {} } as never);
    searching.search(text);
    return { scene, picked, searching };
  }

  it("searches forward from the start of the view and back from its end", () => {
    const { scene, picked, searching } = sought("softmax");
    scene.viewport.show(4500, 6500);
    searching.next(1);
    searching.next(1);
    expect(picked).toEqual([3, 1]);
    scene.current = -1;
    scene.viewport.show(800, 5200);
    searching.next(-1);
    searching.next(-1);
    expect(picked.slice(2)).toEqual([1, 3]);
  });

  it("continues from the selected slice if it is visible", () => {
    const { scene, picked, searching } = sought("softmax");
    scene.current = 2;
    searching.next(1);
    scene.current = 2;
    searching.next(-1);
    scene.current = 0;
    scene.viewport.show(4500, 6500);
    searching.next(1);
    expect(picked).toEqual([3, 1, 3]);
  });

  it("begins with the slices of a searched node, from the current position", () => {
    const { scene, picked, searching } = sought("2");
    scene.viewport.show(4500, 6500);
    searching.next(1);
    expect(picked).toEqual([3]);
  });

  it("asks the kernel if the page lacks slices, from the same position", async () => {
    const { slices, names } = parts();
    slices.columns.info.whole = false;
    const scene = new TimelineScene(slices, names);
    const asked: unknown[] = [];
    const hit = { slice: 3, start: 5500, duration: 1000, name: "softmax" };
    const run = {
      ask: async (_kind: string, question: unknown) => {
        asked.push(question);
        return { count: 2, selfNs: 4000, next: hit, previous: null };
      },
    };
    const host = {
      data: { slices, names, scene },
      camera: { move: (change: () => void) => change() },
      context: { run, signal: new AbortController().signal },
      bar: { showHits: (_: string): unknown => undefined, list: { show() {} } },
      say() {},
      pick() {},
    };
    const shown: string[] = [];
    host.bar.showHits = (text: string) => shown.push(text);
    const searching = new TimelineSearch(host as never);
    searching.search("dense");
    searching.search("");
    await settled();
    expect(shown).toEqual(["searching …", ""]);
    searching.search("softmax");
    scene.viewport.show(4500, 6500);
    searching.next(1);
    await Promise.resolve();
    searching.next(-1);
    const question = { text: "softmax", regex: false };
    expect(asked.slice(2)).toEqual([
      { ...question, at: 4500 },
      { ...question, at: 5500, slice: 3 },
    ]);
  });
});

describe("Viewport", () => {
  it("stays inside its limits and keeps the time under the pointer", () => {
    const view = new Viewport(100, 1100);
    view.zoom(0.5, 350);
    expect([view.start, view.end]).toEqual([225, 725]);
    view.pan(-1000);
    expect([view.start, view.end]).toEqual([100, 600]);
    view.zoom(10, 200);
    expect(view.all).toBe(true);
    for (let i = 0; i < 200; i++) view.zoom(0.5, 600);
    expect(view.span).toBeGreaterThan(0);
    expect(view.start).toBeLessThanOrEqual(600);
    expect(view.end).toBeGreaterThanOrEqual(600);
  });

  it("has a nonzero width for a single instant", () => {
    expect(new Viewport(5, 5).span).toBe(1);
  });
});

describe("ticks", () => {
  it("are at round values with distinct texts", () => {
    for (const [start, end] of [
      [0, 39_876_543],
      [39_100_000, 39_100_700],
      [1e9, 1e9 + 30],
      [0, 7],
    ] as const) {
      const found = ticks(start, end, 8);
      expect(found.length).toBeGreaterThan(1);
      expect(found.length).toBeLessThanOrEqual(9);
      expect(new Set(found.map(({ text }) => text)).size).toBe(found.length);
      for (const { ns } of found) expect(ns).toBeGreaterThanOrEqual(start - 1e-3);
    }
    expect(ticks(0, 30_000_000, 4).map(({ text }) => text)).toEqual([
      "0",
      "10 ms",
      "20 ms",
      "30 ms",
    ]);
    expect([0.3, 1, 1.2, 4, 70].map(niceStep)).toEqual([0.5, 1, 2, 5, 100]);
    expect(timeText(39_100_200, 100)).toBe("39.1002 ms");
  });
});

describe("numbered columns", () => {
  it.each([1, 5, 40, 600, 9999, 117_719, 5_000_000])("keep their distance (%i)", (count) => {
    const [room, wide] = [58, 600 / count];
    const found = numbered(count, wide, room);
    expect(found.length).toBeLessThanOrEqual(Math.max(1, 600 / room));
    for (let i = 1; i < found.length; i++) {
      expect((found[i]! - found[i - 1]!) * wide).toBeGreaterThanOrEqual(room);
    }
    expect(found.at(-1)!).toBeLessThanOrEqual(count);
  });

  it("use round steps if there is no room for all", () => {
    expect(numbered(4, 100, 30)).toEqual([1, 2, 3, 4]);
    expect(numbered(25, 10, 30)).toEqual([5, 10, 15, 20, 25]);
    expect(numbered(0, 10, 30)).toEqual([]);
  });
});

/** A trace of one thread without nodes: main calls load twice, load calls read. */
function nested() {
  const columns = timeline(
    [
      { name: "main", start: 0, duration: 10_000 },
      { name: "load", start: 1000, duration: 4000 },
      { name: "read", start: 2000, duration: 1000 },
      { name: "load", start: 6000, duration: 2000 },
    ],
    {
      self: [4000, 3000, 1000, 2000],
      words: {
        row: "slice name",
        time: "self time",
        together: "of self time summed over slices",
        byName: true,
      },
    },
  );
  columns.info.clock = "wall";
  const slices = new Slices(columns);
  const names = new Names(slices, null);
  const ranking = new Ranking(slices, names);
  return { columns, slices, names, ranking, words: new SliceDescriptions(slices, names, ranking) };
}

describe("Nested slices without nodes", () => {
  it("ranks names by self time and keeps the durations apart", () => {
    const { ranking, words } = nested();
    expect(Array.from(ranking.slice, (slice) => words.title(slice))).toEqual([
      "load",
      "main",
      "read",
    ]);
    expect([...ranking.ns]).toEqual([5000, 4000, 1000]);
    expect([...ranking.within]).toEqual([6000, 10_000, 1000]);
    expect([...ranking.slices]).toEqual([2, 1, 1]);
    expect(ranking.total).toBe(10_000);
    expect([0, 1, 2].map((slice) => ranking.rowOfSlice(slice))).toEqual([1, 0, 0]);
    expect(words.summary()[0]).toBe("3 slice names, 10.00 µs of self time summed over slices");
  });

  it("describes self time, children and the wall clock, but no node", () => {
    const { words } = nested();
    expect(words.sentence(1)).toBe(
      "Slice load, starts 1.000 µs, lasts 4.000 µs, self time: 3.000 µs, 75.0 %; 1.000 µs in children, " +
        "by name: 2 slices, self time 5.000 µs, 50.0 % of 10.00 µs, rank 1 of 3; wall clock; in main, 1 child slice, 1.000 µs before load",
    );
    expect(new Map(words.ofSlice(3)).get("self time")).toBe("1.000 µs: no children");
    expect(words.ofSlice(1).flat().join()).not.toMatch(/node|trust|mean/);
  });

  it("does not sum durations of nested slices", () => {
    const { slices, names, words } = nested();
    const said = new RangeWords(slices, words);
    const area = { ...areaPreview(slices, [0, 10_000], slices.rows), sum: 10_000 };
    const facts = new Map(said.ofArea(area));
    expect(facts.get("overlaps")).toBe("4 slices, some nested");
    expect(facts.get("Σ self time")).toBe("10.00 µs (10,000 ns), 100.0 % of the range");
    expect(new SearchHits(slices, names, parsed("load")).text(-1)).toBe(
      "2 hits, self time Σ 5.000 µs",
    );
  });

  it("puts nested slices on separate rows and counts the levels", () => {
    const { slices } = nested();
    const [track] = slices.tracks;
    expect(track!.rows.map((row) => [row.first, row.last])).toEqual([
      [0, 1],
      [1, 3],
      [3, 4],
    ]);
    expect([0, 1, 2, 3].map((slice) => slices.parentOf(slice))).toEqual([-1, 0, 0, 1]);
    expect(overlapText(track!, false)).toBe("");
  });

  it("goes to the next slice of the same name", () => {
    const { slices, names } = nested();
    const scene = new TimelineScene(slices, names);
    scene.current = 1;
    expect(nextOccurrence(scene, 1)).toBe(2);
    scene.current = 2;
    expect([nextOccurrence(scene, 1), nextOccurrence(scene, -1)]).toEqual([-1, 1]);
  });
});

describe("A report of calls", () => {
  it("labels times as call times, without repeats", () => {
    const columns = timeline([{ node: 0, name: "fused_add", start: 0, duration: 500 }], {
      repeats: [[500]],
      words: { item: "call", row: "call", time: "time of the call", repeats: false },
    });
    const slices = new Slices(columns);
    const names = new Names(slices, null);
    const words = new SliceDescriptions(slices, names, new Ranking(slices, names));
    expect(words.sentence(0)).toBe(
      "Slice of #0 fused_add, starts 0 ns, lasts 500.0 ns (time of the call), 100.0 % of 500.0 ns, rank 1 of 1; " +
        "synthetic timeline",
    );
    expect(words.ofNode(0)[0]).toEqual(["time of the call", "500.0 ns (time of the call)"]);
  });
});
