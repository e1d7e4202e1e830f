import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { largest } from "../shared/many.ts";
import { element } from "../shell/dom.ts";
import type { Slices } from "./data/slices.ts";
import type { SumRow, SumTable } from "./data/sum_table.ts";
import {
  chip,
  columnHeads,
  gridCell,
  MARK,
  NO_PART,
  noisyBadge,
  RowTable,
  shareBar,
} from "./row_table.ts";

export interface ByEvents {
  pick(row: SumRow): void;
  hover(row: SumRow | null): void;
}

interface SumLine {
  row: SumRow;
  level: number;
  /** Index of the parent row, -1 at the top. */
  around: number;
  /** Cumulative share of all rows; NaN below the top. */
  sum: number;
}

const TWISTY = 14;

/** Times by any grouping, with rows below rows on demand; only visible rows are in the document. */
export class ByTable extends RowTable {
  readonly node = this.scroller;
  readonly #events: ByEvents;
  #rows: SumTable | null = null;
  #lines: SumLine[] = [];
  readonly #open = new Set<string>();
  readonly #inside = new Map<string, readonly SumRow[]>();
  readonly #slices: Slices;

  constructor(slices: Slices, theme: Theme, events: ByEvents, signal: AbortSignal) {
    const look = { class: "tvmdbg-timeline-table", role: "treegrid", "data-columns": "by" };
    super(theme, look, signal);
    this.#slices = slices;
    this.#events = events;
    const toggle = (event: Event) => this.#toggle(this.inView.placeOf(event));
    this.node.addEventListener("dblclick", toggle, { signal });
  }

  protected click(place: number, event: MouseEvent): void {
    if ((event.target as Element).matches(".twisty")) this.#toggle(place);
    else this.#go(place);
  }

  protected over(place: number): void {
    this.#events.hover(this.#lines[place]?.row ?? null);
  }

  protected placeOf(line: number): number {
    return line;
  }

  get picked(): SumRow | null {
    return this.#lines[this.current]?.row ?? null;
  }

  /** @param lasts Meaning of the durations; may be "". */
  show(rows: SumTable, title: string, lasts: string): void {
    this.#rows = rows;
    this.#open.clear();
    this.#inside.clear();
    this.current = -1;
    this.node.ariaLabel = `times by ${title}`;
    this.#header(title, lasts);
    this.#layOut();
  }

  find(nodes: readonly number[]): void {
    const wanted = nodesKey(nodes);
    if (this.current >= 0 && nodesKey(this.picked!.nodes) === wanted) return;
    this.current = wanted ? this.#lines.findIndex(({ row }) => nodesKey(row.nodes) === wanted) : -1;
    this.reveal();
    this.paint();
  }

  key(event: KeyboardEvent): boolean {
    const at = this.current;
    const line = this.#lines[at];
    const isOpen = !!line && this.#open.has(line.row.id);
    const to = this.inView.placeByKey(event.key, at);
    if (to !== null) {
      this.#go(to);
      return true;
    }
    switch (event.key) {
      case "ArrowRight":
        if (isOpen) this.#go(at + 1);
        else if (line?.row.inside) this.#toggle(at);
        return true;
      case "ArrowLeft":
        if (isOpen) this.#toggle(at);
        else if (line && line.around >= 0) this.#go(line.around);
        return true;
      case "Enter":
      case " ":
        if (line?.row.inside) this.#toggle(at);
        return true;
      default:
        return false;
    }
  }

