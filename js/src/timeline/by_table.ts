import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { element } from "../shell/dom.ts";
import { RowsInView } from "../shell/scrolling.ts";
import type { Slices } from "./data/slices.ts";
import type { SumRow, SumTable } from "./data/sum_table.ts";
import { NOISY_RULE } from "./descriptions.ts";
import { columnHeads } from "./table.ts";

const ROW = 22;

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

let serial = 0;

/** Times by any grouping, with rows below rows on demand; only visible rows are in the document. */
export class ByTable {
  readonly node: HTMLElement;
  readonly #id = `tvmdbg-timeline-by-${++serial}`;
  readonly #body = element("div", { class: "tvmdbg-timeline-rows", role: "rowgroup" });
  readonly #head = element("div", {
    class: "tvmdbg-timeline-head tvmdbg-timeline-row",
    role: "row",
    "aria-rowindex": 1,
  });
  readonly #events: ByEvents;
  #rows: SumTable | null = null;
  readonly #inView: RowsInView;
  #lines: SumLine[] = [];
  readonly #open = new Set<string>();
  readonly #inside = new Map<string, readonly SumRow[]>();
  #current = -1;
  readonly #slices: Slices;
  #theme: Theme;

  constructor(slices: Slices, theme: Theme, events: ByEvents, signal: AbortSignal) {
    this.#slices = slices;
    this.#theme = theme;
    this.#events = events;
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-table", role: "treegrid", "data-columns": "by", tabindex: -1 },
      this.#head,
      this.#body,
    );
    this.#inView = new RowsInView(this.node, this.#body, ROW, (at) => this.#line(at), signal);
    const lineOf = (event: Event) => this.#inView.placeOf(event);
    const click = (event: MouseEvent) => {
      const at = lineOf(event);
      if (at < 0) return;
      const isTwisty = (event.target as Element).matches(".twisty");
      if (isTwisty) this.#toggle(at);
      else this.#go(at);
    };
    this.#body.addEventListener("click", click, { signal });
    this.#body.addEventListener("dblclick", (event) => this.#toggle(lineOf(event)), { signal });
    const over = (event: Event) => events.hover(this.#lines[lineOf(event)]?.row ?? null);
    this.#body.addEventListener("pointermove", over, { signal });
    this.#body.addEventListener("pointerleave", () => events.hover(null), { signal });
  }

  get current(): SumRow | null {
    return this.#lines[this.#current]?.row ?? null;
  }

  get activeId(): string | null {
    return this.#current < 0 ? null : `${this.#id}-${this.#current}`;
  }

  /** @param lasts Meaning of the durations; may be "". */
  show(rows: SumTable, title: string, lasts: string): void {
    this.#rows = rows;
    this.#open.clear();
    this.#inside.clear();
    this.#current = -1;
    this.node.ariaLabel = `times by ${title}`;
    this.#header(title, lasts);
    this.#layOut();
  }

  find(nodes: readonly number[]): void {
    const wanted = nodesKey(nodes);
    if (this.#current >= 0 && nodesKey(this.current!.nodes) === wanted) return;
    this.#current = wanted
      ? this.#lines.findIndex(({ row }) => nodesKey(row.nodes) === wanted)
      : -1;
    this.#inView.reveal(this.#current);
    this.paint();
  }

  key(event: KeyboardEvent): boolean {
    const at = this.#current;
    const line = this.#lines[at];
    const isOpen = !!line && this.#open.has(line.row.id);
    const to = this.#inView.placeByKey(event.key, at);
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

  retheme(theme: Theme): void {
    this.#theme = theme;
    this.paint();
  }

  paint(): void {
    this.#inView.mark("current", this.#current);
    this.#inView.paint();
  }

  #go(at: number): void {
    const line = this.#lines[at];
    if (!line) return;
    this.#current = at;
    this.#inView.reveal(at);
    this.paint();
    this.#events.pick(line.row);
  }

  #toggle(at: number): void {
    const row = this.#lines[at]?.row;
    if (!row?.inside) return;
    if (!this.#open.delete(row.id)) this.#open.add(row.id);
    this.#current = at;
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
    this.#inView.length = lines.length;
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
    this.#head.replaceChildren(...columnHeads(cells));
  }

  #line(at: number): HTMLElement {
    const { row, level, sum } = this.#lines[at]!;
    const { total } = this.#rows!.info;
    const share = total > 0 && row.isWork ? row.ns / total : Number.NaN;
    const isOpen = this.#open.has(row.id);
    const chip = element("i", { class: "tvmdbg-timeline-chip tvmdbg-swatch" });
    if (row.kind) chip.style.backgroundColor = kindFill(this.#theme, row.kind);
    else chip.classList.add("several");
    const bar = element("i", { class: "tvmdbg-timeline-share" });
    const longest = this.#rows!.rows[0]?.ns || 1;
    bar.style.width = row.isWork ? `${100 * (row.ns / longest)}%` : "0";
    const twisty = element("i", { class: "twisty" }, row.inside ? (isOpen ? "▾" : "▸") : "");
    const time = (ns: number) => (Number.isNaN(ns) ? "–" : this.#slices.timeText(ns));
    const short = this.#slices.isShort(row.ns);
    const half = (row.high - row.low) / 2;
    const interval = `${time(row.low)} … ${time(row.high)}, ${counted(row.repeats, "repeat")}`;
    const cell = (name: string, title: string, ...content: (Node | string | false)[]) =>
      element("span", { class: name, role: "gridcell", title: title || undefined }, ...content);
    const label = cell(
      "label",
      row.label,
      twisty,
      chip,
      row.label,
      row.noisy && element("b", { class: "tvmdbg-timeline-noisy", title: NOISY_RULE }, "noisy"),
    );
    label.style.paddingLeft = `${level * 14}px`;
    return element(
      "div",
      {
        class: "tvmdbg-timeline-row",
        role: "row",
        id: `${this.#id}-${at}`,
        "aria-rowindex": at + 2,
        "aria-level": level + 1,
        "aria-expanded": row.inside ? String(isOpen) : undefined,
        "aria-selected": String(at === this.#current),
      },
      label,
      cell("time", short ? "" : `${row.ns} ns`, this.#slices.timeText(row.ns)),
      cell(
        "share",
        short
          ? ""
          : row.isWork
            ? `${percent(share)} of ${duration(total)}`
            : "no part of an execution",
        bar,
        row.isWork && !short ? percent(share) : "–",
      ),
      cell("sum", "", Number.isNaN(sum) ? "–" : percent(Math.min(1, sum / total))),
      cell("count", "", integer(row.count)),
      cell("mean", "", time(row.mean)),
      cell("p50", "", time(row.p50)),
      cell("p90", "", time(row.p90)),
      cell(
        "ci",
        Number.isNaN(half) ? "" : interval,
        Number.isNaN(half) ? "–" : `± ${duration(half)}`,
      ),
    );
  }
}

/** Key of a set of nodes, whatever their order. */
function nodesKey(nodes: readonly number[]): string {
  return nodes.toSorted((a, b) => a - b).join();
}
