import { inkOn } from "../shared/drawing/theme.ts";
import { Viewport } from "../shared/drawing/viewport.ts";
import { counted, duration, integer } from "../shared/format.ts";
import { lowerBound } from "../shared/sorted.ts";
import { element } from "../shared/ui/dom.ts";
import { arrows } from "./arrows.ts";
import { Called } from "./called.ts";
import type { ChartHost, OtherChart } from "./charts.ts";
import { FoldedWords } from "./folded_words.ts";
import { Lanes, MEDIAN } from "./lanes.ts";
import { type MatrixRow, RepeatMatrix } from "./repeat_matrix.ts";
import { type Box, type Brush, Scroller, Stage, shifted } from "./stage.ts";
import { ticks } from "./ticks.ts";

const AXIS = 20;
const MEDIANS = 40;
const WHISKERS = 14;
const TOP = AXIS + MEDIANS + WHISKERS + 6;
const LANE = 20;
const GUTTER = 96;

/** All repeats on one axis: operators laid end to end, at their median on top, in every repeat below. */
export class Folded implements OtherChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly #called: Called;
  readonly #rows: readonly MatrixRow[];
  readonly #all: Lanes;
  readonly #lanes: number;
  readonly #warm: number;
  readonly #words: FoldedWords;
  readonly #viewport: Viewport;
  readonly #stage: Stage;
  readonly #scroller: Scroller;
  #current = { row: -1, lane: MEDIAN };
  #hovered = { row: -1, lane: MEDIAN };

  constructor(host: ChartHost) {
    this.#host = host;
    const { slices, names, graph } = host.data;
    this.#called = new Called(slices, names, graph);
    const matrix = new RepeatMatrix(slices, this.#called.operators);
    this.#rows = Array.from(matrix.order("order"), (row) => matrix.rows[row]!);
    this.#lanes = matrix.columns;
    this.#warm = slices.columns.info.warmUp.cut;
    this.#all = new Lanes(this.#rows);
    this.#words = new FoldedWords(this.#all, this.#called, this.#warm);
    this.#viewport = new Viewport(0, Math.max(1, this.#all.longest(this.#lanes)));
    this.#stage = new Stage(
      "tvmdbg-timeline-folded",
      {
        paint: (brush, width, height) => this.#paint(brush, width, height),
        over: (brush, width) => this.#over(brush, width),
        move: (at) => this.#hover(at),
        click: (x, y) => {
          const { row, lane } = this.#at(x, y);
          this.#pick(row, lane);
        },
        double: () => this.#fit(),
        wheel: (x, y, event) => this.#wheel(x, y, event),
      },
      host.signal,
    );
    this.#scroller = new Scroller(this.#stage, () => TOP + this.#lanes * LANE + 2, host.signal);
    const warm = this.#warm ? `; ${counted(this.#warm, "repeat")} of warm-up, hatched` : "";
    const said =
      `synthetic timeline: operators back to back in ${slices.columns.info.words.order}, at the top each at its median with ` +
      `p10 … p90 below, then ${counted(this.#lanes, "repeat")}${warm}`;
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-other" },
      element(
        "div",
        { class: "tvmdbg-timeline-above" },
        element("p", { class: "tvmdbg-muted" }, said),
      ),
      this.#scroller.node,
    );
  }

  sync(): void {
    const { node, hovered } = this.#host.session;
    const rowOf = (each: number | null) => this.#rows.findIndex((row) => row.node === each);
    if (node !== null && this.#rows[this.#current.row]?.node !== node) {
      this.#current = { row: rowOf(node), lane: MEDIAN };
      this.#reveal();
    } else if (node === null) this.#current = { row: -1, lane: MEDIAN };
    if (hovered === null) this.#hovered.row = -1;
    else if (this.#rows[this.#hovered.row]?.node !== hovered) {
      this.#hovered = { row: rowOf(hovered), lane: MEDIAN };
    }
    this.#stage.changed();
  }

  get sentence(): string {
    const row = this.#rows[this.#current.row];
    return row ? this.#words.lines(row, this.#current.lane).join(", ") : "";
  }

  key(event: KeyboardEvent): boolean {
    const { row, lane } = this.#current;
    const last = this.#rows.length - 1;
    const across = (by: number) => {
      const to = row < 0 ? (by < 0 ? last : 0) : row + by;
      this.#pick(Math.min(Math.max(0, to), last), lane);
    };
    const down = (by: number) => {
      this.#pick(Math.max(0, row), Math.min(Math.max(MEDIAN, lane + by), this.#lanes - 1));
    };
    const view = (change: () => void) => {
      change();
      this.#stage.changed();
      return true;
    };
    if (arrows(event.key, across, down, 10)) return true;
    const { span, start } = this.#viewport;
    const middle = row < 0 ? start + span / 2 : this.#all.starts(lane)[row]!;
    switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
      case "w":
      case "+":
      case "=":
        return view(() => this.#viewport.zoom(1 / 1.5, middle));
      case "s":
      case "-":
        return view(() => this.#viewport.zoom(1.5, middle));
      case "a":
        return view(() => this.#viewport.pan(-0.2 * span));
      case "d":
        return view(() => this.#viewport.pan(0.2 * span));
      case "0":
        return view(() => this.#viewport.showAll());
      case "f":
      case "Enter":
        this.#fit();
        return true;
      default:
        return false;
    }
  }

  inspect(out: Record<string, unknown>): void {
    Object.assign(out, shifted(this.#stage, this.node));
    out.current = this.#current;
    out.view = [this.#viewport.start, this.#viewport.end];
  }

  retheme(): void {
    this.#stage.changed();
  }

  #gutter(width: number): number {
    return Math.min(GUTTER, width / 4);
  }

  #x(ns: number, width: number): number {
    const left = this.#gutter(width);
    return left + ((ns - this.#viewport.start) / this.#viewport.span) * (width - left - 1);
  }

  #y(lane: number): number {
    return lane === MEDIAN ? AXIS : TOP + lane * LANE - this.#scroller.top;
  }

  #height(lane: number): number {
    return lane === MEDIAN ? MEDIANS : LANE - 2;
  }

  #box(row: number, lane: number, width: number): Box | null {
    if (row < 0) return null;
    const starts = this.#all.starts(lane);
    const left = Math.max(this.#gutter(width), this.#x(starts[row]!, width));
    const right = Math.min(width, this.#x(starts[row + 1]!, width));
    if (right < left) return null;
    return {
      x: left,
      y: this.#y(lane),
      width: Math.max(2, right - left),
      height: this.#height(lane),
    };
  }

  #at(x: number, y: number): { row: number; lane: number } {
    const { width } = this.#stage;
    const below = Math.floor((y - TOP + this.#scroller.top) / LANE);
    const lane = y < TOP ? MEDIAN : Math.min(below, this.#lanes - 1);
    const left = this.#gutter(width);
    if (y < AXIS || x < left || below >= this.#lanes) return { row: -1, lane };
    const ns = this.#viewport.start + ((x - left) / (width - left - 1)) * this.#viewport.span;
    const starts = this.#all.starts(lane);
    const row = lowerBound(starts, ns) - 1;
    return { row: row >= 0 && row < this.#rows.length ? row : -1, lane };
  }

  #paint(brush: Brush, width: number, height: number): void {
    const { theme } = brush;
    const first = Math.max(0, Math.floor(this.#scroller.top / LANE));
    const last = Math.min(this.#lanes, first + Math.ceil((height - TOP) / LANE) + 1);
    const left = this.#gutter(width);
    for (let lane = first; lane < last; lane++) {
      this.#lane(brush, lane, width);
      const y = this.#y(lane) + LANE / 2 - 1;
      brush.number(integer(lane + 1), 22, y, theme.muted, left - 22, true);
      brush.number(
        duration(this.#all.starts(lane).at(-1)!),
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
      duration(this.#all.starts(MEDIAN).at(-1)!),
      left - 4,
      AXIS + 28,
      theme.muted,
      left - 6,
      true,
    );
    brush.text("p10 … p90", 4, AXIS + MEDIANS + WHISKERS / 2, theme.muted, left - 6);
    this.#whiskers(brush, width);
    const { start, end } = this.#viewport;
    for (const tick of ticks(start, end, Math.max(2, Math.floor((width - left) / 90)))) {
      const x = this.#x(tick.ns, width);
      brush.fill(theme.line, Math.round(x), AXIS - 5, 1, 5);
      brush.number(tick.text, x + 3, AXIS / 2, theme.muted, width - x - 4);
    }
  }

  /** One lane; what is too narrow to be told apart is one column, in the color of the widest. */
  #lane(brush: Brush, lane: number, width: number): void {
    const starts = this.#all.starts(lane);
    const [y, height] = [this.#y(lane), this.#height(lane)];
    const left = this.#gutter(width);
    const warm = lane >= 0 && lane < this.#warm;
    const { theme } = brush;
    const { start, end, span } = this.#viewport;
    const pixel = span / (width - left - 1);
    for (const { row, next, widest } of this.#all.columns(lane, start, end, pixel)) {
      const x = Math.max(left, this.#x(starts[row]!, width));
      const until = starts[next]!;
      const wide = Math.min(width, this.#x(until, width)) - x;
      const { key, node } = this.#rows[widest]!;
      const fill = this.#called.mark(theme, key);
      const gap = wide > 4 ? 1 : 0;
      if (wide > 0 && until > starts[row]!) {
        brush.fill(fill, x, y, Math.max(0.5, wide - gap), height, warm ? 0.45 : 1);
        const one = next === row + 1;
        const place = { x, y, width: wide, height, lane, key, node };
        if (one) brush.drawn.marks.push({ ...place, ns: this.#all.ns(row, lane) });
        if (one && wide >= 24 && !warm)
          this.#label(brush, this.#rows[row]!, x, y, wide, height, fill);
      }
    }
    if (warm)
      this.#hatch(brush, left, y, Math.min(width, this.#x(starts.at(-1)!, width)) - left, height);
  }

  #label(
    brush: Brush,
    { key }: MatrixRow,
    x: number,
    y: number,
    width: number,
    height: number,
    fill: string,
  ): void {
    const [room, middle, ink] = [width - 4, y + height / 2, inkOn(fill)];
    const title = this.#called.titleOf(key);
    if (brush.title(title, x + 3, middle, ink, room > 60 ? room : 0)) return;
    brush.number(title.id, x + 3, middle, ink, room);
  }

  #hatch(brush: Brush, x: number, y: number, width: number, height: number): void {
    const { context, theme } = brush;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.strokeStyle = theme.text;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.beginPath();
    for (let at = x - height; at < x + width; at += 8) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.stroke();
    context.restore();
  }

  /** How far the repeats of each operator reach from where its median ends. */
  #whiskers(brush: Brush, width: number): void {
    const starts = this.#all.starts(MEDIAN);
    const left = this.#gutter(width);
    const y = AXIS + MEDIANS + WHISKERS / 2 + 1;
    const { theme } = brush;
    let until = -Infinity;
    this.#rows.forEach(({ p10, p90, noisy, node, key }, row) => {
      const from = this.#x(starts[row]! + p10, width);
      const to = this.#x(starts[row]! + p90, width);
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

  #over(brush: Brush, width: number): void {
    for (const [{ row, lane }, line] of [
      [this.#hovered, 1],
      [this.#current, 2],
    ] as const) {
      const box = this.#box(row, lane, width);
      if (box && (lane === MEDIAN || box.y >= TOP - LANE / 2)) brush.frame(box, line);
    }
  }

  #pick(row: number, lane: number): void {
    const found = this.#rows[row];
    this.#host.pick(found ? [found.node] : []);
    this.#current = { row, lane };
    this.#reveal();
    if (this.sentence) this.#host.say(this.sentence);
    this.#stage.changed();
  }

  #reveal(): void {
    const { row, lane } = this.#current;
    if (row < 0) return;
    const starts = this.#all.starts(lane);
    this.#viewport.reveal(starts[row]!, starts[row + 1]!);
    if (lane >= 0) this.#scroller.reveal(TOP + lane * LANE, LANE, TOP);
  }

  #fit(): void {
    const { row, lane } = this.#current;
    if (row < 0) return;
    const starts = this.#all.starts(lane);
    const margin = (starts[row + 1]! - starts[row]!) / 2;
    this.#viewport.show(starts[row]! - margin, starts[row + 1]! + margin);
    this.#stage.changed();
  }

  #wheel(x: number, y: number, event: WheelEvent): boolean {
    const { width } = this.#stage;
    const left = this.#gutter(width);
    if (
      !event.ctrlKey &&
      !event.metaKey &&
      y > TOP &&
      this.#lanes * LANE > this.#stage.height - TOP
    )
      return false;
    const at = this.#viewport.start + ((x - left) / (width - left)) * this.#viewport.span;
    this.#viewport.zoom(1.0018 ** event.deltaY, at);
    this.#stage.changed();
    return true;
  }

  #hover(at: { x: number; y: number } | null): void {
    const found = at ? this.#at(at.x, at.y) : { row: -1, lane: MEDIAN };
    const row = this.#rows[found.row];
    if (found.row !== this.#hovered.row) this.#host.hover(row ? row.node : null);
    this.#hovered = found;
    this.#stage.touched();
    const lines = row ? this.#words.lines(row, found.lane) : null;
    this.#host.tip(lines, at?.x ?? 0, (at?.y ?? 0) + this.#scroller.node.offsetTop);
  }
}
