import type { Layer, TextMeasure } from "../../shared/drawing/canvas.ts";
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
  readonly #measure: TextMeasure;
  readonly #context: CanvasRenderingContext2D;
  readonly #marks: MeasurePainter;
  #theme!: Theme;

  constructor(scene: TimelineScene, { context }: Layer, measure: TextMeasure) {
    this.#scene = scene;
    this.#measure = measure;
    this.#context = context;
    this.#marks = new MeasurePainter(scene, context, measure);
  }

  paint(theme: Theme): void {
    this.#theme = theme;
    const { width, height } = this.#scene;
    const range = this.#scene.preview ?? this.#scene.range;
    this.#viewportBox();
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(0, TOP, width, height - TOP);
    context.clip();
    if (range) this.#range(range);
    if (this.#scene.faults) this.#spread(this.#scene.faults.spread);
    if (this.#scene.critical) this.#critical(this.#scene.critical);
    this.#paintHits(this.#scene.hits);
    this.#outlines(this.#scene.selected);
    this.#outline(this.#scene.hovered, 1.5);
    this.#outline(this.#scene.current, 3);
    if (this.#scene.faults) this.#origins(this.#scene.faults.origin);
    this.#marks.paint(theme);
    const { flows } = this.#scene;
    if (flows) paintFlows(context, flows, this.#scene, theme);
    context.restore();
    this.#marks.paintHits(theme);
    this.#overviewMarks();
    this.#scrollbar();
    this.#cursor();
  }

  #scrollbar(): void {
    const { width, height, naturalHeight, scroll, tracksHeight } = this.#scene;
    if (naturalHeight <= height) return;
    const room = height - TOP;
    this.#context.fillStyle = this.#theme.muted;
    const length = (room / tracksHeight) * room;
    this.#context.fillRect(width - 4, TOP + (scroll / tracksHeight) * room, 3, length);
  }

  #viewportBox(): void {
    const { width, viewport } = this.#scene;
    const context = this.#context;
    const left = this.#scene.overviewX(viewport.start);
    const right = Math.max(this.#scene.overviewX(viewport.end), left + LEAST);
    context.fillStyle = this.#theme.background;
    context.globalAlpha = 0.65;
    context.fillRect(0, 0, left, OVERVIEW);
    context.fillRect(right, 0, width - right, OVERVIEW);
    context.globalAlpha = 1;
    context.strokeStyle = viewport.all ? this.#theme.line : this.#theme.accent;
    context.lineWidth = viewport.all ? 1 : 2;
    context.strokeRect(left + 1, 1, right - left - 2, OVERVIEW - 2);
  }

  #range([from, to]: readonly [number, number]): void {
    const { height } = this.#scene;
    const [left, right] = [this.#scene.x(from), this.#scene.x(to)];
    const context = this.#context;
    context.fillStyle = this.#theme.accent;
    context.globalAlpha = 0.14;
    context.fillRect(left, TOP, right - left, height - TOP);
    context.globalAlpha = 1;
    for (const x of [left, right]) context.fillRect(Math.round(x) - 0.5, TOP, 1, height - TOP);
  }

  #paintHits(hits: MarkedSlices): void {
    if (hits.count) this.#dimOthers(hits);
    this.#eachSlice(hits, (x, y, width) => {
      this.#context.fillStyle = this.#theme.background;
      this.#context.fillRect(x - 1, y - 3, width + 2, 5);
      this.#context.fillStyle = this.#theme.warning;
      this.#context.fillRect(x, y - 2, width, 3);
    });
  }

  #dimOthers(hits: MarkedSlices): void {
    const { slices, viewport, width: stage } = this.#scene;
    const context = this.#context;
    context.fillStyle = this.#theme.background;
    context.globalAlpha = 0.65;
    for (const row of slices.rows) {
      const { y, height } = this.#scene.rowBox(row);
      if (y > this.#scene.height || y + height < TOP) continue;
      const [first, last] = row.range(viewport.start, viewport.end);
      let from = 0;
      for (let slice = hits.next(first, last); slice >= 0; ) {
        const left = this.#scene.x(slices.startOf(slice));
        if (left > from) context.fillRect(from, y, left - from, height);
        from = Math.max(from, left + 1, this.#scene.x(slices.endOf(slice)));
        slice = hits.next(row.beyond(this.#scene.at(Math.floor(left) + 1), slice), last);
      }
      if (from < stage) context.fillRect(from, y, stage - from, height);
    }
    context.globalAlpha = 1;
  }

  /** A tint and a dashed line along the upper edge. */
  #spread(spread: MarkedSlices): void {
    const context = this.#context;
    this.#eachSlice(spread, (x, y, width, height) => {
      context.fillStyle = this.#theme.error;
      context.globalAlpha = 0.2;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
      context.fillStyle = this.#theme.background;
      context.fillRect(x, y, width, 3);
      context.fillStyle = this.#theme.error;
      for (let at = x; at < x + width; at += 6)
        context.fillRect(at, y, Math.min(4, x + width - at), 2);
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
    this.#eachSlice(critical, (x, y, width, height) => {
      this.#context.fillStyle = this.#theme.background;
      this.#context.fillRect(x, y + height - 5, width, 5);
      this.#context.fillStyle = this.#theme.error;
      this.#context.fillRect(x, y + height - 4, width, 4);
      if (width >= 6) this.#context.fillRect(x, y + height - 8, 2, 8);
    });
  }

  #outlines(marked: MarkedSlices): void {
    this.#eachSlice(marked, (x, y, width, height) => {
      if (width >= 8) this.#frame(x, y, width, height, 1.5);
      else {
        this.#context.fillStyle = this.#theme.text;
        for (const edge of [y - 2, y + height - 1]) this.#context.fillRect(x, edge, width, 3);
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
    const context = this.#context;
    const out = width < 8 ? line / 2 : 0;
    const halo = line / 2 + 0.75;
    const stroke = (color: string, thick: number, by: number) => {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.strokeRect(x - by, y - by, Math.max(0, width + 2 * by), Math.max(0, height + 2 * by));
    };
    stroke(this.#theme.background, 1.5, out > 0 ? out + halo : -halo);
    stroke(color, line, out);
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
    const context = this.#context;
    if (range) {
      const left = this.#scene.overviewX(range[0]);
      context.fillStyle = this.#theme.accent;
      context.fillRect(
        left,
        OVERVIEW - 3,
        Math.max(LEAST, this.#scene.overviewX(range[1]) - left),
        3,
      );
    }
    const { origins, spans } = this.#scene.faults ?? { origins: [], spans: [] };
    context.fillStyle = this.#theme.error;
    for (const [from, to] of spans) {
      const left = this.#scene.overviewX(from);
      context.fillRect(left, 0, Math.max(1, this.#scene.overviewX(to) - left), 2);
    }
    for (const [from] of origins) {
      const x = this.#scene.overviewX(from);
      context.fillStyle = this.#theme.background;
      context.fillRect(x - 1, 0, 5, OVERVIEW);
      context.fillStyle = this.#theme.error;
      context.fillRect(x, 0, 3, OVERVIEW);
    }
    if (current < 0) return;
    const left = this.#scene.overviewX(slices.startOf(current));
    const width = Math.max(3, this.#scene.overviewX(slices.endOf(current)) - left);
    context.fillStyle = this.#theme.background;
    context.fillRect(left - 1, OVERVIEW - 8, width + 2, 8);
    context.fillStyle = this.#theme.text;
    context.fillRect(left, OVERVIEW - 7, width, 5);
  }

  #cursor(): void {
    const { pointer, width, height, viewport } = this.#scene;
    if (!pointer) return;
    const context = this.#context;
    context.fillStyle = this.#theme.text;
    const overview = this.#scene.zone(pointer.y) === "overview";
    const at = overview ? this.#scene.overviewNs(pointer.x) : this.#scene.at(pointer.x);
    context.globalAlpha = 0.55;
    if (overview) context.fillRect(Math.round(pointer.x), 0, 1, OVERVIEW);
    else context.fillRect(Math.round(pointer.x), OVERVIEW, 1, height - OVERVIEW);
    context.globalAlpha = 1;
    const step = (overview ? viewport.whole : viewport.span) / width;
    const text = at === 0 ? duration(0) : timeText(at, 10 ** Math.floor(Math.log10(step)));
    context.font = `600 11px ${this.#theme.font}`;
    context.textBaseline = "middle";
    const room = this.#measure.width(text) + 8;
    const x = Math.min(Math.max(0, pointer.x - room / 2), width - room);
    context.fillStyle = this.#theme.text;
    context.fillRect(x, OVERVIEW + 2, room, AXIS - 4);
    context.fillStyle = this.#theme.background;
    context.fillText(text, x + 4, OVERVIEW + AXIS / 2 + 0.5);
  }
}
