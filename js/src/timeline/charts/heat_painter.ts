import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Rectangle } from "../../shared/drawing/canvas.ts";
import { divergingStops, inkOn, ramp, type Theme } from "../../shared/drawing/theme.ts";
import { duration, integer, percent } from "../../shared/format.ts";
import { element } from "../../shell/dom.ts";
import type { ItemNames } from "../data/item_names.ts";
import { numbered, writeTitle } from "../data/names.ts";
import {
  apart,
  cellOf,
  type MatrixCell,
  type MatrixRow,
  type RepeatMatrix,
} from "./repeat_matrix.ts";

const STEPS = 32;

/** Colors of values below and above a median, from -spread to +spread of it. */
class Diverging {
  readonly #fills: string[];

  constructor(
    theme: Theme,
    readonly spread: number,
  ) {
    const stops = divergingStops(theme);
    this.#fills = Array.from({ length: 2 * STEPS + 1 }, (_, i) => ramp(stops, i / (2 * STEPS)));
  }

  fill(apart: number): string {
    const share = Math.min(1, Math.max(-1, apart / this.spread));
    return this.#fills[Math.round(STEPS + share * STEPS)]!;
  }
}

/** `+12.0 %` */
export function apartText(apart: number): string {
  if (!Number.isFinite(apart)) return "no value";
  if (apart === 0) return "0 %";
  return `${apart < 0 ? "−" : "+"}${percent(Math.abs(apart))}`;
}

export function legend(theme: Theme, spread: number): HTMLElement {
  const bar = element("i", { class: "tvmdbg-timeline-ramp" });
  bar.style.background = `linear-gradient(to right, ${divergingStops(theme).join(", ")})`;
  const end = percent(spread);
  return element(
    "span",
    {
      class: "tvmdbg-timeline-legend tvmdbg-inline tvmdbg-nowrap tvmdbg-numeric",
      title: "time relative to the median of the row",
    },
    `faster −${end}`,
    bar,
    `+${end} slower than the median of the row`,
  );
}

export const ROW = 20;
export const TOTALS = 40;
const AXIS = 16;
export const TOP = TOTALS + AXIS;
/** Widths from which a cell has its number, a mark beyond the scale, and a gap. */
const [NUMBERED, MARKED, APART] = [44, 7, 4];

export class HeatPainter {
  readonly #matrix: RepeatMatrix;
  readonly #names: ItemNames;
  readonly #warm: number;
  readonly #least: number;
  #order: Int32Array = new Int32Array(0);
  #place: Int32Array = new Int32Array(0);
  #colors: { theme: Theme; fills: Diverging } | null = null;
  /** Pixels of the rows above the stage. */
  scroll = 0;

  /** @param cell Least width of a cell, px, which decides the number of repeats per cell. */
  constructor(matrix: RepeatMatrix, names: ItemNames, cell = 1) {
    this.#least = cell;
    this.#matrix = matrix;
    this.#names = names;
    this.#warm = matrix.ofSlices ? 0 : matrix.warm;
  }

  get order(): Int32Array {
    return this.#order;
  }

  set order(order: Int32Array) {
    this.#order = order;
    this.#place = new Int32Array(this.#matrix.rows.length);
    order.forEach((row, place) => {
      this.#place[row] = place;
    });
  }

  get height(): number {
    return TOP + this.#order.length * ROW + 2;
  }

