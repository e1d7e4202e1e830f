import type { RepeatsColumns } from "../../shared/client/answers.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted, duration, exactNs, integer } from "../../shared/format.ts";
import { div, element } from "../../shell/dom.ts";
import { ItemNames } from "../data/item_names.ts";
import type { TimelineOptions } from "../data/state.ts";
import { apartText, HeatPainter, legend, ROW, TOP, TOTALS } from "./heat_painter.ts";
import { type MatrixRow, RepeatMatrix } from "./repeat_matrix.ts";
import { arrows, type ChartHost, ChartStage, type OtherChart, Scroller, shifted } from "./stage.ts";

/** Operators × repeats, which shows slow repeats of an operator. Warm-up is a column, noise is a row. */
export class Heat implements OtherChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly #called: ItemNames;
  readonly #matrix: RepeatMatrix;
  /** Number of the first repeats that are warm-up. */
  readonly #warm: number;
  readonly stage: ChartStage;
  readonly #scroller: Scroller;
  readonly #note = element("p", { class: "tvmdbg-muted" });
  readonly #painter: HeatPainter;
  #current = { row: -1, repeat: -1 };
  #hovered = { row: -1, repeat: -1 };

  constructor(host: ChartHost, repeats: RepeatsColumns) {
    this.#host = host;
    const key = element("div");
    let keyed: Theme | null = null;
    this.#called = new ItemNames(repeats, host.data);
    this.#matrix = new RepeatMatrix(repeats);
    this.#warm = this.#matrix.ofSlices ? 0 : this.#matrix.warm;
    this.#painter = new HeatPainter(this.#matrix, this.#called);
    this.stage = new ChartStage(
      "tvmdbg-timeline-heat",
      {
        paint: (brush, width, height) => {
          if (brush.theme !== keyed) {
            keyed = brush.theme;
            key.replaceChildren(legend(keyed, this.#matrix.spread));
          }
          this.#painter.scroll = this.#scroller.top;
          this.#painter.paint(brush, width, height);
        },
        over: (brush, width) => {
          for (const [at, line] of [
            [this.#hovered, 1],
            [this.#current, 2],
          ] as const) {
            const box = this.#painter.box(at.row, at.repeat, width);
            if (box && box.y >= TOP - ROW) brush.frame(box, line);
          }
        },
        move: (at) => this.#hover(at),
        click: (x, y) => {
          const { row, repeat } = this.#at(x, y);
          this.#pick(row, repeat);
        },
      },
      host,
    );
    this.#scroller = new Scroller(this.stage, () => this.#painter.height, host.signal);
    this.node = div(
      "tvmdbg-timeline-other tvmdbg-column",
      div("tvmdbg-timeline-above", this.#note, key),
      this.#scroller.node,
    );
    host.options.onChange("sort", () => this.#sort(), host.signal);
    this.#sort();
  }

  sync(): void {
    const { session, data } = this.#host;
    const { node, hovered } = session;
    const wanted = this.#called.rowOf(this.#called.selected(node, data.scene.current));
    if (this.#current.row !== wanted) {
      this.#current = { row: wanted, repeat: -1 };
      this.#reveal();
    }
    if (hovered === null && !((this.#matrix.rows[this.#hovered.row]?.node ?? 0) < 0))
      this.#hovered.row = -1;
    else if (hovered !== null && this.#matrix.rows[this.#hovered.row]?.node !== hovered) {
      this.#hovered = { row: this.#called.rowOf(hovered), repeat: -1 };
    }
    this.stage.touched();
  }

  get sentence(): string {
    const row = this.#matrix.rows[this.#current.row];
    return row && this.#current.repeat >= 0
      ? this.#lines(row, this.#current.repeat).join(", ")
      : "";
  }

  key(event: KeyboardEvent): boolean {
    const { row, repeat } = this.#current;
    const last = this.#painter.order.length - 1;
    const place = row < 0 ? -1 : this.#painter.placeOf(row);
    const page = Math.max(1, Math.floor((this.stage.height - TOP) / ROW) - 1);
    const down = (by: number) => {
      const to = Math.min(Math.max(0, place < 0 && by < 2 ? 0 : place + by), last);
      this.#pick(this.#painter.order[to] ?? -1, Math.max(0, repeat));
    };
    const across = (by: number) => {
      const to = row < 0 ? (this.#painter.order[0] ?? -1) : row;
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
        this.stage.touched();
        return true;
      default:
        return false;
    }
  }

  inspect(out: Record<string, unknown>): void {
    Object.assign(out, shifted(this.stage, this.node));
    out.current = this.#current;
    out.hovered = this.#hovered;
    out.totals = [...this.#matrix.totals];
    out.spread = this.#matrix.spread;
  }

  #sort(): void {
    this.#painter.order = this.#matrix.order(this.#host.options.get("sort"));
    this.#note.textContent = this.#about(this.#host.options.get("sort"));
    this.#scroller.fit();
  }

  #about(sort: TimelineOptions["sort"]): string {
    const { columns, ofSlices, rows } = this.#matrix;
    const order =
      sort === "time" ? "longest first" : this.#host.data.slices.columns.info.words.order;
    const what = ofSlices
      ? `columns are the slices of each name, by start time (up to ${integer(columns)}), not repeats of the run`
      : `${counted(columns, "repeat")} across`;
    const warm = this.#warm ? `; left of the line: warm-up, ${counted(this.#warm, "repeat")}` : "";
    return `${counted(rows.length, "row")}, ${order}; ${what}${warm}`;
  }

  #totalLines(repeat: number): string[] {
    const total = this.#matrix.totals[repeat]!;
    const warm = repeat < this.#warm ? ["warm-up"] : [];
    return [`repeat ${repeat + 1}`, `total of all rows ${duration(total)}`, ...warm];
  }

  /** Facts of a row, or of one of its repeats (-1: the row). */
  #lines(row: MatrixRow, repeat: number): string[] {
    const { median, p10, p90, values } = row;
    const title = this.#called.title(row.key);
    const item = this.#matrix.ofSlices ? "slice" : "repeat";
    const text = (ns: number) => this.#called.timeText(ns);
    const all = `median ${text(median)}, p10 … p90 ${text(p10)} … ${text(p90)}, ${counted(values.length, item)}`;
    const noisy = row.noisy ? ["noisy: p90 is more than 1.2 × p10"] : [];
    if (repeat < 0) return [title, all, ...noisy];
    const ns = values[repeat]!;
    const warm = repeat < this.#warm ? ", warm-up" : "";
    const apart = `${text(ns)} (${exactNs(ns)}), ${apartText(ns / median - 1)} of the median`;
    return [
      title,
      `${item} ${integer(repeat + 1)} of ${integer(values.length)}${warm}`,
      Number.isFinite(ns) ? apart : "no value",
      all,
      ...noisy,
    ];
  }

  #at(x: number, y: number): { row: number; repeat: number } {
    const { width } = this.stage;
    const place = Math.floor((y - TOP + this.#scroller.top) / ROW);
    const row = y < TOP ? -1 : (this.#painter.order[place] ?? -1);
    const left = this.#painter.gutter(width);
    const at = Math.floor(((x - left) / (width - left - 1)) * this.#matrix.columns);
    const count = row < 0 ? this.#matrix.columns : this.#matrix.rows[row]!.values.length;
    return { row, repeat: x < left || at >= count ? -1 : at };
  }

  #pick(row: number, repeat: number): void {
    const operator = this.#matrix.rows[row];
    this.#current = { row, repeat };
    const { slices } = this.#host.data;
    const lasting = this.#matrix.ofSlices && operator ? this.#called.slicesOf(row) : [];
    const slice = lasting.filter((at) => slices.durationOf(at) > 0)[Math.max(0, repeat)];
    if (!operator) this.#host.pick([]);
    else if (slice !== undefined) this.#host.pick([], slice);
    else this.#host.pick(this.#called.nodes(row));
    this.#current = { row, repeat };
    this.#reveal();
    if (this.sentence) this.#host.say(this.sentence);
    this.stage.touched();
  }

  #reveal(): void {
    const { row } = this.#current;
    if (row >= 0) this.#scroller.reveal(TOP + this.#painter.placeOf(row) * ROW, ROW, TOP);
  }

  #hover(at: { x: number; y: number } | null): void {
    const hit = at ? this.#at(at.x, at.y) : { row: -1, repeat: -1 };
    const row = this.#matrix.rows[hit.row];
    if (hit.row !== this.#hovered.row) this.#host.hover(row && row.node >= 0 ? row.node : null);
    this.#hovered = hit;
    this.stage.touched();
    const lines = row
      ? this.#lines(row, hit.repeat)
      : at && at.y < TOTALS && hit.repeat >= 0 && this.#matrix.totals.length
        ? this.#totalLines(hit.repeat)
        : null;
    this.#host.tip(lines, at?.x ?? 0, (at?.y ?? 0) + this.#scroller.node.offsetTop);
  }
}
