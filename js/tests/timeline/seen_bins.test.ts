import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Client } from "../../src/shared/client/client.ts";
import { Viewport } from "../../src/shared/drawing/canvas.ts";
import { SeenBins, TimeBins } from "../../src/timeline/data/bins.ts";
import { Slices } from "../../src/timeline/data/slices.ts";
import { fakeClient } from "../fake_model.ts";
import { random, randomSlices, type SliceSpec, timeline } from "./fixture.ts";

/** Bins of all rows, as the kernel sums them up. */
function lod(slices: Slices, from: number, width: number, count: number) {
  const size = slices.rows.length * count;
  const found = {
    lodBusy: new Float32Array(size),
    lodSlice: new Int32Array(size),
    lodNode: new Int32Array(size),
    lodName: new Int32Array(size),
    names: slices.names,
    nameKinds: slices.nameKinds,
    nameLabels: slices.nameLabels,
  };
  for (const row of slices.rows) {
    for (let bin = 0; bin < count; bin++) {
      const [begin, end] = [from + bin * width, from + (bin + 1) * width];
      const slice = row.dominant(begin, end);
      const at = row.number * count + bin;
      found.lodBusy[at] = row.busy(begin, end) / width;
      found.lodSlice[at] = slice;
      found.lodNode[at] = slices.nodeOf(slice);
      found.lodName[at] = slices.nameCodeOf(slice);
    }
  }
  return found;
}

function busySpecs(seed: number, count: number): SliceSpec[] {
  return randomSlices(seed, count).filter(({ duration }) => duration > 0);
}

describe("Bins", () => {
  it.each([1, 2, 3, 4, 5])("add up to the busy time of any part (seed %i)", (seed) => {
    const next = random(seed);
    const slices = new Slices(timeline(busySpecs(seed, 300)));
    const [row] = slices.rows;
    const [count, width] = [200, slices.end / 200];
    const bins = new TimeBins(lod(slices, 0, width, count), 0, width, count);
    for (let round = 0; round < 30; round++) {
      const [first, many] = [next(150), 1 + next(50)];
      const columns = 1 + next(70);
      const step = (many * width) / columns;
      const told = { slice: new Int32Array(columns), share: new Float32Array(columns) };
      const which = new Int32Array(columns);
      bins.fill(row!, told, which, 0, first * width, step, 0, columns);
      const sum = told.share.reduce((total, share) => total + share * step, 0);
      const busy = row!.busy(first * width, (first + many) * width);
      expect(Math.abs(sum - busy)).toBeLessThan(1e-3 * (busy + 1));
      told.slice.forEach((slice, column) => {
        expect(slice >= 0).toBe(told.share[column]! > 0);
        if (slice >= 0) expect(bins.nodeOf(which[column]!)).toBe(slices.nodeOf(slice));
      });
    }
  });

  it("leave columns outside their range unchanged", () => {
    const slices = new Slices(timeline([{ start: 0, duration: 100 }]));
    const bins = new TimeBins(lod(slices, 40, 5, 4), 40, 5, 4);
    const told = { slice: new Int32Array(10).fill(7), share: new Float32Array(10).fill(0.5) };
    bins.fill(slices.rows[0]!, told, new Int32Array(10), 0, 0, 10, 0, 10);
    expect([...told.slice]).toEqual([7, 7, 7, 7, 0, 0, 7, 7, 7, 7]);
  });
});