  step(width: number): number {
    const room = width - this.gutter(width) - 1;
    return Math.max(1, Math.ceil((this.#least * this.#matrix.columns) / room));
  }

  placeOf(row: number): number {
    return this.#place[row]!;
  }

  gutter(width: number): number {
    return Math.round(Math.min(260, Math.max(96, width * 0.34)));
  }

  x(repeat: number, width: number): number {
    const left = this.gutter(width);
    return left + (repeat / this.#matrix.columns) * (width - left - 1);
  }

  y(row: number): number {
    return TOP + this.#place[row]! * ROW - this.scroll;
  }

  /** The box of a cell; repeat -1: of a row. Null if there is none. */
  box(row: number, repeat: number, width: number): Rectangle | null {
    if (row < 0) return null;
    const y = this.y(row);
    if (repeat < 0) return { x: 1, y: y + 1, width: width - 3, height: ROW - 2 };
    const x = this.x(repeat, width);
    return { x, y, width: Math.max(2, this.x(repeat + 1, width) - x), height: ROW - 1 };
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    const { theme } = brush;
    if (this.#colors?.theme !== theme) {
      this.#colors = { theme, fills: new Diverging(theme, this.#matrix.spread) };
    }
    const first = Math.max(0, Math.floor(this.scroll / ROW));
    const last = Math.min(this.#order.length, first + Math.ceil((height - TOP) / ROW) + 1);
    for (let place = first; place < last; place++) {
      const row = this.#order[place]!;
      this.#row(brush, this.#matrix.rows[row]!, this.y(row), width);
    }
    brush.drawn.labels = brush.drawn.labels.filter(({ y }) => y > TOP);
    brush.drawn.marks = brush.drawn.marks.filter(({ y }) => y + ROW / 2 > TOP);
    brush.fill(theme.background, 0, 0, width, TOP);
    this.#totals(brush, width);
    this.#axis(brush, width);
    if (!this.#warm) return;
    const x = this.x(this.#warm, width);
    brush.fill(theme.text, x - 1.5, 0, 3, height, 0.9);
  }

  #row(brush: ChartBrush, row: MatrixRow, y: number, width: number): void {
    const { theme } = brush;
    const left = this.gutter(width);
    const middle = y + ROW / 2 - 0.5;
    brush.fill(this.#names.mark(theme, row.key), 4, y + 5, 9, 9);
    let right = left - 8;
    const put = (text: string, color: string) => {
      const wide = brush.number(text, right, middle, color, right - 20, true);
      if (wide) right -= wide + 8;
    };
    if (left >= 180) put(this.#names.data.slices.timeText(row.median), theme.muted);
    if (row.noisy) put("noisy", theme.warning);
    writeTitle(brush, this.#names.titleOf(row.key), 18, middle, theme.text, right - 18);
    const cells = this.#matrix.columns;
    const wide = (width - left - 1) / cells;
    const repeats = this.step(width);
    const gap = wide >= APART ? 1 : 0;
    for (let repeat = 0; repeat < row.values.length; repeat += repeats) {
      const cell = cellOf(row, repeat, repeat + repeats);
      const x = this.x(repeat, width);
      const right = this.x(Math.min(cells, repeat + repeats), width);
      this.#cell(brush, row, cell, x, y, Math.max(1, right - x - gap));
    }
  }

  #cell(
    brush: ChartBrush,
    row: MatrixRow,
    cell: MatrixCell,
    x: number,
    y: number,
    width: number,
  ): void {
    const { theme } = brush;
    const height = ROW - 1;
    const { first, last } = cell;
    const place = { x, y, width, height, row: row.key, node: row.node, first, last };
    if (!cell.count) {
      brush.fill(theme.line, x, y + ROW / 2 - 1, width, 1);
      brush.drawn.marks.push({ ...place, apart: null });
      return;
    }
    const far = apart(cell, row.median);
    const fill = this.#colors!.fills.fill(far);
    brush.fill(fill, x, y, width, height);
    brush.drawn.marks.push({ ...place, apart: far, min: cell.min, max: cell.max, mean: cell.mean });
    const ink = inkOn(fill);
    if (width >= NUMBERED) {
      brush.number(
        apartText(far),
        x + width / 2 - brushed(brush, apartText(far)) / 2,
        y + ROW / 2 - 0.5,
        ink,
        width,
      );
    } else if (width >= MARKED && Math.abs(far) > this.#colors!.fills.spread) {
      // Not by color alone: a wedge points towards the number.
      const [tip, base] = far > 0 ? [y + 4, y + 9] : [y + height - 4, y + height - 9];
      const { context } = brush;
      context.fillStyle = ink;
      context.beginPath();
      context.moveTo(x + width / 2, tip);
      context.lineTo(x + width / 2 - 3, base);
      context.lineTo(x + width / 2 + 3, base);
      context.fill();
    }
  }

  #totals(brush: ChartBrush, width: number): void {
    const { totals, columns } = this.#matrix;
    const { theme } = brush;
    const left = this.gutter(width);
    if (!totals.length) {
      const why = this.#matrix.ofSlices
        ? "no column totals: slices of one name are not repeats of the run"
        : "no column totals: rows have different numbers of repeats";
      brush.text(why, left, TOTALS / 2, theme.muted, width - left - 4);
      return;
    }
    const most = totals.reduce((a, b) => (b > a ? b : a), 0);
    brush.text("total of each repeat", 18, 12, theme.text, left - 24, "600");
    brush.number(`up to ${duration(most)}`, 18, 28, theme.muted, left - 24);
    const repeats = this.step(width);
    for (let repeat = 0; repeat < columns; repeat += repeats) {
      const part = totals.subarray(repeat, Math.min(columns, repeat + repeats));
      const value = part.reduce((a, b) => Math.max(a, b), 0);
      const x = this.x(repeat, width);
      const right = this.x(Math.min(columns, repeat + repeats), width);
      const tall = Math.max(1, (value / most) * (TOTALS - 6));
      const box = { x, y: TOTALS - tall, width: Math.max(1, right - x - 1), height: tall };
      brush.fill(
        theme.muted,
        box.x,
        box.y,
        box.width,
        box.height,
        repeat < this.#warm ? 0.35 : 0.75,
      );
      brush.drawn.marks.push({ ...box, total: value, first: repeat });
      if (repeats === 1 && right - x >= NUMBERED + 14) {
        const text = duration(value);
        const at = x + (right - x - brushed(brush, text)) / 2;
        brush.number(text, at, TOTALS - 9, inkOn(theme.muted), right - x);
      }
    }
  }

  #axis(brush: ChartBrush, width: number): void {
    const { theme } = brush;
    const { columns } = this.#matrix;
    const widest = brushed(brush, integer(columns)) + 12;
    const wide = (width - this.gutter(width)) / columns;
    brush.fill(theme.line, 0, TOP - 1, width, 1);
    const name = this.#matrix.ofSlices ? "slice" : "repeat";
    brush.text(name, 18, TOTALS + AXIS / 2, theme.muted, this.gutter(width) - 24);
    for (const i of numbered(columns, wide, widest)) {
      const x = (this.x(i - 1, width) + this.x(i, width)) / 2;
      const text = integer(i);
      const at = Math.min(x - brushed(brush, text) / 2, width - brushed(brush, text) - 2);
      brush.number(text, at, TOTALS + AXIS / 2, theme.muted, widest);
    }
  }
}

function brushed(brush: ChartBrush, text: string): number {
  brush.font();
  return brush.measure.width(text);
}
