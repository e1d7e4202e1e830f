import type { RepeatsColumns } from "../../shared/client/answers.ts";
import { Viewport } from "../../shared/drawing/canvas.ts";
import { counted, duration, integer, percent } from "../../shared/format.ts";
import { lowerBound } from "../../shared/many.ts";
import { div, element } from "../../shell/dom.ts";
import { ItemNames } from "../data/item_names.ts";
import { AXIS, FoldedPainter, LANE, Lanes, MEDIAN, TOP } from "./folded_painter.ts";
import { apartText } from "./heat_painter.ts";
import { type MatrixRow, RepeatMatrix } from "./repeat_matrix.ts";
import {
  arrows,
  type Brush,
  type ChartHost,
  ChartStage,
  type OtherChart,
  Scroller,
  shifted,
} from "./stage.ts";

/** All repeats on one axis: operators laid end to end, with their medians on top, and one lane per repeat below. */
export class FoldedChart implements OtherChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly #painter: FoldedPainter;
  readonly stage: ChartStage;
  readonly #scroller: Scroller;
  #current = { row: -1, lane: MEDIAN };
  #hovered = { row: -1, lane: MEDIAN };

  constructor(host: ChartHost, repeats: RepeatsColumns) {
    this.#host = host;
    const called = new ItemNames(repeats, host.data);
    const { columns, rows, warm } = new RepeatMatrix(repeats);
    const lanes = new Lanes(rows);
    const { order } = host.data.slices.columns.info.words;
    const viewport = new Viewport(0, Math.max(1, lanes.longest(columns)));
    this.#painter = new FoldedPainter(rows, lanes, columns, warm, called, viewport);
    this.stage = new ChartStage(
      "tvmdbg-timeline-folded",
      {
        paint: (brush, width, height) => {
          this.#painter.scroll = this.#scroller.top;
          this.#painter.paint(brush, width, height);
        },
        over: (brush, width) => this.#over(brush, width),
        move: (at) => this.#hover(at),
        click: (x, y) => {
          const { row, lane } = this.#at(x, y);
          this.#pick(row, lane);
        },
        double: () => this.#fit(),
        wheel: (x, y, event) => this.#wheel(x, y, event),
      },
      host,
    );
    this.#scroller = new Scroller(this.stage, () => this.#painter.height, host.signal);
    const hatched = warm ? `; ${counted(warm, "repeat")} of warm-up, hatched` : "";
    const sentence =
      `synthetic timeline: operators back to back in ${order}, at the top each at its median with ` +
      `p10 … p90 below, then ${counted(columns, "repeat")}${hatched}`;
    this.node = div(
      "tvmdbg-timeline-other tvmdbg-column",
      div("tvmdbg-timeline-above", element("p", { class: "tvmdbg-muted" }, sentence)),
      this.#scroller.node,
    );
  }

  sync(): void {
    const { node, hovered } = this.#host.session;
    const rowOf = (wanted: number | null) =>
      this.#painter.rows.findIndex((row) => row.node === wanted);
    if (node !== null && this.#painter.rows[this.#current.row]?.node !== node) {
      this.#current = { row: rowOf(node), lane: MEDIAN };
      this.#reveal();
    } else if (node === null) this.#current = { row: -1, lane: MEDIAN };
    if (hovered === null) this.#hovered.row = -1;
    else if (this.#painter.rows[this.#hovered.row]?.node !== hovered) {
      this.#hovered = { row: rowOf(hovered), lane: MEDIAN };
    }
    this.stage.changed();
  }

  get sentence(): string {
    const row = this.#painter.rows[this.#current.row];
    return row ? this.#lines(row, this.#current.lane).join(", ") : "";
  }

  key(event: KeyboardEvent): boolean {
    const { row, lane } = this.#current;
    const last = this.#painter.rows.length - 1;
    const across = (by: number) => {
      const from = row < 0 && by < 0 ? last + 1 : row;
      this.#pick(Math.min(Math.max(0, from + by), last), lane);
    };
    const down = (by: number) => {
      this.#pick(
        Math.max(0, row),
        Math.min(Math.max(MEDIAN, lane + by), this.#painter.repeats - 1),
      );
    };
    if (arrows(event.key, across, down, 10)) return true;
    const { span, start } = this.#painter.viewport;
    const middle = row < 0 ? start + span / 2 : this.#painter.lanes.starts(lane)[row]!;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (["w", "+", "="].includes(key)) this.#painter.viewport.zoom(1 / 1.5, middle);
    else if (["s", "-"].includes(key)) this.#painter.viewport.zoom(1.5, middle);
    else if (key === "a" || key === "d")
      this.#painter.viewport.pan((key === "a" ? -0.2 : 0.2) * span);
    else if (key === "0") this.#painter.viewport.showAll();
    else if (key === "f" || key === "Enter") this.#fit();
    else return false;
    this.stage.changed();
    return true;
  }

  inspect(out: Record<string, unknown>): void {
    Object.assign(out, shifted(this.stage, this.node));
    out.current = this.#current;
    out.view = [this.#painter.viewport.start, this.#painter.viewport.end];
  }

  #lines({ key, median, p10, p90, values, noisy }: MatrixRow, lane: number): string[] {
    const { names, warm, lanes } = this.#painter;
    const whole = lanes.starts(lane).at(-1)!;
    const text = (ns: number) => names.timeText(ns);
    const ns = lane === MEDIAN ? median : values[lane]!;
    const here =
      lane === MEDIAN
        ? `median ${text(median)} of ${counted(values.length, "repeat")}`
        : `repeat ${integer(lane + 1)} of ${integer(values.length)}${lane < warm ? ", warm-up" : ""}: ` +
          `${text(ns)}, ${apartText(ns / median - 1)} of the median`;
    const of = lane === MEDIAN ? "the sum of medians" : `repeat ${integer(lane + 1)}`;
    return [
      names.title(key),
      here,
      `p10 … p90 ${text(p10)} … ${text(p90)}`,
      `${percent(ns / whole)} of ${duration(whole)}, ${of}`,
      ...(noisy ? ["noisy: p90 is more than 1.2 × p10"] : []),
    ];
  }

  #at(x: number, y: number): { row: number; lane: number } {
    const { width } = this.stage;
    const below = Math.floor((y - TOP + this.#scroller.top) / LANE);
    const lane = y < TOP ? MEDIAN : Math.min(below, this.#painter.repeats - 1);
    const left = this.#painter.gutter(width);
    if (y < AXIS || x < left || below >= this.#painter.repeats) return { row: -1, lane };
    const ns =
      this.#painter.viewport.start +
      ((x - left) / (width - left - 1)) * this.#painter.viewport.span;
    const starts = this.#painter.lanes.starts(lane);
    const row = lowerBound(starts, ns) - 1;
    return { row: row >= 0 && row < this.#painter.rows.length ? row : -1, lane };
  }

  #over(brush: Brush, width: number): void {
    for (const [{ row, lane }, line] of [
      [this.#hovered, 1],
      [this.#current, 2],
    ] as const) {
      const box = this.#painter.box(row, lane, width);
      if (box && (lane === MEDIAN || box.y >= TOP - LANE / 2)) brush.frame(box, line);
    }
  }

  #pick(row: number, lane: number): void {
    const operator = this.#painter.rows[row];
    this.#host.pick(operator ? [operator.node] : []);
    this.#current = { row, lane };
    this.#reveal();
    if (this.sentence) this.#host.say(this.sentence);
    this.stage.changed();
  }

  #reveal(): void {
    const { row, lane } = this.#current;
    if (row < 0) return;
    const starts = this.#painter.lanes.starts(lane);
    this.#painter.viewport.reveal(starts[row]!, starts[row + 1]!);
    if (lane >= 0) this.#scroller.reveal(TOP + lane * LANE, LANE, TOP);
  }

  #fit(): void {
    const { row, lane } = this.#current;
    if (row < 0) return;
    const starts = this.#painter.lanes.starts(lane);
    const margin = (starts[row + 1]! - starts[row]!) / 2;
    this.#painter.viewport.show(starts[row]! - margin, starts[row + 1]! + margin);
    this.stage.changed();
  }

  #wheel(x: number, y: number, event: WheelEvent): boolean {
    const { width } = this.stage;
    const left = this.#painter.gutter(width);
    if (
      !event.ctrlKey &&
      !event.metaKey &&
      y > TOP &&
      this.#painter.repeats * LANE > this.stage.height - TOP
    )
      return false;
    const at =
      this.#painter.viewport.start + ((x - left) / (width - left)) * this.#painter.viewport.span;
    this.#painter.viewport.zoom(1.0018 ** event.deltaY, at);
    this.stage.changed();
    return true;
  }

  #hover(at: { x: number; y: number } | null): void {
    const hit = at ? this.#at(at.x, at.y) : { row: -1, lane: MEDIAN };
    const row = this.#painter.rows[hit.row];
    if (hit.row !== this.#hovered.row) this.#host.hover(row ? row.node : null);
    this.#hovered = hit;
    this.stage.touched();
    const lines = row ? this.#lines(row, hit.lane) : null;
    this.#host.tip(lines, at?.x ?? 0, (at?.y ?? 0) + this.#scroller.node.offsetTop);
  }
}
