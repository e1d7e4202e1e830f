import { RowKind } from "../../shared/client/timeline_columns.ts";
import { type ChartBrush, FONT } from "../../shared/drawing/brush.ts";
import type { Rectangle } from "../../shared/drawing/canvas.ts";
import { channels, type Theme } from "../../shared/drawing/theme.ts";
import { duration } from "../../shared/format.ts";
import { largest } from "../../shared/many.ts";
import { ticks } from "../data/names.ts";
import type { Row } from "../data/row.ts";
import type { Fills } from "./fills.ts";
import { Headers, SliceLabels } from "./headers.ts";
import { AXIS, OVERVIEW, type TimelineScene, TOP } from "./scene.ts";
import type { Strip, StripLines } from "./strips.ts";

const BOX_FROM = 3;
const MOST_LABELS = 400;
/** Height of a row with two lines of text. */
const TWO_LINES = 32;
/** Time for refilling lines in one frame, milliseconds; the rest is stretched and refilled in the next. */
const BUDGET_MS = 4;

export interface DrawnTracks {
  labels: (Rectangle & { text: string })[];
  marks: (Rectangle & {
    slice: number;
    /** Index in `run.timeline`. */
    source: number;
    node: number;
    kind: "slice" | "column" | "instant";
    share: number;
  })[];
}

export class TracksPainter {
  readonly #scene: TimelineScene;
  readonly #brush: ChartBrush;
  readonly #fills: Fills;
  readonly #lines: StripLines;
  readonly #labels: SliceLabels;
  readonly #headers: Headers;
  #ratio = 1;
  #marks: DrawnTracks["marks"] = [];
  #record = false;
  #written = 0;
  #visible: [top: number, bottom: number] = [0, 0];

  constructor(scene: TimelineScene, brush: ChartBrush, fills: Fills, lines: StripLines) {
    this.#scene = scene;
    this.#brush = brush;
    this.#fills = fills;
    this.#lines = lines;
    this.#labels = new SliceLabels(scene.names, brush.measure);
    const write = this.#text.bind(this);
    this.#headers = new Headers(scene, brush, write);
  }

  /** Paints with this many columns per CSS pixel; returns true if all is at full resolution, as with `record`. */
  paint(theme: Theme, ratio: number, record = false): boolean {
    this.#brush.start(theme);
    this.#record = record;
    this.#ratio = ratio;
    this.#marks = [];
    this.#written = 0;
    const { width, height } = this.#scene;
    this.#visible = [0, height];
    this.#grid();
    this.#visible = [TOP, height];
    this.#brush.clip(0, TOP, width, height - TOP);
    this.#tracks();
    this.#brush.context.restore();
    return !this.#lines.stale;
  }

  get drawn(): DrawnTracks {
    return { labels: this.#brush.drawn.labels, marks: this.#marks };
  }

  #text(...[text, x, y, ...look]: Parameters<ChartBrush["text"]>): number {
    return this.#isVisible(y) ? this.#brush.text(text, x, y, ...look) : 0;
  }

