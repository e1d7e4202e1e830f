import { RowKind } from "../../shared/client/timeline_columns.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import { Viewport } from "../../shared/drawing/canvas.ts";
import { SeenBins } from "../data/bins.ts";
import { type Flows, MarkedSlices } from "../data/marked.ts";
import type { Names } from "../data/names.ts";
import type { Gap } from "../data/neighbors.ts";
import type { Row } from "../data/row.ts";
import type { Slices } from "../data/slices.ts";
import type { Edge, Measure } from "./measure.ts";
import { type Heading, type RowLimits, TrackLayout, type TrackRow } from "./rows.ts";

export const OVERVIEW = 26;
export const AXIS = 20;
export const TOP = OVERVIEW + AXIS;
/** Distance up to which the pointer hits a slice, in CSS pixels. */
const NEAR = 3;

export type TimelineHit = { slice: number; instants: number } | { gap: Gap };

export type Zone = "overview" | "axis" | "tracks";

export type TimeSpan = readonly [from: number, to: number];

/** Plot over time below the tracks, such as a counter. */
export interface Band {
  readonly height: number;
  /** Paints it with its top at `y`. */
  paint(brush: ChartBrush, scene: TimelineScene, y: number): void;
  /** Lines about a point of the band. */
  at(x: number, y: number): string[];
}

/** Contents and geometry of the stage; independent of the DOM. */
export class TimelineScene {
  readonly layout: TrackLayout;
  readonly bins: SeenBins;
  /** Called when the height of the tracks changes. */
  onLayout: () => void = () => {};
  bands: readonly Band[] = [];
  /** True if bands are low, to leave room for the tracks. */
  isLow = false;
  /** Arrows between slices, once loaded. */
  flows: Flows | null = null;
  readonly viewport: Viewport;
  width = 0;
  height = 0;
  scroll = 0;
  hovered = -1;
  /** The current slice, or -1. */
  current = -1;
  selected: MarkedSlices;
  hits: MarkedSlices;
  /** Slices of nodes where a fault began, and of those it spread to; null without faults. */
  faults: {
    origin: MarkedSlices;
    spread: MarkedSlices;
    /** Times of such slices, ns; merged within a pixel of the overview. */
    origins: readonly TimeSpan[];
    spans: readonly TimeSpan[];
  } | null = null;
  /** Slices of the critical path; null unless it is marked. */
  critical: MarkedSlices | null = null;
  range: readonly [number, number] | null = null;
  preview: readonly [number, number] | null = null;
  gap: Gap | null = null;
  measure: Measure | null = null;
  /** True if ranges and measures snap to edges of slices, and the edge near the pointer. */
  snaps = true;
  snapped: Edge | null = null;
  /** Position of the pointer, null outside. */
  pointer: { x: number; y: number } | null = null;

  constructor(
    readonly slices: Slices,
    readonly names: Names,
    most?: RowLimits,
  ) {
    this.layout = new TrackLayout(slices, most);
    this.bins = new SeenBins(slices);
    this.viewport = new Viewport(slices.start, slices.end);
    this.selected = this.hits = new MarkedSlices(slices.count);
  }

  /** What a view opens on: the executions, without loading; null for all. */
  get opening(): TimeSpan | null {
    return this.slices.columns.info.opens;
  }

  /** True if the opening is visible, and only that. */
  get isOpening(): boolean {
    const { start, end } = this.viewport;
    return this.opening !== null && start === this.opening[0] && end === this.opening[1];
  }

  /** Rows of slices are low, to leave room. */
  set isCompact(isCompact: boolean) {
    this.layout.compact(isCompact);
  }

  get tracksHeight(): number {
    return this.bands.reduce((sum, { height }) => sum + height, this.layout.height);
  }

  get naturalHeight(): number {
    return TOP + this.tracksHeight;
  }

