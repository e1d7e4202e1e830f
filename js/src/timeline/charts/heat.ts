import type { RepeatsColumns } from "../../shared/client/timeline_columns.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import type { Rectangle } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted, duration, exactNs, integer } from "../../shared/format.ts";
import { element } from "../../shell/dom.ts";
import { ItemNames } from "../data/item_names.ts";
import type { TimelineOptions } from "../data/state.ts";
import { apartText, HeatPainter, legend, ROW, TOP, TOTALS } from "./heat_painter.ts";
import { RepeatMatrix } from "./repeat_matrix.ts";
import { arrows, type ChartHost, ScrolledChart } from "./stage.ts";

interface HeatItem {
  row: number;
  /** -1: the row. */
  repeat: number;
}

/** Operators × repeats, which shows slow repeats of an operator. Warm-up is a column, noise is a row. */
export class Heat extends ScrolledChart<HeatItem> {
  readonly #called: ItemNames;
  readonly #matrix: RepeatMatrix;
  /** Number of the first repeats that are warm-up. */
  readonly #warm: number;
  readonly #note = element("p", { class: "tvmdbg-muted" });
  readonly #key = element("div");
  #keyed: Theme | null = null;
  readonly #painter: HeatPainter;

  constructor(host: ChartHost, repeats: RepeatsColumns) {
    super(host, "tvmdbg-timeline-heat", { row: -1, repeat: -1 });
    this.#called = new ItemNames(repeats, host.data);
    this.#matrix = new RepeatMatrix(repeats);
    this.#warm = this.#matrix.ofSlices ? 0 : this.#matrix.warm;
    this.#painter = new HeatPainter(this.#matrix, this.#called);
    this.above.append(this.#note, this.#key);
    const { options, signal } = host.context;
    options.onChange("sort", () => this.#sort(), signal);
    this.#sort();
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    if (brush.theme !== this.#keyed) {
      this.#keyed = brush.theme;
      this.#key.replaceChildren(legend(brush.theme, this.#matrix.spread));
    }
    this.#painter.scroll = this.top;
    this.#painter.paint(brush, width, height);
  }

  height(): number {
    return this.#painter.height;
  }

  sync(): void {
    const { session, data } = this.host;
    const { node, hovered } = session;
    const wanted = this.#called.rowOf(this.#called.selected(node, data.scene.current));
    if (this.current.row !== wanted) {
      this.current = { row: wanted, repeat: -1 };
      this.#reveal();
    }
    const own = this.nodeOf(this.hovered);
    if (hovered === null && own >= 0) this.hovered = this.none;
    else if (hovered !== null && own !== hovered) {
      this.hovered = { row: this.#called.rowOf(hovered), repeat: -1 };
    }
    this.stage.touched();
  }

  get sentence(): string {
    const { row, repeat } = this.current;
    return row >= 0 && repeat >= 0 ? this.lines(this.current)!.join(", ") : "";
  }

  key(event: KeyboardEvent): boolean {
    const { row, repeat } = this.current;
    const last = this.#painter.order.length - 1;
    const place = row < 0 ? -1 : this.#painter.placeOf(row);
    const page = Math.max(1, Math.floor((this.stage.height - TOP) / ROW) - 1);
    const down = (by: number) => {
      const to = Math.min(Math.max(0, place < 0 && by < 2 ? 0 : place + by), last);
      this.pick({ row: this.#painter.order[to] ?? -1, repeat: Math.max(0, repeat) });
    };
    const across = (by: number) => {
      const to = row < 0 ? (this.#painter.order[0] ?? -1) : row;
      const count = this.#matrix.rows[to]?.values.length ?? 0;
      const from = repeat < 0 ? (by < 0 ? count : -1) : repeat;
      this.pick({ row: to, repeat: Math.min(Math.max(0, from + by), count - 1) });
    };
    if (arrows(event.key, across, down, page)) return true;
    switch (event.key) {
      case "Enter":
        this.#reveal();
        return true;
      case "Escape":
        if (repeat < 0) return false;
        this.current = { row, repeat: -1 };
        this.stage.touched();
        return true;
      default:
        return false;
    }
  }

  protected get facts(): object {
    const { totals, spread } = this.#matrix;
    return { totals: [...totals], spread };
  }

  protected nodeOf({ row }: HeatItem): number {
    return this.#matrix.rows[row]?.node ?? -1;
  }

  #sort(): void {
    const sort = this.host.context.options.get("sort");
    this.#painter.order = this.#matrix.order(sort);
    this.#note.textContent = this.#about(sort);
    this.fit();
  }

  #about(sort: TimelineOptions["sort"]): string {
    const { columns, ofSlices, rows } = this.#matrix;
    const order =
      sort === "time" ? "longest first" : this.host.data.slices.columns.info.words.order;
    const what = ofSlices
      ? `columns are the slices of each name, by start time (up to ${integer(columns)}), not repeats of the run`
      : `${counted(columns, "repeat")} across`;
    const warm = this.#warm ? `; left of the line: warm-up, ${counted(this.#warm, "repeat")}` : "";
    return `${counted(rows.length, "row")}, ${order}; ${what}${warm}`;
  }

  /** Facts of a row, of one of its repeats, or of the total of a repeat. */
  protected lines({ row: at, repeat }: HeatItem): string[] | null {
    const row = this.#matrix.rows[at];
    const isWarm = repeat < this.#warm;
    const total = this.#matrix.totals[repeat];
    if (!row) {
      if (total === undefined) return null;
      const text = `total of all rows ${duration(total)}`;
      return [`repeat ${repeat + 1}`, text, ...(isWarm ? ["warm-up"] : [])];
    }
    const { median, p10, p90, values } = row;
    const title = this.#called.title(row.key);
    const item = this.#matrix.ofSlices ? "slice" : "repeat";
    const text = (ns: number) => this.#called.data.slices.timeText(ns);
    const all = `median ${text(median)}, p10 … p90 ${text(p10)} … ${text(p90)}, ${counted(values.length, item)}`;
    const noisy = row.noisy ? ["noisy: p90 is more than 1.2 × p10"] : [];
    if (repeat < 0) return [title, all, ...noisy];
    const ns = values[repeat]!;
    const warm = isWarm ? ", warm-up" : "";
    const apart = `${text(ns)} (${exactNs(ns)}), ${apartText(ns / median - 1)} of the median`;
    return [
      title,
      `${item} ${integer(repeat + 1)} of ${integer(values.length)}${warm}`,
      Number.isFinite(ns) ? apart : "no value",
      all,
      ...noisy,
    ];
  }

  protected at(x: number, y: number): HeatItem {
    const { width } = this.stage;
    const place = Math.floor((y - TOP + this.top) / ROW);
    const row = y < TOP ? -1 : (this.#painter.order[place] ?? -1);
    const left = this.#painter.gutter(width);
    const at = Math.floor(((x - left) / (width - left - 1)) * this.#matrix.columns);
    const count = row < 0 ? this.#matrix.columns : this.#matrix.rows[row]!.values.length;
    const isNone = x < left || at >= count || (row < 0 && y >= TOTALS);
    return { row, repeat: isNone ? -1 : at };
  }

  protected box({ row, repeat }: HeatItem, width: number): Rectangle | null {
    const box = this.#painter.box(row, repeat, width);
    return box && box.y >= TOP - ROW ? box : null;
  }

  protected pick(item: HeatItem): void {
    const { row, repeat } = item;
    const operator = this.#matrix.rows[row];
    this.current = item;
    const { slices } = this.host.data;
    const lasting = this.#matrix.ofSlices && operator ? this.#called.slicesOf(row) : [];
    const slice = lasting.filter((at) => slices.durationOf(at) > 0)[Math.max(0, repeat)];
    if (slice !== undefined) this.host.choose("chart", [], slice);
    else this.host.choose("chart", operator ? this.#called.nodes(row) : []);
    this.current = item;
    this.#reveal();
    if (this.sentence) this.host.say(this.sentence);
    this.stage.touched();
  }

  #reveal(): void {
    const { row } = this.current;
    if (row >= 0) this.reveal(TOP + this.#painter.placeOf(row) * ROW, ROW, TOP);
  }
}
