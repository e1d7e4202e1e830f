import { describe, expect, it } from "vitest";
import { Slices } from "../../src/timeline/data/slices.ts";
import {
  edgeAfter,
  edgeBefore,
  Measure,
  nearestEdge,
  snapped,
} from "../../src/timeline/tracks/measure.ts";
import { random, randomSlices, timeline } from "./fixture.ts";

function made(seed: number): Slices {
  const other = randomSlices(seed + 9, 60).map((each) => ({ ...each, track: 1 }));
  return new Slices(timeline([...randomSlices(seed, 120), ...other], { tracks: ["a", "b"] }));
}

/** Every time at which a slice of a row starts or ends, sorted. */
function edges(slices: Slices, row: { first: number; last: number }): number[] {
  const all = new Set<number>();
  for (let at = row.first; at < row.last; at++) all.add(slices.startOf(at)).add(slices.endOf(at));
  return [...all].sort((a, b) => a - b);
}

describe.each([1, 2, 3, 4])("edges, seed %i", (seed) => {
  const slices = made(seed);
  const next = random(seed);
  const times = Array.from({ length: 300 }, () => next(Math.ceil(slices.end) + 20) - 10);

  it("match a linear search for the nearest one", () => {
    for (const ns of times) {
      const all = slices.rows.flatMap((row) => edges(slices, row));
      const apart = Math.min(...all.map((edge) => Math.abs(edge - ns)));
      const found = nearestEdge(slices, slices.rows, ns, 6);
      expect(found && Math.abs(found.ns - ns)).toBe(apart <= 6 ? apart : null);
      if (!found) continue;
      const { slice, end } = found;
      expect(found.ns).toBe(end === "start" ? slices.startOf(slice) : slices.endOf(slice));
      expect(snapped(slices, [], ns + 0.4, 6)).toEqual({ ns, slice: -1, end: "start" });
    }
  });

  it("can be stepped through in both directions", () => {
    for (const row of slices.rows) {
      const all = edges(slices, row);
      for (const ns of times.slice(0, 60)) {
        expect(edgeAfter(slices, row, ns)?.ns).toBe(all.find((edge) => edge > ns));
        expect(edgeBefore(slices, row, ns)?.ns).toBe(all.findLast((edge) => edge < ns));
      }
    }
  });

  it("are the steps of a measure", () => {
    const row = slices.rows[0]!;
    const all = edges(slices, row);
    const measure = new Measure(slices, row.first);
    expect(measure.range).toEqual([slices.startOf(row.first), slices.endOf(row.first)]);
    let at = all.indexOf(slices.endOf(row.first));
    for (let i = 0; i < 40; i++) {
      const by = next(3) ? 1 : -1;
      measure.step(by, 0);
      at = Math.min(Math.max(0, at + by), all.length - 1);
      expect(measure.second!.ns).toBe(all[at]);
    }
    measure.open = false;
    const kept = measure.second;
    measure.follow({ ns: 5, slice: -1, end: "start" });
    expect(measure.second).toBe(kept);
  });
});
