import { lowerBound, upperBound } from "../shared/sorted.ts";
import { Viewport } from "../shared/viewport.ts";
import type { Names } from "./names.ts";
import { type TrackRow, trackRows } from "./rows.ts";
import type { Slices } from "./slices.ts";

export const OVERVIEW = 26;
export const AXIS = 20;
/** Where the tracks begin. */
export const TOP = OVERVIEW + AXIS;
/** Slices this near to the pointer count as hit, in CSS pixels. */
const NEAR = 3;

export type Hit =
  | { slice: number; instants: number }
  | { gap: readonly [from: number, to: number]; track: string };

export type Zone = "overview" | "axis" | "tracks";

/** Slices of one lane (or of a track's instants) that are singled out, by start. */
export interface MarkedLane {
  positions: Int32Array;
  start: Float64Array;
}

/** Slices singled out, per lane; lane -1 are the track's instants. */
export class Marked {
  readonly #lanes: (MarkedLane | undefined)[][];

  constructor(slices: Slices, marked: Iterable<number>) {
    const lists: number[][][] = slices.tracks.map(() => []);
    for (const slice of marked) {
      const place = slices.place(slice);
      if (!place) continue;
      const lanes = lists[place.track]!;
      lanes[place.lane + 1] ??= [];
      lanes[place.lane + 1]!.push(place.position);
    }
    this.#lanes = slices.tracks.map(({ lanes, instants }, track) =>
      lists[track]!.map((list, lane) => {
        const positions = Int32Array.from(list).sort();
        const { start } = lane === 0 ? instants : lanes[lane - 1]!;
        return { positions, start: Float64Array.from(positions, (at) => start[at]!) };
      }),
    );
  }

  lane(track: number, lane: number): MarkedLane | undefined {
    return this.#lanes[track]![lane + 1];
  }
}

/** What is on the stage and where; knows no DOM. */
export class Scene {
  readonly slices: Slices;
  readonly names: Names;
  readonly rows: readonly TrackRow[];
  readonly viewport: Viewport;
  readonly tracksHeight: number;
  width = 0;
  height = 0;
  scroll = 0;
  hovered = -1;
  /** The slice that the view speaks of, -1 none. */
  current = -1;
  selected: Marked;
  found: Marked;
  range: readonly [number, number] | null = null;
  /** A range that is being drawn out. */
  preview: readonly [number, number] | null = null;
  /** Where the pointer is, null outside. */
  pointer: { x: number; y: number } | null = null;

  constructor(slices: Slices, names: Names) {
    this.slices = slices;
    this.names = names;
    this.rows = trackRows(slices);
    this.tracksHeight = this.rows.at(-1)?.bottom ?? 0;
    this.viewport = new Viewport(slices.start, slices.end);
    this.selected = this.found = new Marked(slices, []);
  }

  get naturalHeight(): number {
    return TOP + this.tracksHeight;
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.scrollBy(0);
  }

  scrollBy(pixels: number): void {
    const most = Math.max(0, this.naturalHeight - this.height);
    this.scroll = Math.min(Math.max(0, this.scroll + pixels), most);
  }

  x(ns: number): number {
    return ((ns - this.viewport.start) / this.viewport.span) * this.width;
  }

  ns(x: number): number {
    return this.viewport.start + (x / this.width) * this.viewport.span;
  }

  /** The same of the overview, which always shows all. */
  overviewX(ns: number): number {
    return ((ns - this.viewport.first) / this.viewport.whole) * this.width;
  }

  overviewNs(x: number): number {
    return this.viewport.first + (x / this.width) * this.viewport.whole;
  }

  zone(y: number): Zone {
    return y < OVERVIEW ? "overview" : y < TOP ? "axis" : "tracks";
  }

  /** Top of a slice's lane on the stage, and its height. */
  laneBox(row: TrackRow, lane: number): { y: number; height: number } {
    if (lane < 0) return { y: TOP - this.scroll + row.instantsTop, height: 7 };
    return {
      y: TOP - this.scroll + row.lanesTop + lane * row.laneHeight,
      height: row.laneHeight - 2,
    };
  }

  /** Moves and zooms as little as needed for a slice to be seen. */
  reveal(slice: number): void {
    const place = this.slices.place(slice);
    if (!place) return;
    this.viewport.reveal(this.slices.startOf(slice), this.slices.endOf(slice));
    const { y, height } = this.laneBox(this.rows[place.track]!, place.lane);
    if (y < TOP) this.scrollBy(y - TOP);
    else if (y + height > this.height) this.scrollBy(y + height - this.height);
  }

  hit(x: number, y: number): Hit | null {
    const down = y - TOP + this.scroll;
    const row = this.rows.find((each) => down >= each.top && down < each.bottom);
    if (!row || this.zone(y) !== "tracks") return null;
    const [from, to] = [this.ns(x - NEAR), this.ns(x + NEAR)];
    if (row.instantsTop >= 0 && down >= row.instantsTop) return instantHit(row, from, to);
    const lane = row.track.lanes[Math.floor((down - row.lanesTop) / row.laneHeight)];
    if (!lane || down < row.lanesTop) return null;
    const at = this.ns(x);
    const pixel = this.viewport.span / this.width;
    const next = upperBound(lane.end, at);
    const { first: before, last: after } = this.viewport;
    const [gapFrom, gapTo] = [next > 0 ? lane.end[next - 1]! : before, lane.start[next] ?? after];
    const inside = gapTo <= at;
    if (inside && lane.end[next]! - gapTo >= pixel)
      return { slice: lane.slice[next]!, instants: 0 };
    const wideGap = !inside && gapTo - gapFrom > 2 * NEAR * pixel;
    const near = lane.dominant(at - pixel / 2, at + pixel / 2);
    const position = near >= 0 || wideGap ? near : lane.dominant(from, to);
    if (position >= 0) return { slice: lane.slice[position]!, instants: 0 };
    if (row.track.lanes.length > 1) return null;
    return { gap: [gapFrom, gapTo], track: row.track.name };
  }
}

function instantHit(row: TrackRow, from: number, to: number): Hit | null {
  const { start, slice } = row.track.instants;
  const first = lowerBound(start, from);
  const count = upperBound(start, to) - first;
  return count > 0 ? { slice: slice[first]!, instants: count } : null;
}
