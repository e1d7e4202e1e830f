import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Rectangle, Viewport } from "../../shared/drawing/canvas.ts";
import { inkOn } from "../../shared/drawing/theme.ts";
import { duration, integer } from "../../shared/format.ts";
import { lowerBound } from "../../shared/many.ts";
import type { ItemNames } from "../data/item_names.ts";
import { ticks, writeTitle } from "../data/names.ts";
import type { MatrixRow } from "./repeat_matrix.ts";

/** The lane of medians, above the repeats. */
export const MEDIAN = -1;
/** Number of cached lanes. */
const MOST = 100;

/** Operators end to end, lane by lane: with their medians, or their times in one repeat. */
export class Lanes {
  readonly #rows: readonly MatrixRow[];
  /** Starts by lane, for the last requested lanes. */
  readonly #starts = new Map<number, Float64Array>();

  constructor(rows: readonly MatrixRow[]) {
    this.#rows = rows;
  }

  /** Time of an operator in a lane; 0 if it is not a number. */
  ns(row: number, lane: number): number {
    const { median, values } = this.#rows[row]!;
    const ns = lane === MEDIAN ? median : (values[lane] ?? 0);
    return Number.isFinite(ns) && ns > 0 ? ns : 0;
  }

  /** Starts of the operators in a lane, and the end of the last. */
  starts(lane: number): Float64Array {
    const known = this.#starts.get(lane);
    if (known) return known;
    if (this.#starts.size > MOST) this.#starts.clear();
    const starts = new Float64Array(this.#rows.length + 1);
    this.#rows.forEach((_, row) => {
      starts[row + 1] = starts[row]! + this.ns(row, lane);
    });
    this.#starts.set(lane, starts);
    return starts;
  }

  /** Columns of a lane in [from, to): operators that begin less than `least` apart are merged, long ones not. */
  *columns(
    lane: number,
    from: number,
    to: number,
    least: number,
  ): Generator<{ row: number; next: number; widest: number }> {
    const starts = this.starts(lane);
    const last = this.#rows.length;
    let row = Math.max(0, lowerBound(starts, from) - 1);
    while (row < last && starts[row]! < to) {
      let [next, widest] = [row + 1, row];
      if (this.ns(row, lane) < least) {
        next = Math.max(next, lowerBound(starts, starts[row]! + least, next, last));
        // Only the last to begin there can be long.
        if (next > row + 1 && this.ns(next - 1, lane) >= least) next--;
        for (let at = row; at < next; at++) {
          if (this.ns(at, lane) > this.ns(widest, lane)) widest = at;
        }
      }
      yield { row, next, widest };
      row = next;
    }
  }

  longest(lanes: number): number {
    let most = 0;
    for (let lane = MEDIAN; lane < lanes; lane++) {
      let sum = 0;
      for (let row = 0; row < this.#rows.length; row++) sum += this.ns(row, lane);
      if (sum > most) most = sum;
    }
    return most;
  }
}

export const AXIS = 20;
const MEDIANS = 40;
const WHISKERS = 14;
/** Top of the lanes of repeats. */
export const TOP = AXIS + MEDIANS + WHISKERS + 6;
export const LANE = 20;
const GUTTER = 96;

export class FoldedPainter {
  /** Pixels of the lanes above the stage. */
  scroll = 0;

  /** @param repeats Number of lanes of repeats below the medians. */
  constructor(
    readonly rows: readonly MatrixRow[],
    readonly lanes: Lanes,
    readonly repeats: number,
    readonly warm: number,
    readonly names: ItemNames,
    readonly viewport: Viewport,
  ) {}

  get height(): number {
    return TOP + this.repeats * LANE + 2;
  }

  gutter(width: number): number {
    return Math.min(GUTTER, width / 4);
  }

  x(ns: number, width: number): number {
    const left = this.gutter(width);
    return left + ((ns - this.viewport.start) / this.viewport.span) * (width - left - 1);
  }

  ns(x: number, width: number): number {
    const left = this.gutter(width);
    return this.viewport.start + ((x - left) / (width - left - 1)) * this.viewport.span;
  }

  y(lane: number): number {
    return lane === MEDIAN ? AXIS : TOP + lane * LANE - this.scroll;
  }

  #height(lane: number): number {
    return lane === MEDIAN ? MEDIANS : LANE - 2;
  }

