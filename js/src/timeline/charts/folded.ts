import type { RepeatsColumns } from "../../shared/client/timeline_columns.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import { type Rectangle, Viewport } from "../../shared/drawing/canvas.ts";
import { counted, duration, integer, percent } from "../../shared/format.ts";
import { lowerBound } from "../../shared/many.ts";
import { element } from "../../shell/dom.ts";
import { ItemNames } from "../data/item_names.ts";
import { AXIS, FoldedPainter, LANE, Lanes, MEDIAN, TOP } from "./folded_painter.ts";
import { apartText } from "./heat_painter.ts";
import { RepeatMatrix } from "./repeat_matrix.ts";
import { arrows, type ChartHost, ScrolledChart } from "./stage.ts";

interface FoldedItem {
  row: number;
  lane: number;
}

/** All repeats on one axis: operators laid end to end, with their medians on top, and one lane per repeat below. */
export class FoldedChart extends ScrolledChart<FoldedItem> {
  readonly #painter: FoldedPainter;

  constructor(host: ChartHost, repeats: RepeatsColumns) {
    super(host, "tvmdbg-timeline-folded", { row: -1, lane: MEDIAN });
    const called = new ItemNames(repeats, host.data);
    const { columns, rows, warm } = new RepeatMatrix(repeats);
    const lanes = new Lanes(rows);
    const { order } = host.data.slices.columns.info.words;
    const viewport = new Viewport(0, Math.max(1, lanes.longest(columns)));
    this.#painter = new FoldedPainter(rows, lanes, columns, warm, called, viewport);
    const hatched = warm ? `; ${counted(warm, "repeat")} of warm-up, hatched` : "";
    const sentence =
      `synthetic timeline: operators back to back in ${order}, at the top each at its median with ` +
      `p10 … p90 below, then ${counted(columns, "repeat")}${hatched}`;
    this.above.append(element("p", { class: "tvmdbg-muted" }, sentence));
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    this.#painter.scroll = this.top;
    this.#painter.paint(brush, width, height);
  }

  height(): number {
    return this.#painter.height;
  }

  sync(): void {
    const { node, hovered } = this.host.session;
    const item = (wanted: number | null): FoldedItem => {
      const row = this.#painter.rows.findIndex((row) => row.node === wanted);
      return { row, lane: MEDIAN };
    };
    if (node === null) this.current = this.none;
    else if (this.nodeOf(this.current) !== node) {
      this.current = item(node);
      this.#reveal();
    }
    if (hovered === null || this.nodeOf(this.hovered) !== hovered) this.hovered = item(hovered);
    this.stage.changed();
  }

  get sentence(): string {
    return this.lines(this.current)?.join(", ") ?? "";
  }

  key(event: KeyboardEvent): boolean {
    const { row, lane } = this.current;
    const last = this.#painter.rows.length - 1;
    const across = (by: number) => {
      const from = row < 0 && by < 0 ? last + 1 : row;
      this.pick({ row: Math.min(Math.max(0, from + by), last), lane });
    };
    const down = (by: number) => {
      const to = Math.min(Math.max(MEDIAN, lane + by), this.#painter.repeats - 1);
      this.pick({ row: Math.max(0, row), lane: to });
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
    else if (key === "f" || key === "Enter") this.doubleClick();
    else return false;
    this.stage.changed();
    return true;
  }

  protected get facts(): object {
    return { view: [this.#painter.viewport.start, this.#painter.viewport.end] };
  }

  protected nodeOf({ row }: FoldedItem): number {
    return this.#painter.rows[row]?.node ?? -1;
  }

  protected lines({ row, lane }: FoldedItem): string[] | null {
    const { names, warm, lanes, rows } = this.#painter;
    if (!rows[row]) return null;
    const { key, median, p10, p90, values, noisy } = rows[row];
    const whole = lanes.starts(lane).at(-1)!;
    const text = (ns: number) => names.data.slices.timeText(ns);
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

  protected at(x: number, y: number): FoldedItem {
    const { width } = this.stage;
    const below = Math.floor((y - TOP + this.top) / LANE);
    const lane = y < TOP ? MEDIAN : Math.min(below, this.#painter.repeats - 1);
    const left = this.#painter.gutter(width);
    if (y < AXIS || x < left || below >= this.#painter.repeats) return { row: -1, lane };
    const starts = this.#painter.lanes.starts(lane);
    const row = lowerBound(starts, this.#painter.ns(x, width)) - 1;
    return { row: row >= 0 && row < this.#painter.rows.length ? row : -1, lane };
  }

  protected box({ row, lane }: FoldedItem, width: number): Rectangle | null {
    const box = this.#painter.box(row, lane, width);
    return box && (lane === MEDIAN || box.y >= TOP - LANE / 2) ? box : null;
  }

  protected pick(item: FoldedItem): void {
    const node = this.nodeOf(item);
    this.host.choose("chart", node < 0 ? [] : [node]);
    this.current = item;
    this.#reveal();
    if (this.sentence) this.host.say(this.sentence);
    this.stage.changed();
  }

  #reveal(): void {
    const { row, lane } = this.current;
    if (row < 0) return;
    const starts = this.#painter.lanes.starts(lane);
    this.#painter.viewport.reveal(starts[row]!, starts[row + 1]!);
    if (lane >= 0) this.reveal(TOP + lane * LANE, LANE, TOP);
  }

  /** Fits the current operator. */
  doubleClick(): void {
    const { row, lane } = this.current;
    if (row < 0) return;
    const starts = this.#painter.lanes.starts(lane);
    const margin = (starts[row + 1]! - starts[row]!) / 2;
    this.#painter.viewport.show(starts[row]! - margin, starts[row + 1]! + margin);
    this.stage.changed();
  }

  wheel(x: number, y: number, { ctrlKey, metaKey, deltaY }: WheelEvent): boolean {
    const scrolls = this.#painter.repeats * LANE > this.stage.height - TOP;
    if (!ctrlKey && !metaKey && y > TOP && scrolls) return false;
    this.#painter.viewport.zoom(1.0018 ** deltaY, this.#painter.ns(x, this.stage.width));
    this.stage.changed();
    return true;
  }
}