  /** Height of a stage, up to `most`, that cuts no band. */
  heightWithin(most: number): number {
    if (TOP + this.layout.height > most) return most;
    let height = TOP + this.layout.height;
    for (const band of this.bands) {
      if (height + band.height > most) break;
      height += band.height;
    }
    return height;
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

  /** Width of the axis. */
  get room(): number {
    return this.width;
  }

  at(x: number): number {
    return this.viewport.start + (x / this.width) * this.viewport.span;
  }

  /** x of a time in the overview, which always shows all. */
  overviewX(ns: number): number {
    return ((ns - this.viewport.first) / this.viewport.whole) * this.width;
  }

  overviewNs(x: number): number {
    return this.viewport.first + (x / this.width) * this.viewport.whole;
  }

  zone(y: number): Zone {
    return y < OVERVIEW ? "overview" : y < TOP ? "axis" : "tracks";
  }

  /** Top and height of a row of slices on the stage; far above if it is hidden. */
  rowBox(row: Row): { y: number; height: number } {
    const box = this.layout.box(row);
    if (!box) return { y: -1e6, height: 0 };
    return { y: TOP - this.scroll + box.y, height: box.height };
  }

  /** Rows on the stage; of folded tracks the lowest. */
  get visibleRows(): Row[] {
    return this.slices.rows.filter((row) => {
      const { y, height } = this.rowBox(row);
      const place = this.layout.tracks[row.track]!;
      const isSeen = !place.folded || row === place.track.rows[0];
      return isSeen && height > 0 && y <= this.height && y + height >= TOP;
    });
  }

  /** Folds or unfolds the track or heading whose name is at (x, y); returns a description or "". */
  foldAt(x: number, y: number): string {
    const head = this.headAt(x, y);
    if (!head) return "";
    return this.#folded(this.layout.fold(head));
  }

  headAt(x: number, y: number): Heading | TrackRow | null {
    const isThere = this.zone(y) === "tracks";
    const head = isThere ? this.layout.headAt(y - TOP + this.scroll) : null;
    return head && x <= head.nameEnd + 4 ? head : null;
  }

  /** Folds or unfolds the track of the current slice, else the first. */
  foldCurrent(): string {
    const track = Math.max(0, this.slices.trackOf(this.current));
    const head = this.layout.tracks[track];
    return this.#folded(head ? this.layout.fold(head) : "");
  }

  #folded(text: string): string {
    this.scrollBy(0);
    this.onLayout();
    return text;
  }

  bandAt(x: number, y: number): string[] | null {
    let top = TOP - this.scroll + this.layout.height;
    for (const band of this.bands) {
      if (y >= top && y < top + band.height) return band.at(x, y - top);
      top += band.height;
    }
    return null;
  }

  /** Moves and zooms as little as makes a slice visible. */
  reveal(slice: number): void {
    const row = this.slices.rows[this.slices.rowOf(slice)];
    if (!row) return;
    const { height: before } = this.layout;
    this.layout.unfold(row.track);
    if (this.layout.height !== before) this.onLayout();
    this.viewport.reveal(this.slices.startOf(slice), this.slices.endOf(slice));
    const { y, height } = this.rowBox(row);
    if (y < TOP) this.scrollBy(y - TOP);
    else if (y + height > this.height) this.scrollBy(y + height - this.height);
  }

  /** The visible part of a hit on the stage. */
  boxOf(hit: TimelineHit): { x: number; y: number; width: number; height: number } | null {
    const { slices } = this;
    const isSlice = "slice" in hit;
    const row = isSlice
      ? slices.rows[slices.rowOf(hit.slice)]
      : slices.tracks[hit.gap.track]!.rows[0];
    if (!row) return null;
    const [from, to] = isSlice
      ? [slices.startOf(hit.slice), slices.endOf(hit.slice)]
      : [hit.gap.from, hit.gap.to];
    const [left, right] = [from, to].map((ns) => Math.min(Math.max(0, this.x(ns)), this.width));
    return { x: left!, width: Math.max(1, right! - left!), ...this.rowBox(row) };
  }

  hit(x: number, y: number): TimelineHit | null {
    const row = this.zone(y) === "tracks" ? this.layout.rowAt(y - TOP + this.scroll) : null;
    if (!row || !this.slices.holds(this.at(x), this.at(x))) return null;
    const track = this.slices.tracks[row.track]!;
    const [from, to] = [this.at(x - NEAR), this.at(x + NEAR)];
    if (row.kind === RowKind.INSTANT) {
      const [first, last] = row.range(from, to);
      return last > first ? { slice: first, instants: last - first } : null;
    }
    const at = this.at(x);
    const pixel = this.viewport.span / this.width;
    const next = row.endingAfter(at);
    const isInside = next < row.last && this.slices.startOf(next) <= at;
    if (isInside && this.slices.durationOf(next) >= pixel) return { slice: next, instants: 0 };
    const gap = track.idleAt(at);
    const wideGap = gap && gap[1] - gap[0] > 2 * NEAR * pixel;
    const near = row.dominant(at - pixel / 2, at + pixel / 2);
    const slice = near >= 0 || wideGap ? near : row.dominant(from, to);
    if (slice >= 0) return { slice, instants: 0 };
    return gap && row === track.rows[0]
      ? { gap: { track: track.number, from: gap[0], to: gap[1] } }
      : null;
  }
}