  #isVisible(y: number): boolean {
    return y - FONT / 2 >= this.#visible[0] && y + FONT / 2 <= this.#visible[1];
  }

  #grid(): void {
    const { width, height, viewport } = this.#scene;
    const middle = OVERVIEW + AXIS / 2;
    this.#brush.fill(this.#brush.theme.line, 0, TOP - 1, width, 1);
    for (let most = Math.max(2, Math.floor(width / 70)); most >= 1; most--) {
      const times = ticks(viewport.start, viewport.end, most);
      this.#brush.font();
      const widest = largest([0, ...times.map(({ text }) => this.#brush.measure.width(text))]);
      const apart =
        times.length > 1 ? this.#scene.x(times[1]!.ns) - this.#scene.x(times[0]!.ns) : Infinity;
      if (apart < widest + 14 && most > 1) continue;
      for (const { ns, text } of times) {
        const x = this.#scene.x(ns);
        this.#brush.fill(this.#brush.theme.line, Math.round(x), TOP - 6, 1, 6);
        this.#brush.fill(this.#brush.theme.line, Math.round(x), TOP, 1, height - TOP, 0.45);
        const room = this.#brush.measure.width(text);
        if (x + 4 + room < width) this.#text(text, x + 4, middle, this.#brush.theme.muted, room);
      }
      return;
    }
  }

  #tracks(): void {
    const { width, viewport } = this.#scene;
    const seen = this.#scene.visibleRows;
    const columns = Math.round(width * this.#ratio);
    const view = {
      start: viewport.start,
      step: viewport.span / columns,
      width: columns,
      rows: seen.length,
      ratio: this.#ratio,
    };
    const [red, green, blue] = channels(this.#brush.theme.muted);
    const budget = this.#record ? Infinity : BUDGET_MS;
    this.#scene.bins.look(viewport, view.step);
    this.#lines.begin(view, (blue << 16) | (green << 8) | red, budget);
    const strips = seen.map((row) => this.#lines.line(row));
    this.#lines.flush();
    for (const row of seen) this.#ground(row);
    seen.forEach((row, i) => {
      const { y, height } = this.#scene.rowBox(row);
      this.#lines.draw(this.#brush.context, strips[i]!, y, height);
    });
    this.#brush.font();
    this.#labels.begin(this.#brush.context.font);
    seen.forEach((row, i) => {
      this.#boxes(row, strips[i]!);
    });
    this.#missing(view.step);
    this.#headers.paint();
    this.#brush.font();
    seen.forEach((row, i) => {
      this.#depth(row, strips[i]!);
      this.#idle(row, strips[i]!);
    });
  }

  /** Hatches the parts that have only coarse bins so far. */
  #missing(step: number): void {
    const { viewport, bins, height } = this.#scene;
    for (const [from, to] of bins.missing(viewport.start, viewport.end, step)) {
      const [left, right] = [this.#scene.x(from), this.#scene.x(to)];
      const box = { x: left, y: 0, width: right - left, height };
      this.#brush.hatch(this.#brush.theme.muted, box, 0.35, 9);
    }
  }

  #ground(row: Row): void {
    if (row.kind === RowKind.INSTANT) return;
    const { y, height } = this.#scene.rowBox(row);
    const { width } = this.#scene;
    if (row.kind === RowKind.OVERLAP) {
      this.#brush.fill(this.#brush.theme.warning, 0, y, width, height, 0.1);
      this.#brush.fill(this.#brush.theme.warning, 0, y, 3, height);
    } else if (row.depth === 0)
      this.#brush.fill(this.#brush.theme.surface, 0, y, width, height, 0.75);
  }

  #boxes(row: Row, strip: Strip): void {
    const { width } = this.#scene;
    const { y, height } = this.#scene.rowBox(row);
    const columns = strip.slice.length;
    const least = this.#lines.columns(strip, FONT * this.#ratio) - 1;
    for (let column = 0; column < columns; ) {
      const slice = strip.slice[column]!;
      const share = strip.share[column]!;
      if (slice < 0 || (share < 1 && !this.#record)) {
        column++;
        continue;
      }
      const end = strip.runEnd(column, columns);
      if (end - column < least && !this.#record) {
        column = end;
        continue;
      }
      let left = this.#lines.x(strip, column) / this.#ratio;
      let right = this.#lines.x(strip, end) / this.#ratio;
      const first = column;
      column = end;
      if (right < 0 || left > width) continue;
      if (this.#record) {
        const node = this.#nodeOf(strip, first);
        const isBox = share === 1 && right - left >= BOX_FROM;
        const kind = row.kind === RowKind.INSTANT ? "instant" : isBox ? "slice" : "column";
        const count = kind === "instant" ? this.#instants(row, first, strip) : share;
        const source = this.#scene.slices.sourceOf(slice);
        const mark = {
          slice,
          source,
          node,
          kind,
          x: left,
          y,
          width: right - left,
          height,
        } as const;
        this.#marks.push({ ...mark, share: count });
      }
      if (share < 1 || row.kind === RowKind.INSTANT) continue;
      left = Math.max(0, left);
      right = Math.min(width, right);
      if (right - left < FONT || height < FONT + 2 || this.#written > MOST_LABELS) continue;
      this.#label(strip, first, left, y, right - left, height);
    }
  }

  /** Number of slices without duration in a pixel. */
  #instants(row: Row, column: number, strip: Strip): number {
    const from = (strip.origin + column) * strip.step;
    const [first, last] = row.range(from, from + strip.step * this.#ratio);
    return last - first;
  }

  #nodeOf(strip: Strip, column: number): number {
    const source = strip.coarse ? strip.binOf(column) : null;
    return source ? source[0].nodeOf(source[1]) : this.#scene.slices.nodeOf(strip.slice[column]!);
  }

  #label(strip: Strip, column: number, x: number, y: number, width: number, height: number): void {
    const { slices } = this.#scene;
    const slice = strip.slice[column]!;
    const bin = strip.coarse ? strip.binOf(column) : null;
    const node = this.#nodeOf(strip, column);
    const label = this.#labels.of(
      node,
      bin ? bin[0].labelOf(bin[1]) : this.#scene.names.recorded(slice),
    );
    const fill = bin ? this.#fills.ofBin(...bin) : this.#fills.of(slice);
    const ink = this.#fills.ink[fill]!;
    const two = height >= TWO_LINES;
    const middle = y + height / 2;
    const text = this.#labels.fit(label, width);
    if (!text) return;
    const line = two ? middle - 7 : middle;
    if (!this.#isVisible(line)) return;
    const isId = text === label.id && text !== label.full;
    const left = isId ? x + Math.min(4, (width - label.idWidth) / 2) : x + 4;
    this.#brush.write(text, left, line, ink);
    this.#written++;
    if (!two || isId || !this.#isVisible(middle + 8)) return;
    const lasts = slices.durationOf(slice);
    const time = Number.isFinite(lasts) ? slices.timeText(lasts) : "";
    if (time && this.#brush.measure.width(time) <= width - 6) {
      this.#brush.write(time, x + 4, middle + 8, ink);
    }
  }

  /** Labels a row's level or lane if its beginning is idle. */
  #depth(row: Row, { share }: Strip): void {
    const isLane = row.kind === RowKind.OVERLAP;
    if (row.kind === RowKind.INSTANT || (row.depth === 0 && !isLane)) return;
    const { y, height } = this.#scene.rowBox(row);
    const text = isLane ? `overlaps, lane ${row.depth + 1}` : `depth ${row.depth}`;
    const room = this.#brush.measure.width(text) + 16;
    const last = Math.min(share.length, Math.ceil(room * this.#ratio));
    for (let column = 0; column < last; column++) if (share[column]! > 0) return;
    if (this.#isVisible(y + height / 2)) {
      this.#brush.write(text, 8, y + height / 2, this.#brush.theme.muted);
    }
  }

  #idle(row: Row, strip: Strip): void {
    const { slices, viewport, width } = this.#scene;
    const track = slices.tracks[row.track]!;
    if (row !== track.rows[0] || strip.coarse || this.#scene.layout.tracks[row.track]!.folded) {
      return;
    }
    const { y, height } = this.#scene.rowBox(row);
    const middle = y + height / 2;
    if (!this.#isVisible(middle)) return;
    const { share } = strip;
    const least = 70 * this.#ratio;
    for (let column = 0; column < share.length; ) {
      if (share[column]! > 0) {
        column++;
        continue;
      }
      let end = column + 1;
      while (end < share.length && share[end]! <= 0) end++;
      const at = (strip.origin + (column + end) / 2) * strip.step;
      const wide = end - column >= least && at > viewport.start && at < viewport.end;
      column = end;
      const gap = wide ? track.idleAt(at) : null;
      if (!gap || this.#written > MOST_LABELS) continue;
      const text = `idle ${duration(gap[1] - gap[0])}`;
      const [left, right] = [
        Math.max(0, this.#scene.x(gap[0])),
        Math.min(width, this.#scene.x(gap[1])),
      ];
      const wants = this.#brush.measure.width(text);
      if (right - left < wants + 16) continue;
      this.#brush.write(text, (left + right - wants) / 2, middle, this.#brush.theme.muted);
      this.#written++;
    }
  }
}