describe("SeenBins", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A timeline that a page cannot hold, and a kernel that can. */
  function setting(mostBins: number, most: number) {
    const whole = new Slices(timeline(busySpecs(9, 4000)));
    const { columns } = whole;
    const [bins, width] = [64, (whole.end - whole.start) / 64];
    const slices = new Slices({
      ...columns,
      ...lod(whole, whole.start, width, bins),
      slices: null,
      info: { ...columns.info, bins, whole: false, binsOnly: null, mostBins },
    });
    const asked: [from: number, to: number, bins: number][] = [];
    const run = fakeClient({
      timeline: () => columns,
      window: ({ from, to, bins }: { from: number; to: number; bins: number }) => {
        asked.push([from, to, bins]);
        const [first, last] = whole.rows[0]!.range(from, to);
        if (last - first > most)
          return { ...lod(whole, from, (to - from) / bins, bins), info: { bins } };
        const data = columns.slices!;
        const part = <T extends Int32Array | Float64Array | Uint8Array | Uint16Array | Uint32Array>(
          values: T,
        ) => values.slice(first, last) as T;
        return {
          ...data,
          start: part(data.start),
          duration: part(data.duration),
          self: null,
          node: part(data.node!),
          name: part(data.name),
          source: part(data.source!),
          trust: null,
          rowFirst: Int32Array.of(0, last - first),
          rowNumber: Int32Array.of(first),
          occurrence: Int32Array.from({ length: last - first }, (_, i) =>
            whole.occurrenceOf(first + i),
          ),
          parent: new Int32Array(last - first).fill(-1),
        };
      },
    });
    const seen = new SeenBins(slices);
    const { signal } = new AbortController();
    let changes = 0;
    seen.connect(run, () => changes++, signal);
    return { whole, slices, seen, asked, changes: () => changes };
  }

  it("are requested once for the visible part and half a screen on both sides", async () => {
    const { whole, seen, asked } = setting(4000, 10);
    const view = new Viewport(whole.start, whole.end);
    const middle = (whole.start + whole.end) / 2;
    view.show(middle - 2000, middle + 2000);
    const step = 4000 / 1000;
    expect(seen.missing(view.start, view.end, step)).toEqual([[view.start, view.end]]);
    seen.look(view, step);
    seen.look(view, step);
    expect(asked).toEqual([]);
    await vi.runAllTimersAsync();
    const [[from, to, bins]] = asked as [[number, number, number]];
    expect([from % step, (to - from) / bins]).toEqual([0, step]);
    expect(seen.missing(view.start, view.end, step)).toEqual([]);
    expect(seen.missing(view.start - 2000, view.end + 2000, step)).toEqual([]);
    expect(seen.missing(view.start - 4000, view.end + 4000, step)).toEqual([
      [view.start - 4000, from],
      [to, view.end + 4000],
    ]);
    view.pan(100);
    seen.look(view, step);
    await vi.runAllTimersAsync();
    expect(asked.length).toBe(1);
    const columns = 1000;
    const told = { slice: new Int32Array(columns), share: new Float32Array(columns) };
    for (const bins of seen.bins(view.start, view.end, step)) {
      bins.fill(whole.rows[0]!, told, new Int32Array(columns), 0, view.start, step, 0, columns);
    }
    const sum = told.share.reduce((total, share) => total + share * step, 0);
    const busy = whole.rows[0]!.busy(view.start, view.end);
    expect(Math.abs(sum - busy)).toBeLessThan(2 * step);
  });

  it("are replaced by slices where these are few", async () => {
    const { whole, slices, seen, changes } = setting(4000, 400);
    const [row] = whole.rows;
    const first = 2000;
    const view = new Viewport(whole.start, whole.end);
    view.show(whole.startOf(first), whole.endOf(first + 50));
    seen.look(view, view.span / 900);
    await vi.runAllTimersAsync();
    expect(changes()).toBeGreaterThan(0);
    expect([slices.complete, slices.holds(view.start, view.end)]).toEqual([false, true]);
    expect(slices.holds(whole.start, whole.end)).toBe(false);
    expect(slices.rows[0]!.range(view.start, view.end)).toEqual(row!.range(view.start, view.end));
    expect(slices.rows[0]!.busy(view.start, view.end)).toBe(row!.busy(view.start, view.end));
    for (let slice = first; slice < first + 50; slice++) {
      expect(slices.startOf(slice)).toBe(whole.startOf(slice));
      expect(slices.nodeOf(slice)).toBe(whole.nodeOf(slice));
      expect(slices.nameOf(slice)).toBe(whole.nameOf(slice));
      expect(slices.sourceOf(slice)).toBe(whole.sourceOf(slice));
      expect(slices.bySource(whole.sourceOf(slice))).toBe(slice);
      expect(slices.occurrenceOf(slice)).toBe(whole.occurrenceOf(slice));
      expect([...slices.of(whole.nodeOf(slice))]).toContain(slice);
    }
    expect(slices.startOf(0)).toBeNaN();
  });

  it("are those of the newest question, whatever is answered last", async () => {
    const { whole, slices } = setting(4000, 10);
    const answers: ((answer: unknown) => void)[] = [];
    const run = fakeClient({
      timeline: () => slices.columns,
      window: () => new Promise((resolve) => answers.push(resolve)),
    });
    const seen = new SeenBins(slices);
    seen.connect(run, () => {}, new AbortController().signal);
    const view = new Viewport(whole.start, whole.end);
    for (const start of [whole.start, (whole.start + whole.end) / 2]) {
      view.show(start, start + 4000);
      seen.look(view, 4);
      await vi.runAllTimersAsync();
    }
    const bins = { ...lod(whole, whole.start, 4, 8), info: { bins: 8 } };
    for (const answer of answers.reverse()) answer(bins);
    await vi.runAllTimersAsync();
    expect(answers.length).toBe(2);
    expect(seen.missing(view.start, view.end, 4)).toEqual([]);
  });

  it("get wider to stay within the limit of one answer", async () => {
    const { whole, seen, asked } = setting(300, 10);
    const view = new Viewport(whole.start, whole.end);
    seen.look(view, 4);
    await vi.runAllTimersAsync();
    const [[from, to, bins]] = asked as [[number, number, number]];
    expect(bins).toBeLessThanOrEqual(300);
    expect([from <= view.start, to >= view.end]).toEqual([true, true]);
    expect(Math.log2((to - from) / bins) % 1).toBe(0);
  });

  it("are not requested by a view that is gone", async () => {
    const { slices, whole } = setting(4000, 400);
    const gone = new AbortController();
    const seen = new SeenBins(slices);
    seen.connect({} as Client, () => {}, gone.signal);
    seen.look(new Viewport(whole.start, whole.end), 1);
    gone.abort();
    await vi.runAllTimersAsync();
  });
});
