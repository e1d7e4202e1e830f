import { describe, expect, it } from "vitest";
import type { Layer } from "../../src/shared/drawing/canvas.ts";
import type { Theme } from "../../src/shared/drawing/theme.ts";
import { MarkedSlices } from "../../src/timeline/data/marked.ts";
import { Names } from "../../src/timeline/data/names.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { TimelineOverlay } from "../../src/timeline/tracks/overlay.ts";
import { TrackLayout } from "../../src/timeline/tracks/rows.ts";
import { TimelineScene, TOP } from "../../src/timeline/tracks/scene.ts";
import { stringColumn } from "../shared/string_column.ts";
import { timeline } from "./fixture.ts";

/** Two devices of two threads each, in one run or the same in two; each thread nests, the last also overlaps. */
function slices(runs = 1): Slices {
  const tracks = Array.from({ length: 4 * runs }, (_, track) => track);
  const specs = tracks.flatMap((track) => [
    { name: "outer", start: 0, duration: 100, track },
    { name: "inner", start: 10, duration: 20, track },
    ...(track === tracks.length - 1 ? [{ name: "late", start: 90, duration: 50, track }] : []),
    ...(track === 0 ? [{ name: "now", start: 5, duration: 0, track }] : []),
  ]);
  const columns = timeline(specs, { tracks: tracks.map((track) => `track ${track}`) });
  return new Slices({
    ...columns,
    trackRun: Int32Array.from(tracks, (track) => Math.floor(track / 4)),
    trackDevice: stringColumn(tracks.map((track) => (track % 4 < 2 ? "cpu" : "gpu"))),
    trackThread: stringColumn(tracks.map((track) => `thread ${track % 2}`)),
  });
}

/** From the top down: what there is, and no two of it over each other. */
function told(layout: TrackLayout): string[] {
  const all = [
    ...layout.headings
      .filter(({ hidden }) => !hidden)
      .map(({ text, top, level }) => ({ text: `${"> ".repeat(level + 1)}${text}`, top, end: top })),
    ...layout.tracks
      .filter(({ hidden }) => !hidden)
      .map(({ name, top, bottom }) => ({ text: name, top, end: bottom })),
  ].sort((a, b) => a.top - b.top);
  all.forEach((each, i) => {
    expect(each.top).toBeGreaterThanOrEqual(all[i - 1]?.end ?? 0);
  });
  return all.map(({ text }) => text);
}

