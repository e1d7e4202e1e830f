import { Viewport } from "../shared/viewport.ts";
import { Marked } from "./marked.ts";
import type { Names } from "./names.ts";
import { type TrackRow, trackRows } from "./rows.ts";
import { type Row, RowKind, type Slices } from "./slices.ts";

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
    this.selected = this.found = new Marked(slices.count);
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

  /** Top of a row of slices on the stage, and its height. */
  rowBox(row: Row): { y: number; height: number } {
    const place = this.rows[row.track]!;
    const top = TOP - this.scroll;
    if (row.kind === RowKind.INSTANT) return { y: top + place.instantsTop, height: 7 };
    const at = row.number - place.track.rows[0]!.number;
    return { y: top + place.rowsTop + at * place.rowHeight, height: place.rowHeight - 2 };
  }

  /** Moves and zooms as little as needed for a slice to be seen. */
  reveal(slice: number): void {
    const row = this.slices.rows[this.slices.rowOf(slice)];
    if (!row) return;
    this.viewport.reveal(this.slices.startOf(slice), this.slices.endOf(slice));
    const { y, height } = this.rowBox(row);
    if (y < TOP) this.scrollBy(y - TOP);
    else if (y + height > this.height) this.scrollBy(y + height - this.height);
  }

  hit(x: number, y: number): Hit | null {
    const down = y - TOP + this.scroll;
    const place = this.rows.find((each) => down >= each.top && down < each.bottom);
    if (!place || this.zone(y) !== "tracks") return null;
    const { track } = place;
    const [from, to] = [this.ns(x - NEAR), this.ns(x + NEAR)];
    if (track.instants && down >= place.instantsTop) {
      const [first, last] = track.instants.range(from, to);
      return last > first ? { slice: first, instants: last - first } : null;
    }
    const row = track.rows[Math.floor((down - place.rowsTop) / place.rowHeight)];
    if (!row || down < place.rowsTop) return null;
    const at = this.ns(x);
    const pixel = this.viewport.span / this.width;
    const next = row.endingAfter(at);
    const isInside = next < row.last && this.slices.startOf(next) <= at;
    if (isInside && this.slices.durationOf(next) >= pixel) return { slice: next, instants: 0 };
    const gap = track.idleAt(at);
    const wideGap = gap && gap[1] - gap[0] > 2 * NEAR * pixel;
    const near = row.dominant(at - pixel / 2, at + pixel / 2);
    const slice = near >= 0 || wideGap ? near : row.dominant(from, to);
    if (slice >= 0) return { slice, instants: 0 };
    return gap && row === track.rows[0] ? { gap, track: track.name } : null;
  }
}
