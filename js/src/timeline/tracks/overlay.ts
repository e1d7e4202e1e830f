import { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Layer } from "../../shared/drawing/canvas.ts";
import { BADGE, paintBadge, type Theme } from "../../shared/drawing/theme.ts";
import { duration } from "../../shared/format.ts";
import type { MarkedSlices } from "../data/marked.ts";
import { timeText } from "../data/names.ts";
import { MeasurePainter, paintFlows } from "./measure_painter.ts";
import { AXIS, OVERVIEW, type TimelineScene, TOP } from "./scene.ts";

const LEAST = 2;

/** Paints what does not depend on the visible part: cursor, hover, selection, hits, range. */
export class TimelineOverlay {
  readonly #scene: TimelineScene;
  readonly #context: CanvasRenderingContext2D;
  readonly #brush: ChartBrush;
  readonly #marks: MeasurePainter;

  constructor(scene: TimelineScene, { context }: Layer) {
    this.#scene = scene;
    this.#context = context;
    this.#brush = new ChartBrush(context);
    this.#marks = new MeasurePainter(scene, this.#brush);
  }

  get #theme(): Theme {
    return this.#brush.theme;
  }

  paint(theme: Theme): void {
    this.#brush.start(theme);
    const { width, height } = this.#scene;
    const range = this.#scene.preview ?? this.#scene.range;
    this.#viewportBox();
    this.#brush.clip(0, TOP, width, height - TOP);
    if (range) this.#range(range);
    if (this.#scene.faults) this.#spread(this.#scene.faults.spread);
    if (this.#scene.critical) this.#critical(this.#scene.critical);
    this.#paintHits(this.#scene.hits);
    this.#outlines(this.#scene.selected);
    this.#outline(this.#scene.hovered, 1.5);
    this.#outline(this.#scene.current, 3);
    if (this.#scene.faults) this.#origins(this.#scene.faults.origin);
    this.#marks.paint();
    const { flows } = this.#scene;
    if (flows) paintFlows(this.#context, flows, this.#scene, theme);
    this.#context.restore();
    this.#marks.paintHits();
    this.#overviewMarks();
    this.#scrollbar();
    this.#cursor();
  }

  #scrollbar(): void {
    const { width, height, naturalHeight, scroll, tracksHeight } = this.#scene;
    if (naturalHeight <= height) return;
    const room = height - TOP;
    const length = (room / tracksHeight) * room;
    const top = TOP + (scroll / tracksHeight) * room;
    this.#brush.fill(this.#theme.muted, width - 4, top, 3, length);
  }

  #viewportBox(): void {
    const { width, viewport } = this.#scene;
    const context = this.#context;
    const left = this.#scene.overviewX(viewport.start);
    const right = Math.max(this.#scene.overviewX(viewport.end), left + LEAST);
    this.#brush.fill(this.#theme.background, 0, 0, left, OVERVIEW, 0.65);
    this.#brush.fill(this.#theme.background, right, 0, width - right, OVERVIEW, 0.65);
    context.strokeStyle = viewport.all ? this.#theme.line : this.#theme.accent;
    context.lineWidth = viewport.all ? 1 : 2;
    context.strokeRect(left + 1, 1, right - left - 2, OVERVIEW - 2);
  }

  #range([from, to]: readonly [number, number]): void {
    const { height } = this.#scene;
    const [left, right] = [this.#scene.x(from), this.#scene.x(to)];
    const { accent } = this.#theme;
    this.#brush.fill(accent, left, TOP, right - left, height - TOP, 0.14);
    for (const x of [left, right]) {
      this.#brush.fill(accent, Math.round(x) - 0.5, TOP, 1, height - TOP);
    }
  }

  #paintHits(hits: MarkedSlices): void {
    if (hits.count) this.#dimOthers(hits);
    this.#eachSlice(hits, (x, y, width) => {
      this.#brush.fill(this.#theme.background, x - 1, y - 3, width + 2, 5);
      this.#brush.fill(this.#theme.warning, x, y - 2, width, 3);
    });
  }

  #dimOthers(hits: MarkedSlices): void {
    const { slices, viewport, width: stage } = this.#scene;
    const dim = (from: number, to: number, y: number, height: number) =>
      this.#brush.fill(this.#theme.background, from, y, to - from, height, 0.65);
    for (const row of slices.rows) {
      const { y, height } = this.#scene.rowBox(row);
      if (y > this.#scene.height || y + height < TOP) continue;
      const [first, last] = row.range(viewport.start, viewport.end);
      let from = 0;
      for (let slice = hits.next(first, last); slice >= 0; ) {
        const left = this.#scene.x(slices.startOf(slice));
        if (left > from) dim(from, left, y, height);
        from = Math.max(from, left + 1, this.#scene.x(slices.endOf(slice)));
        slice = hits.next(row.beyond(this.#scene.at(Math.floor(left) + 1), slice), last);
      }
      if (from < stage) dim(from, stage, y, height);
    }
  }

  /** A tint and a dashed line along the upper edge. */
  #spread(spread: MarkedSlices): void {
    const { background, error } = this.#theme;
    this.#eachSlice(spread, (x, y, width, height) => {
      this.#brush.fill(error, x, y, width, height, 0.2);
      this.#brush.fill(background, x, y, width, 3);
      for (let at = x; at < x + width; at += 6)
        this.#brush.fill(error, at, y, Math.min(4, x + width - at), 2);
    });
  }

  /** A disc with an exclamation mark on the upper left corner, as in the graph. */
  #origins(origins: MarkedSlices): void {
    this.#eachSlice(origins, (x, y, width, height) => {
      this.#frame(x, y, width, height, 2, this.#theme.error);
      paintBadge(this.#context, Math.max(BADGE / 2, x), y + 1, BADGE / 2, this.#theme);
    });
  }

  /** A bar along the lower edge, with a notch at its beginning. */
  #critical(critical: MarkedSlices): void {
    const { background, error } = this.#theme;
    this.#eachSlice(critical, (x, y, width, height) => {
      this.#brush.fill(background, x, y + height - 5, width, 5);
      this.#brush.fill(error, x, y + height - 4, width, 4);
      if (width >= 6) this.#brush.fill(error, x, y + height - 8, 2, 8);
    });
  }

  #outlines(marked: MarkedSlices): void {
    this.#eachSlice(marked, (x, y, width, height) => {
      if (width >= 8) this.#frame(x, y, width, height, 1.5);
      else {
        for (const edge of [y - 2, y + height - 1])
          this.#brush.fill(this.#theme.text, x, edge, width, 3);
      }
    });
  }

  /** A line with a halo around a slice, visible on every fill, at least 2 pixels wide. */
  #frame(
    x: number,
    y: number,
    width: number,
    height: number,
    line: number,
    color = this.#theme.text,
  ): void {
    const out = width < 8 ? line / 2 : 0;
    this.#brush.outline({ x, y, width, height }, line, color, out);
  }

  /** Left edge of a frame: slightly outside at most, so that its least width fits. */
  #left(start: number): number {
    const x = Math.max(-4, this.#scene.x(start));
    return x <= this.#scene.width ? Math.min(x, this.#scene.width - LEAST) : x;
  }

  #eachSlice(
    marked: MarkedSlices,
    draw: (x: number, y: number, width: number, height: number) => void,
  ): void {
    if (!marked.count) return;
    const { slices, viewport, width: stage } = this.#scene;
    for (const row of slices.rows) {
      const { y, height } = this.#scene.rowBox(row);
      if (y > this.#scene.height || y + height < TOP) continue;
      const [first, last] = row.range(viewport.start, viewport.end);
      for (let slice = marked.next(first, last); slice >= 0; ) {
        const left = this.#left(slices.startOf(slice));
        const right = Math.min(stage + 4, this.#scene.x(slices.endOf(slice)));
        draw(left, y, Math.max(LEAST, right - left), height);
        slice = marked.next(row.beyond(this.#scene.at(Math.floor(left) + 1), slice), last);
      }
    }
  }

  #outline(slice: number, line: number): void {
    const row = this.#scene.slices.rows[this.#scene.slices.rowOf(slice)];
    if (!row) return;
    const { y, height } = this.#scene.rowBox(row);
    const left = this.#left(this.#scene.slices.startOf(slice));
    const end = Math.min(this.#scene.width + 4, this.#scene.x(this.#scene.slices.endOf(slice)));
    if (end >= 0) this.#frame(left, y, Math.max(LEAST, end - left), height, line);
  }

  #overviewMarks(): void {
    const { current, slices } = this.#scene;
    const range = this.#scene.preview ?? this.#scene.range;
    const { accent, background, error, text } = this.#theme;
    if (range) {
      const left = this.#scene.overviewX(range[0]);
      const wide = Math.max(LEAST, this.#scene.overviewX(range[1]) - left);
      this.#brush.fill(accent, left, OVERVIEW - 3, wide, 3);
    }
    const { origins, spans } = this.#scene.faults ?? { origins: [], spans: [] };
    for (const [from, to] of spans) {
      const left = this.#scene.overviewX(from);
      this.#brush.fill(error, left, 0, Math.max(1, this.#scene.overviewX(to) - left), 2);
    }
    for (const [from] of origins) {
      const x = this.#scene.overviewX(from);
      this.#brush.fill(background, x - 1, 0, 5, OVERVIEW);
      this.#brush.fill(error, x, 0, 3, OVERVIEW);
    }
    if (current < 0) return;
    const left = this.#scene.overviewX(slices.startOf(current));
    const width = Math.max(3, this.#scene.overviewX(slices.endOf(current)) - left);
    this.#brush.fill(background, left - 1, OVERVIEW - 8, width + 2, 8);
    this.#brush.fill(text, left, OVERVIEW - 7, width, 5);
  }

  #cursor(): void {
    const { pointer, width, height, viewport } = this.#scene;
    if (!pointer) return;
    const overview = this.#scene.zone(pointer.y) === "overview";
    const at = overview ? this.#scene.overviewNs(pointer.x) : this.#scene.at(pointer.x);
    const [top, bottom] = overview ? [0, OVERVIEW] : [OVERVIEW, height];
    this.#brush.fill(this.#theme.text, Math.round(pointer.x), top, 1, bottom - top, 0.55);
    const step = (overview ? viewport.whole : viewport.span) / width;
    const text = at === 0 ? duration(0) : timeText(at, 10 ** Math.floor(Math.log10(step)));
    const middle = OVERVIEW + AXIS / 2;
    this.#brush.plate(text, (room) => pointer.x - room / 2, middle, width, AXIS - 4);
  }
}