describe("Layout", () => {
  it("has headings for devices, and for runs where there are several", () => {
    expect(told(new TrackLayout(slices()))).toEqual([
      "> cpu",
      "thread 0",
      "thread 1",
      "> gpu",
      "thread 0",
      "thread 1",
    ]);
    expect(told(new TrackLayout(slices(2)))).toEqual(
      [1, 2].flatMap((run) => [
        `> run ${"?AB"[run]}`,
        ...["> > cpu", "thread 0", "thread 1", "> > gpu", "thread 0", "thread 1"],
      ]),
    );
  });

  it("limits the tracks and rows of a picture", () => {
    const all = slices(2);
    const scene = new TimelineScene(all, new Names(all, null), { tracks: 3, rows: 1 });
    expect(told(scene.layout)).toEqual([
      "> run A",
      ...["> > cpu", "thread 0", "thread 1", "> > gpu", "thread 0"],
    ]);
    scene.resize(600, scene.naturalHeight);
    expect(scene.layout.folds).toBe(false);
    expect(scene.visibleRows.map(({ track, depth, kind }) => [track, depth, kind])).toEqual([
      [0, 0, 0],
      [0, 0, 2],
      [1, 0, 0],
      [2, 0, 0],
    ]);
  });

  it("omits headings if each device has one track", () => {
    const columns = timeline(
      [
        { start: 0, duration: 5 },
        { start: 0, duration: 5, track: 1 },
      ],
      {
        tracks: ["cpu", "gpu"],
      },
    );
    const two = new Slices({
      ...columns,
      trackRun: new Int32Array(2),
      trackDevice: stringColumn(["cpu", "gpu"]),
      trackThread: stringColumn(["", ""]),
    });
    expect(told(new TrackLayout(two))).toEqual(["cpu", "gpu"]);
  });

  it("folds tracks, devices and runs, and finds every row at its drawn position", () => {
    const all = slices(2);
    const layout = new TrackLayout(all);
    const check = () => {
      for (const row of all.rows) {
        const box = layout.box(row);
        if (!box) continue;
        const { folded, track } = layout.tracks[row.track]!;
        const shown = folded ? track.rows[0] : row;
        expect(layout.rowAt(box.y + box.height / 2)).toBe(shown);
        expect(layout.headAt(box.y + box.height / 2)).toBeNull();
      }
    };
    check();
    const { height } = layout;
    expect(layout.fold(layout.headAt(layout.tracks[0]!.top + 5)!)).toBe("track thread 0 folded");
    expect(layout.height).toBeLessThan(height);
    expect(layout.box(all.tracks[0]!.instants!)).toBeNull();
    check();
    const first = layout.headings.find(({ level }) => level === 0)!;
    expect(layout.fold(layout.headAt(first.top + 5)!)).toBe("run A folded: 4 tracks");
    expect(told(layout).slice(0, 2)).toEqual(["> run A", "> run B"]);
    expect(layout.box(all.rows[0]!)).toBeNull();
    check();
    layout.unfold(0);
    expect(layout.height).toBe(height);
  });

  it("unfolds a track to reveal a slice", () => {
    const all = slices();
    const scene = new TimelineScene(all, new Names(all, null));
    scene.resize(600, 120);
    const last = all.tracks[3]!.rows.at(-1)!;
    const gpu = scene.layout.headings[1]!;
    scene.scrollBy(gpu.top - 10);
    expect(scene.foldAt(5, TOP - scene.scroll + gpu.top + 4)).toBe("gpu folded: 2 tracks");
    expect(scene.rowBox(last).height).toBe(0);
    expect(scene.visibleRows).not.toContain(last);
    scene.reveal(last.first);
    const { y, height } = scene.rowBox(last);
    expect([y >= TOP, y + height <= scene.height]).toEqual([true, true]);
    expect(scene.hit(scene.x(110), y + 4)).toEqual({ slice: last.first, instants: 0 });
  });

  it("places bands below the tracks and never cuts one", () => {
    const all = slices();
    const scene = new TimelineScene(all, new Names(all, null));
    const before = scene.naturalHeight;
    const paint = () => {};
    scene.bands = [
      { height: 30, paint, at: (x, y) => [`first ${x} ${y}`] },
      { height: 20, paint, at: (x, y) => [`second ${x} ${y}`] },
    ];
    expect(scene.naturalHeight).toBe(before + 50);
    const heights = [before - 9, before + 29, before + 30, before + 49, before + 90];
    expect(heights.map((most) => scene.heightWithin(most) - before)).toEqual([-9, 0, 30, 30, 50]);
    scene.resize(600, 2000);
    expect(scene.bandAt(7, before + 3)).toEqual(["first 7 3"]);
    expect(scene.bandAt(7, before + 34)).toEqual(["second 7 4"]);
    expect(scene.bandAt(7, before - 3)).toBeNull();
  });
});

describe("overlay", () => {
  it("marks a long slice that begins in the pixel of a short one", () => {
    const specs = [
      { node: 0, start: 0, duration: 3 },
      { node: 0, start: 3, duration: 500 },
      { node: 1, start: 900, duration: 100 },
    ];
    const made = new Slices(timeline(specs));
    const scene = new TimelineScene(made, new Names(made, null));
    scene.resize(100, 200);
    scene.selected = new MarkedSlices(3, [0, 1]);
    const frames: number[] = [];
    const pen = new Proxy({} as CanvasRenderingContext2D, {
      get: (_, name) => (x: number, _y: number, width: number) =>
        name === "strokeRect" && x < 50 && frames.push(width),
      set: () => true,
    });
    const layer = { context: pen } as Layer;
    new TimelineOverlay(scene, layer).paint({} as Theme);
    expect(frames).toContain(50);
  });
});

describe("many tracks", () => {
  it("take less than two seconds to lay out", () => {
    const count = 60_000;
    const numbers = Array.from({ length: count }, (_, track) => track);
    const columns = timeline([], { tracks: numbers.map((track) => `track ${track}`) });
    const begin = performance.now();
    const layout = new TrackLayout(
      new Slices({
        ...columns,
        rowTrack: Int32Array.from(numbers),
        rowFirst: new Int32Array(count + 1),
        rowDepth: new Int32Array(count),
        rowKind: new Uint8Array(count),
        trackRun: new Int32Array(count),
        trackDevice: stringColumn(numbers.map((track) => `device ${track >> 1}`)),
        trackThread: stringColumn(numbers.map((track) => `thread ${track}`)),
      }),
    );
    expect(layout.headings).toHaveLength(count / 2);
    expect(layout.tracks.at(-1)!.bottom).toBe(layout.height);
    expect(performance.now() - begin).toBeLessThan(2000);
  });
});
