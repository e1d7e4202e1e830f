import { inkOn } from "../shared/drawing/theme.ts";
import { duration, integer } from "../shared/format.ts";
import { element } from "../shared/ui/dom.ts";
import { arrows } from "./arrows.ts";
import { Called } from "./called.ts";
import type { ChartHost, OtherChart } from "./charts.ts";
import { apartText, Diverging, legend } from "./diverging.ts";
import { HeatWords } from "./heat_words.ts";
import { apart, type Cell, cellOf, type MatrixRow, RepeatMatrix } from "./repeat_matrix.ts";
import { type Brush, Scroller, Stage, shifted } from "./stage.ts";
import { numbered } from "./ticks.ts";

const ROW = 20;
const TOTALS = 40;
const AXIS = 16;
const TOP = TOTALS + AXIS;
/** From these widths on a cell says its number, marks what lies beyond the scale, and stands apart. */
const [TOLD, MARKED, APART] = [44, 7, 4];

/** Operators × repeats: which operator is slow in which repeat. Warm-up is a column, noise is a row. */
export class Heat implements OtherChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly #called: Called;
  readonly #matrix: RepeatMatrix;
  readonly #words: HeatWords;
  readonly #stage: Stage;
  readonly #scroller: Scroller;
  readonly #said = element("p", { class: "tvmdbg-muted" });
  readonly #key = element("div");
  #order: Int32Array;
  #place = new Int32Array(0);
  #colors: Diverging | null = null;
  /** Row of the matrix and repeat that are looked at, and those under the pointer. */
  #current = { row: -1, repeat: -1 };
  #hovered = { row: -1, repeat: -1 };

  constructor(host: ChartHost) {
    this.#host = host;
    const { slices, names, graph } = host.data;
    this.#called = new Called(slices, names, graph);
    this.#matrix = new RepeatMatrix(slices, this.#called.operators);
    this.#words = new HeatWords(this.#matrix, this.#called, slices.columns.info);
    this.#order = new Int32Array(0);
    this.#stage = new Stage(
      "tvmdbg-timeline-heat",
      {
        paint: (brush, width, height) => this.#paint(brush, width, height),
        over: (brush, width) => {
          for (const [at, line] of [
            [this.#hovered, 1],
            [this.#current, 2],
          ] as const) {
            const box = this.#box(at.row, at.repeat, width);
            if (box && box.y >= TOP - ROW) brush.frame(box, line);
          }
        },
        move: (at) => this.#hover(at),
        click: (x, y) => {
          const { row, repeat } = this.#at(x, y);
          this.#pick(row, repeat);
        },
      },
      host.signal,
    );
    const height = () => TOP + this.#order.length * ROW + 2;
    this.#scroller = new Scroller(this.#stage, height, host.signal);
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-other" },
      element("div", { class: "tvmdbg-timeline-above" }, this.#said, this.#key),
      this.#scroller.node,
    );
    host.options.onChange("sort", () => this.#sort(), host.signal);
    this.#sort();
  }

  sync(): void {
    const { session, data } = this.#host;
    const { node, hovered } = session;
    const rowOf = (each: number) => this.#matrix.rows.findIndex(({ key }) => key === each);
    const wanted = this.#called.operators.selected(node, data.scene.current);
    if ((this.#matrix.rows[this.#current.row]?.key ?? -1) !== wanted) {
      this.#current = { row: rowOf(wanted), repeat: -1 };
      this.#reveal();
    }
    if (hovered === null && !this.#isUnjoined(this.#hovered.row)) this.#hovered.row = -1;
    else if (hovered !== null && this.#matrix.rows[this.#hovered.row]?.node !== hovered) {
      this.#hovered = { row: rowOf(hovered), repeat: -1 };
    }
    this.#stage.touched();
  }

  get sentence(): string {
    const row = this.#matrix.rows[this.#current.row];
    return row && this.#current.repeat >= 0
      ? this.#words.lines(row, this.#current.repeat).join(", ")
      : "";
  }

  key(event: KeyboardEvent): boolean {
    const { row, repeat } = this.#current;
    const last = this.#order.length - 1;
    const place = row < 0 ? -1 : this.#place[row]!;
    const page = Math.max(1, Math.floor((this.#stage.height - TOP) / ROW) - 1);
    const down = (by: number) => {
      const to = Math.min(Math.max(0, place < 0 && by < 2 ? 0 : place + by), last);
      this.#pick(this.#order[to] ?? -1, Math.max(0, repeat));
    };
    const across = (by: number) => {
      const to = row < 0 ? (this.#order[0] ?? -1) : row;
      const count = this.#matrix.rows[to]?.values.length ?? 0;
      const from = repeat < 0 ? (by < 0 ? count : -1) : repeat;
      this.#pick(to, Math.min(Math.max(0, from + by), count - 1));
    };
    if (arrows(event.key, across, down, page)) return true;
    switch (event.key) {
      case "Enter":
        this.#reveal();
        return true;
      case "Escape":
        if (repeat < 0) return false;
        this.#current = { row, repeat: -1 };
        this.#stage.touched();
        return true;
      default:
        return false;
    }
  }

  inspect(out: Record<string, unknown>): void {
    Object.assign(out, shifted(this.#stage, this.node));
    out.current = this.#current;
    out.hovered = this.#hovered;
    out.totals = [...this.#matrix.totals];
    out.spread = this.#matrix.spread;
  }

  retheme(): void {
    this.#colors = null;
    this.#stage.changed();
  }

  /** Whether a row stands for a name, not for a node: the session does not know it. */
  #isUnjoined(row: number): boolean {
    return (this.#matrix.rows[row]?.node ?? 0) < 0;
  }

  #sort(): void {
    this.#order = this.#matrix.order(this.#host.options.get("sort"));
    this.#place = new Int32Array(this.#order.length);
    this.#order.forEach((row, place) => {
      this.#place[row] = place;
    });
    this.#said.textContent = this.#words.about(this.#host.options.get("sort"));
    this.#scroller.fit();
  }

  /** How wide the names are. */
  #gutter(width: number): number {
    return Math.round(Math.min(260, Math.max(96, width * 0.34)));
  }

  #x(repeat: number, width: number): number {
    const left = this.#gutter(width);
    return left + (repeat / this.#matrix.columns) * (width - left - 1);
  }

  #y(row: number): number {
    return TOP + this.#place[row]! * ROW - this.#scroller.top;
  }

  #box(row: number, repeat: number, width: number) {
    if (row < 0) return null;
    const y = this.#y(row);
    if (repeat < 0) return { x: 1, y: y + 1, width: width - 3, height: ROW - 2 };
    const x = this.#x(repeat, width);
    return { x, y, width: Math.max(2, this.#x(repeat + 1, width) - x), height: ROW - 1 };
  }

  #at(x: number, y: number): { row: number; repeat: number } {
    const { width } = this.#stage;
    const place = Math.floor((y - TOP + this.#scroller.top) / ROW);
    const row = y < TOP ? -1 : (this.#order[place] ?? -1);
    const left = this.#gutter(width);
    const at = Math.floor(((x - left) / (width - left - 1)) * this.#matrix.columns);
    const count = row < 0 ? this.#matrix.columns : this.#matrix.rows[row]!.values.length;
    return { row, repeat: x < left || at >= count ? -1 : at };
  }

  #paint(brush: Brush, width: number, height: number): void {
    const { theme } = brush;
    if (!this.#colors) {
      this.#colors = new Diverging(theme, this.#matrix.spread);
      this.#key.replaceChildren(legend(theme, this.#matrix.spread, "median of the row"));
    }
    const first = Math.max(0, Math.floor(this.#scroller.top / ROW));
    const last = Math.min(this.#order.length, first + Math.ceil((height - TOP) / ROW) + 1);
    for (let place = first; place < last; place++) {
      const row = this.#order[place]!;
      this.#row(brush, this.#matrix.rows[row]!, this.#y(row), width);
    }
    brush.drawn.labels = brush.drawn.labels.filter(({ y }) => y > TOP);
    brush.drawn.marks = brush.drawn.marks.filter(({ y }) => y + ROW / 2 > TOP);
    brush.fill(theme.background, 0, 0, width, TOP);
    this.#totals(brush, width);
    this.#axis(brush, width);
    if (!this.#words.warm) return;
    const x = this.#x(this.#words.warm, width);
    brush.fill(theme.text, x - 1.5, 0, 3, height, 0.9);
  }

  #row(brush: Brush, row: MatrixRow, y: number, width: number): void {
    const { theme } = brush;
    const left = this.#gutter(width);
    const middle = y + ROW / 2 - 0.5;
    brush.fill(this.#called.mark(theme, row.key), 4, y + 5, 9, 9);
    let right = left - 8;
    const put = (text: string, color: string) => {
      const wide = brush.number(text, right, middle, color, right - 20, true);
      if (wide) right -= wide + 8;
    };
    if (left >= 180) put(duration(row.median), theme.muted);
    if (row.noisy) put("noisy", theme.warning);
    brush.title(this.#called.titleOf(row.key), 18, middle, theme.text, right - 18);
    const cells = this.#matrix.columns;
    const wide = (width - left - 1) / cells;
    const each = Math.max(1, Math.ceil(1 / wide));
    const gap = wide >= APART ? 1 : 0;
    for (let repeat = 0; repeat < row.values.length; repeat += each) {
      const cell = cellOf(row, repeat, repeat + each);
      const x = this.#x(repeat, width);
      const right = this.#x(Math.min(cells, repeat + each), width);
      this.#cell(brush, row, cell, x, y, Math.max(1, right - x - gap));
    }
  }

  #cell(brush: Brush, row: MatrixRow, cell: Cell, x: number, y: number, width: number): void {
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
    const fill = this.#colors!.fill(far);
    brush.fill(fill, x, y, width, height);
    brush.drawn.marks.push({ ...place, apart: far, min: cell.min, max: cell.max, mean: cell.mean });
    const ink = inkOn(fill);
    if (width >= TOLD) {
      brush.number(
        apartText(far),
        x + width / 2 - brushed(brush, apartText(far)) / 2,
        y + ROW / 2 - 0.5,
        ink,
        width,
      );
    } else if (width >= MARKED && this.#colors!.isBeyond(far)) {
      // Not by color alone: a wedge that points to where the number lies.
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

  /** Above the columns: how long each pass took in all rows together. */
  #totals(brush: Brush, width: number): void {
    const { totals, columns } = this.#matrix;
    const { theme } = brush;
    const left = this.#gutter(width);
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
    const each = Math.max(1, Math.ceil(columns / (width - left - 1)));
    for (let repeat = 0; repeat < columns; repeat += each) {
      const part = totals.subarray(repeat, Math.min(columns, repeat + each));
      const value = part.reduce((a, b) => Math.max(a, b), 0);
      const x = this.#x(repeat, width);
      const right = this.#x(Math.min(columns, repeat + each), width);
      const tall = Math.max(1, (value / most) * (TOTALS - 6));
      const box = { x, y: TOTALS - tall, width: Math.max(1, right - x - 1), height: tall };
      brush.fill(
        theme.muted,
        box.x,
        box.y,
        box.width,
        box.height,
        repeat < this.#words.warm ? 0.35 : 0.75,
      );
      brush.drawn.marks.push({ ...box, total: value, first: repeat });
      if (each === 1 && right - x >= TOLD + 14) {
        const text = duration(value);
        const at = x + (right - x - brushed(brush, text)) / 2;
        brush.number(text, at, TOTALS - 9, inkOn(theme.muted), right - x);
      }
    }
  }

  #axis(brush: Brush, width: number): void {
    const { theme } = brush;
    const { columns } = this.#matrix;
    const widest = brushed(brush, integer(columns)) + 12;
    const wide = (width - this.#gutter(width)) / columns;
    brush.fill(theme.line, 0, TOP - 1, width, 1);
    const name = this.#matrix.ofSlices ? "slice" : "repeat";
    brush.text(name, 18, TOTALS + AXIS / 2, theme.muted, this.#gutter(width) - 24);
    for (const i of numbered(columns, wide, widest)) {
      const x = (this.#x(i - 1, width) + this.#x(i, width)) / 2;
      const text = integer(i);
      const at = Math.min(x - brushed(brush, text) / 2, width - brushed(brush, text) - 2);
      brush.number(text, at, TOTALS + AXIS / 2, theme.muted, widest);
    }
  }

  #pick(row: number, repeat: number): void {
    const found = this.#matrix.rows[row];
    this.#current = { row, repeat };
    const slice = found?.slices?.[repeat < 0 ? 0 : repeat];
    if (!found) this.#host.pick([]);
    else if (slice !== undefined) this.#host.pick([], slice);
    else this.#host.pick([found.node]);
    this.#current = { row, repeat };
    this.#reveal();
    if (this.sentence) this.#host.say(this.sentence);
    this.#stage.touched();
  }

  #reveal(): void {
    const { row } = this.#current;
    if (row >= 0) this.#scroller.reveal(TOP + this.#place[row]! * ROW, ROW, TOP);
  }

  #hover(at: { x: number; y: number } | null): void {
    const found = at ? this.#at(at.x, at.y) : { row: -1, repeat: -1 };
    const row = this.#matrix.rows[found.row];
    if (found.row !== this.#hovered.row) this.#host.hover(row && row.node >= 0 ? row.node : null);
    this.#hovered = found;
    this.#stage.touched();
    const lines = row
      ? this.#words.lines(row, found.repeat)
      : at && at.y < TOTALS && found.repeat >= 0 && this.#matrix.totals.length
        ? this.#words.totalLines(found.repeat)
        : null;
    this.#host.tip(lines, at?.x ?? 0, (at?.y ?? 0) + this.#scroller.node.offsetTop);
  }
}

function brushed(brush: Brush, text: string): number {
  brush.font();
  return brush.measure.width(text);
}