  #go(at: number): void {
    const line = this.#lines[at];
    if (!line) return;
    this.current = at;
    this.reveal();
    this.paint();
    this.#events.pick(line.row);
  }

  #toggle(at: number): void {
    const row = this.#lines[at]?.row;
    if (!row?.inside) return;
    if (!this.#open.delete(row.id)) this.#open.add(row.id);
    this.current = at;
    this.#layOut();
  }

  #layOut(): void {
    const lines: SumLine[] = [];
    const add = (rows: readonly SumRow[], level: number, around: number) => {
      let sum = 0;
      for (const row of rows) {
        sum += row.ns;
        const known = level === 0 && row.isWork && !this.#rows!.info.overlap;
        const at = lines.push({ row, level, around, sum: known ? sum : Number.NaN }) - 1;
        if (!row.inside || !this.#open.has(row.id)) continue;
        const inside = this.#inside.get(row.id) ?? row.inside();
        this.#inside.set(row.id, inside);
        add(inside, level + 1, at);
      }
    };
    add(this.#rows!.rows, 0, -1);
    this.#lines = lines;
    this.inView.length = lines.length;
    this.node.ariaRowCount = String(lines.length + 1);
    this.paint();
  }

  #header(title: string, lasts: string): void {
    const within = lasts && `. ${lasts}`;
    const cells: [string, string, string][] = [
      ["label", title, ""],
      ["time", "time", "self time: children are not counted"],
      ["share", "share", "share of the self time of all slices"],
      ["sum", "Σ share", "cumulative share of this row and all above; not where rows share slices"],
      ["count", "slices", "slices of operators: inputs and parameters take no time"],
      ["mean", "mean", `mean duration of slices, children included${within}`],
      ["p50", "p50", `median duration of slices, children included${within}`],
      ["p90", "p90", `90 % of the slices are shorter${within}`],
      [
        "ci",
        "time, 95 % CI",
        "95 % confidence interval of the mean time of all its nodes per repeat",
      ],
    ];
    this.head.replaceChildren(...columnHeads(cells));
  }

  protected line(at: number): HTMLElement {
    const { row, level, sum } = this.#lines[at]!;
    const { total } = this.#rows!.info;
    const share = total > 0 && row.isWork ? row.ns / total : Number.NaN;
    const isOpen = this.#open.has(row.id);
    const mark = chip(row.kind && kindFill(this.theme, row.kind));
    mark.classList.toggle("several", !row.kind);
    const longest =
      largest(
        this.#rows!.rows.slice(0, 50).map(({ ns }) => ns || 0),
        0,
      ) || 1;
    const twisty = element("i", { class: "twisty" }, row.inside ? (isOpen ? "▾" : "▸") : "");
    const time = (ns: number) => (Number.isNaN(ns) ? "–" : this.#slices.timeText(ns));
    const short = this.#slices.isShort(row.ns);
    const half = (row.high - row.low) / 2;
    const interval = `${time(row.low)} … ${time(row.high)}, ${counted(row.repeats, "repeat")}`;
    const noisy = row.noisy && noisyBadge();
    const name = this.named(row.label, MARK + TWISTY + 14 * level);
    const label = gridCell("label", row.label, twisty, mark, name, noisy);
    label.style.paddingLeft = `${level * 14}px`;
    return element(
      "div",
      {
        class: "tvmdbg-timeline-row",
        role: "row",
        id: this.idOf(at),
        "aria-rowindex": at + 2,
        "aria-level": level + 1,
        "aria-expanded": row.inside ? String(isOpen) : undefined,
        "aria-selected": String(at === this.current),
      },
      label,
      gridCell("time", short ? "" : `${row.ns} ns`, this.#slices.timeText(row.ns)),
      gridCell(
        "share",
        short ? "" : row.isWork ? `${percent(share)} of ${duration(total)}` : NO_PART,
        shareBar(row.isWork ? row.ns / longest : 0),
        row.isWork && !short ? percent(share) : "–",
      ),
      gridCell("sum", "", Number.isNaN(sum) ? "–" : percent(Math.min(1, sum / total))),
      gridCell("count", "", integer(row.count)),
      gridCell("mean", "", time(row.mean)),
      gridCell("p50", "", time(row.p50)),
      gridCell("p90", "", time(row.p90)),
      Number.isNaN(half)
        ? gridCell("ci", "", "–")
        : gridCell("ci", interval, `± ${duration(half)}`),
    );
  }
}

/** Key of a set of nodes, whatever their order. */
function nodesKey(nodes: readonly number[]): string {
  return nodes.toSorted((a, b) => a - b).join();
}