  /** The box of an operator in a lane; null if it is not visible. */
  box(row: number, lane: number, width: number): Rectangle | null {
    if (row < 0) return null;
    const starts = this.lanes.starts(lane);
    const left = Math.max(this.gutter(width), this.x(starts[row]!, width));
    const right = Math.min(width, this.x(starts[row + 1]!, width));
    if (right < left) return null;
    return {
      x: left,
      y: this.y(lane),
      width: Math.max(2, right - left),
      height: this.#height(lane),
    };
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    const { theme } = brush;
    const first = Math.max(0, Math.floor(this.scroll / LANE));
    const last = Math.min(this.repeats, first + Math.ceil((height - TOP) / LANE) + 1);
    const left = this.gutter(width);
    for (let lane = first; lane < last; lane++) {
      this.#lane(brush, lane, width);
      const y = this.y(lane) + LANE / 2 - 1;
      brush.number(integer(lane + 1), 22, y, theme.muted, left - 22, true);
      brush.number(
        duration(this.lanes.starts(lane).at(-1)!),
        left - 4,
        y,
        theme.muted,
        left - 26,
        true,
      );
    }
    brush.drawn.labels = brush.drawn.labels.filter(({ y }) => y > TOP);
    brush.drawn.marks = brush.drawn.marks.filter(({ y }) => y + LANE / 2 > TOP);
    brush.fill(theme.background, 0, 0, width, TOP - 2);
    brush.fill(theme.line, 0, TOP - 3, width, 1);
    this.#lane(brush, MEDIAN, width);
    brush.text("medians", 4, AXIS + 12, theme.text, left - 6, "600");
    brush.number(
      duration(this.lanes.starts(MEDIAN).at(-1)!),
      left - 4,
      AXIS + 28,
      theme.muted,
      left - 6,
      true,
    );
    brush.text("p10 … p90", 4, AXIS + MEDIANS + WHISKERS / 2, theme.muted, left - 6);
    this.#whiskers(brush, width);
    const { start, end } = this.viewport;
    for (const tick of ticks(start, end, Math.max(2, Math.floor((width - left) / 90)))) {
      const x = this.x(tick.ns, width);
      brush.fill(theme.line, Math.round(x), AXIS - 5, 1, 5);
      brush.number(tick.text, x + 3, AXIS / 2, theme.muted, width - x - 4);
    }
  }

  #lane(brush: ChartBrush, lane: number, width: number): void {
    const starts = this.lanes.starts(lane);
    const [y, height] = [this.y(lane), this.#height(lane)];
    const left = this.gutter(width);
    const warm = lane >= 0 && lane < this.warm;
    const { theme } = brush;
    const { start, end, span } = this.viewport;
    const pixel = span / (width - left - 1);
    for (const { row, next, widest } of this.lanes.columns(lane, start, end, pixel)) {
      const x = Math.max(left, this.x(starts[row]!, width));
      const until = starts[next]!;
      const wide = Math.min(width, this.x(until, width)) - x;
      const { key, node } = this.rows[widest]!;
      const fill = this.names.mark(theme, key);
      const gap = wide > 4 ? 1 : 0;
      if (wide > 0 && until > starts[row]!) {
        brush.fill(fill, x, y, Math.max(0.5, wide - gap), height, warm ? 0.45 : 1);
        const one = next === row + 1;
        const place = { x, y, width: wide, height, lane, key, node };
        if (one) brush.drawn.marks.push({ ...place, ns: this.lanes.ns(row, lane) });
        if (one && wide >= 24 && !warm)
          this.#label(brush, this.rows[row]!, x, y, wide, height, fill);
      }
    }
    if (!warm) return;
    const wide = Math.min(width, this.x(starts.at(-1)!, width)) - left;
    brush.hatch(theme.text, { x: left, y, width: wide, height }, 0.5, 8);
  }

  #label(
    brush: ChartBrush,
    { key }: MatrixRow,
    x: number,
    y: number,
    width: number,
    height: number,
    fill: string,
  ): void {
    const [room, middle, ink] = [width - 4, y + height / 2, inkOn(fill)];
    const title = this.names.titleOf(key);
    if (writeTitle(brush, title, x + 3, middle, ink, room > 60 ? room : 0)) return;
    brush.number(title.id, x + 3, middle, ink, room);
  }

  #whiskers(brush: ChartBrush, width: number): void {
    const starts = this.lanes.starts(MEDIAN);
    const left = this.gutter(width);
    const y = AXIS + MEDIANS + WHISKERS / 2 + 1;
    const { theme } = brush;
    let until = -Infinity;
    this.rows.forEach(({ p10, p90, noisy, node, key }, row) => {
      const from = this.x(starts[row]! + p10, width);
      const to = this.x(starts[row]! + p90, width);
      if (to < left || from > width || (from < until && to <= until)) return;
      until = Math.max(until, to + 1, from + 3);
      const color = noisy ? theme.warning : theme.text;
      const x = Math.max(left, from);
      const wide = Math.max(1, to - x);
      brush.fill(color, x, y - 0.5, wide, noisy ? 3 : 1.5);
      for (const edge of [from, to]) if (edge >= left) brush.fill(color, edge - 0.5, y - 4, 1, 9);
      brush.drawn.marks.push({ x, y: y - 4, width: wide, height: 9, whisker: true, node, key });
    });
  }
}
