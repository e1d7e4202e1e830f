import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { exactly } from "../areas.ts";
import type { Flows, MarkedSlices } from "../data/marked.ts";
import type { Slices } from "../data/slices.ts";
import type { Edge, Measure } from "./measure.ts";
import { type TimelineScene, TOP } from "./scene.ts";

/** Most arrows per slice. */
const MOST = 200;

/** Draws the arrows of the selected slice and of the one under the pointer. */
export function paintFlows(
  context: CanvasRenderingContext2D,
  flows: Flows,
  scene: TimelineScene,
  theme: Theme,
): void {
  const shown = [...flows.of(scene.current), ...flows.of(scene.hovered)];
  for (const flow of new Set(shown.slice(0, MOST))) {
    const [from, to] = flows.ends(flow);
    const [y1, y2] = [middleOf(scene, from), middleOf(scene, to)];
    if (y1 === null || y2 === null) continue;
    const [x1, x2] = [scene.x(scene.slices.endOf(from)), scene.x(scene.slices.startOf(to))];
    const bend = Math.max(12, Math.min(60, Math.abs(x2 - x1) / 2));
    for (const [color, width] of [
      [theme.background, 4],
      [theme.text, 1.5],
    ] as const) {
      context.strokeStyle = context.fillStyle = color;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      context.stroke();
      context.beginPath();
      context.moveTo(x2, y2);
      context.lineTo(x2 - 8, y2 - 4);
      context.lineTo(x2 - 8, y2 + 4);
      context.fill();
    }
  }
}

/** Middle of a slice's row; null if it is not drawn. */
function middleOf(scene: TimelineScene, slice: number): number | null {
  const row = scene.slices.rows[scene.slices.rowOf(slice)];
  if (!row) return null;
  const { y, height } = scene.rowBox(row);
  return y < -1e5 ? null : y + height / 2;
}

const DASHES = [4, 3];

/** Paints the gap, the measure, the edge under the pointer, and hits in the overview. */
export class MeasurePainter {
  readonly #scene: TimelineScene;
  readonly #brush: ChartBrush;
  #hits: Uint8Array = new Uint8Array(0);
  #hitsOf: MarkedSlices | null = null;

  constructor(scene: TimelineScene, brush: ChartBrush) {
    this.#scene = scene;
    this.#brush = brush;
  }

  paint(): void {
    const { gap, measure, snapped } = this.#scene;
    if (gap) this.#gap(gap.track, gap.from, gap.to);
    if (measure) this.#measured(measure);
    if (snapped && snapped.slice >= 0) this.#edge(snapped);
  }

  paintHits(): void {
    const { hits, slices, viewport, width } = this.#scene;
    if (!hits.count) return;
    if (this.#hitsOf !== hits || this.#hits.length !== width) {
      this.#hitsOf = hits;
      this.#hits = hitColumns(slices, hits, viewport.first, viewport.whole / width, width);
    }
    const { background, warning } = this.#brush.theme;
    for (let x = 0; x < width; x++) {
      if (!this.#hits[x]) continue;
      let end = x + 1;
      while (end < width && this.#hits[end]) end++;
      this.#brush.fill(background, x - 1, 0, end - x + 2, 6);
      this.#brush.fill(warning, x, 1, Math.max(2, end - x), 4);
      x = end;
    }
  }

  #gap(track: number, from: number, to: number): void {
    const row = this.#scene.slices.tracks[track]?.rows[0];
    if (!row) return;
    const { y, height } = this.#scene.rowBox(row);
    const [left, right] = [this.#scene.x(from), this.#scene.x(to)];
    const { context, theme } = this.#brush;
    context.save();
    context.setLineDash(DASHES);
    context.lineWidth = 2;
    context.strokeStyle = theme.text;
    context.strokeRect(left, y, Math.max(1, right - left), height);
    context.restore();
    this.#label(exactly(to - from), left, right, y + height / 2);
  }

  #measured({ first, second, row }: Measure): void {
    if (!first || !second) return;
    const { height, slices } = this.#scene;
    const [a, b] = [this.#scene.x(first.ns), this.#scene.x(second.ns)];
    const place = slices.rows[row];
    const box = place ? this.#scene.rowBox(place) : { y: TOP, height: 20 };
    const y = Math.min(Math.max(TOP + 12, box.y + box.height / 2), height - 12);
    for (const x of [a, b]) this.#line(x, TOP, height);
    const { text } = this.#brush.theme;
    this.#brush.fill(text, Math.min(a, b), Math.round(y) - 1, Math.abs(b - a), 2);
    this.#label(exactly(Math.abs(second.ns - first.ns)), Math.min(a, b), Math.max(a, b), y);
  }

  #line(x: number, top: number, bottom: number): void {
    const { background, text } = this.#brush.theme;
    this.#brush.fill(background, Math.round(x) - 2, top, 4, bottom - top);
    this.#brush.fill(text, Math.round(x) - 1, top, 2, bottom - top);
  }

  #edge({ ns, slice }: Edge): void {
    const { slices } = this.#scene;
    const x = this.#scene.x(ns);
    const row = slices.rows[slices.rowOf(slice)];
    if (!row) return;
    const { y, height } = this.#scene.rowBox(row);
    this.#line(x, y - 3, y + height + 3);
    const { accent } = this.#brush.theme;
    this.#brush.fill(accent, Math.round(x) - 4, y - 5, 8, 4);
    this.#brush.fill(accent, Math.round(x) - 4, y + height + 1, 8, 4);
  }

  /** A time in a box, between two positions if there is room, else beside them, always on the stage. */
  #label(text: string, left: number, right: number, y: number): void {
    const { width } = this.#scene;
    const [from, to] = [Math.max(0, left), Math.min(width, right)];
    const place = (room: number) => (to - from >= room ? (from + to - room) / 2 : to + 6);
    this.#brush.plate(text, place, y, width);
  }
}

/** 1 for pixel columns with a marked slice. */
export function hitColumns(
  slices: Slices,
  marked: MarkedSlices,
  from: number,
  step: number,
  width: number,
): Uint8Array {
  const columns = new Uint8Array(width);
  for (const row of slices.rows) {
    for (let slice = marked.next(row.first, row.last); slice >= 0; ) {
      const left = Math.floor((slices.startOf(slice) - from) / step);
      const right = Math.max(left + 1, Math.ceil((slices.endOf(slice) - from) / step));
      columns.fill(1, Math.min(left, width - 1), Math.min(right, width));
      slice = marked.next(row.beyond(from + right * step, slice), row.last);
    }
  }
  return columns;
}
