import { TRUST_LABELS } from "../shared/client/answers.ts";
import type { TimelineWords } from "../shared/client/timeline_columns.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { button, element, span } from "../shell/dom.ts";
import { notHere } from "./data/bins.ts";
import type { Names } from "./data/names.ts";
import type { Ranking, RankingOrder } from "./data/ranking.ts";
import { commonSpread, type Repeats, repeatsOf, smallStrip } from "./data/repeats.ts";
import type { Slices } from "./data/slices.ts";
import type { TimelineData } from "./descriptions.ts";
import {
  chip,
  columnHeads,
  gridCell,
  MARK,
  NO_PART,
  NOISY,
  noisyBadge,
  RowTable,
  shareBar,
} from "./row_table.ts";

const BARE = ["rank", "id", "label", "time", "share", "sum"];
const REPEATED = [...BARE, "strip", "count", "spread"];
const CELLS = {
  graph: [...REPEATED, "kind", "trust"],
  repeats: REPEATED,
  bare: BARE,
  nested: [...BARE, "within"],
} as const satisfies Record<string, readonly string[]>;
type TableColumn = keyof typeof CELLS;

function columnsOf(
  { byName, repeats }: TimelineWords,
  graph: boolean,
  nested: boolean,
): TableColumn {
  if (graph) return "graph";
  if (byName) return nested ? "nested" : "bare";
  return repeats ? "repeats" : "bare";
}

export interface TableHost {
  readonly data: TimelineData;
  readonly context: { readonly signal: AbortSignal };
  readonly hovering: { row(row: number): void };
  activate(part: "table"): void;
  pickRow(row: number, toggle: boolean): void;
  sort(order: RankingOrder): void;
  act(act: () => void): void;
}

/** Operators by time or in execution order; only visible rows are in the document. */
export class TopTable extends RowTable {
  readonly node = this.scroller;
  readonly #host: TableHost;
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #spread: number;
  /** Columns with a known value in any row. */
  readonly #columns: TableColumn;
  order: RankingOrder;
  #rows: Int32Array = new Int32Array(0);
  #cumulative: Float64Array = new Float64Array(0);
  #positions = new Int32Array(0);
  #selected = new Set<number>();

  constructor(host: TableHost, theme: Theme, order: RankingOrder) {
    const { slices, names, ranking } = host.data;
    const { words } = slices.columns.info;
    const columns = columnsOf(words, names.known, slices.nested);
    const look = {
      class: "tvmdbg-timeline-table",
      role: "grid",
      "aria-label": `${words.rows} by ${words.time}`,
      "data-columns": columns,
    };
    super(theme, look, host.context.signal);
    this.#host = host;
    this.#slices = slices;
    this.#names = names;
    this.#ranking = ranking;
    this.#columns = columns;
    const { nodeP10, nodeP50, nodeP90 } = slices.columns;
    this.#spread = commonSpread(nodeP10, nodeP50, nodeP90);
    this.head.replaceChildren(...this.#header());
    this.inView.none = () =>
      slices.complete
        ? []
        : notHere(slices).map((line) => element("p", { class: "tvmdbg-muted" }, line));
    this.order = order;
    this.arrived();
  }

  get page(): number {
    return this.inView.page;
  }

  get count(): number {
    return this.#rows.length;
  }

  arrived(): void {
    const { length, slices } = this.#ranking;
    const { columns } = this.#slices;
    const digits = (largest: number) => `${String(Math.max(99, largest)).length}ch`;
    const largest = columns.info.words.byName
      ? slices.reduce((most, slice) => Math.max(most, slice), 0)
      : columns.nodeNs.length;
    this.node.ariaRowCount = String(length + 1);
    this.node.style.setProperty("--rank", digits(length));
    this.node.style.setProperty("--id", digits(largest));
    this.inView.length = length;
    this.sort(this.order);
  }

  sort(order: RankingOrder): void {
    this.order = order;
    this.#rows = this.#ranking.rows(order);
    this.#cumulative = this.#ranking.cumulative(this.#rows);
    this.#positions = new Int32Array(this.#rows.length);
    this.#rows.forEach((row, position) => {
      this.#positions[row] = position;
    });
    for (const button of this.head.querySelectorAll<HTMLElement>("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.order === order));
    }
    this.reveal();
    this.paint();
  }

  /** The row `by` rows below the current one (the first without one), -1 in an empty table. */
  next(by: number): number {
    if (!this.#rows.length) return -1;
    const position = this.placeOf(this.current) + by;
    return this.#rows[Math.min(Math.max(0, position), this.#rows.length - 1)]!;
  }

  /** Highlights rows; scrolls to a new current one. */
  select(current: number, selected: Iterable<number>): void {
    this.#selected = new Set(selected);
    const moved = this.current !== current;
    this.current = current;
    if (moved) this.reveal();
    this.paint();
  }

  hover(row: number): void {
    if (row !== this.hovered) this.light(row);
  }

  protected click(place: number, event: MouseEvent): void {
    this.#host.act(() => {
      this.#host.activate("table");
      const row = this.#rows[place];
      if (row !== undefined) this.#host.pickRow(row, event.ctrlKey || event.metaKey);
    });
  }

  protected over(place: number): void {
    this.#host.hovering.row(this.#rows[place] ?? -1);
  }

  protected placeOf(row: number): number {
    return row < 0 ? -1 : this.#positions[row]!;
  }

  #header(): HTMLElement[] {
    const sorter = (text: string, title: string, order: RankingOrder) => {
      const node = button(text, title, () => this.#host.act(() => this.#host.sort(order)));
      node.dataset.order = order;
      return node;
    };
    const { item, row, time, order, shares, byName } = this.#slices.columns.info.words;
    const [id, what] = byName ? ["n", "number of slices"] : ["id", `${item} id`];
    const cells: [string, HTMLElement | string, string][] = [
      ["rank", "#", `place by ${time}`],
      ["id", sorter(id!, `${what}; sort by ${order}`, "order"), ""],
      ["label", row, ""],
      ["kind", "kind", "op kind"],
      ["time", sorter(byName ? time : "time", `${time}: sort by it, longest first`, "time"), ""],
      ["share", "share", `share ${shares}`],
      ["sum", "Σ share", "cumulative share of this row and all above"],
      ["strip", "repeats", `each repeat relative to the median, scale ±${percent(this.#spread)}`],
      ["count", "n", "number of repeats"],
      ["spread", "p10 – p90", "percentiles of the repeats"],
      ["trust", "match", "how the time was matched to the node"],
      ["within", "total time", "sum of the durations, children included"],
    ];
    return columnHeads(cells.filter(([name]) => this.#has(name)));
  }

  protected line(position: number): HTMLElement {
    const row = this.#rows[position]!;
    const node = this.#ranking.node[row]!;
    const slice = this.#ranking.slice[row]!;
    const label =
      this.#ranking.callName(row) ||
      (slice < 0 ? this.#names.ofNode(node) : this.#names.ofSlice(slice));
    const shape = this.#names.shape(node);
    const kind = this.#ranking.kind[row]!;
    const name = node < 0 ? this.#slices.nameCodeOf(slice) : -1;
    const ns = this.#ranking.ns[row]!;
    const color = this.#names.fillOf(this.theme, node, name, kind, ns);
    const short = this.#slices.isShort(ns);
    const share = this.#ranking.shares[row]!;
    const { longest } = this.#ranking;
    const bar = shareBar(share > 0 ? Math.min(1, ns / (longest || 1)) : 0);
    const { nodeTrust, info } = this.#slices.columns;
    const { byName } = info.words;
    const repeats = repeatsOf(this.#slices.columns, node);
    const cell = (name: string, title: string | undefined, ...content: (Node | string | false)[]) =>
      this.#has(name) && gridCell(name, title, ...content);
    return element(
      "div",
      {
        class: "tvmdbg-timeline-row",
        role: "row",
        id: this.idOf(row),
        "aria-rowindex": position + 2,
        "aria-selected": this.#selected.has(row) ? "true" : "false",
      },
      cell("rank", undefined, row < this.#ranking.operators ? String(row + 1) : "–"),
      cell(
        "id",
        byName ? "slices with this name" : node < 0 ? "no node has this name" : undefined,
        byName ? integer(this.#ranking.slices[row]!) : node < 0 ? "–" : `#${node}`,
      ),
      cell(
        "label",
        this.#names.known ? `${label} (${kind})\n${this.#names.funcName(node)}` : label,
        chip(color),
        ...this.#title(label, shape, !!repeats?.noisy),
        !!repeats?.noisy && noisyBadge(),
      ),
      cell("kind", undefined, kind),
      cell("time", short ? undefined : `${ns} ns`, this.#slices.timeText(ns)),
      cell(
        "share",
        short ? undefined : this.#shareTitle(share),
        bar,
        short ? "–" : shareText(share),
      ),
      cell("sum", undefined, shareText(this.#cumulative[position]!)),
      cell("strip", undefined, repeats ? this.#strip(repeats) : "–"),
      cell("count", undefined, repeats ? integer(repeats.count) : "–"),
      cell(
        "spread",
        undefined,
        repeats
          ? `${this.#slices.timeText(repeats.p10)} – ${this.#slices.timeText(repeats.p90)}`
          : "–",
      ),
      cell(
        "trust",
        undefined,
        node < 0 ? this.#nodesOf(row) : (TRUST_LABELS[nodeTrust[node]!] ?? "unknown"),
      ),
      cell("within", undefined, this.#slices.timeText(this.#ranking.within[row]!)),
    );
  }

  /** A name with its shape; only the name, shortened, without room for both. */
  #title(label: string, shape: string, noisy: boolean): (Node | string)[] {
    const both = shape ? `${label} · ${shape}` : label;
    const less = MARK + (noisy ? NOISY : 0);
    const fits = this.named(both, less) === both;
    if (!fits) return [this.named(label, less)];
    return shape ? [label, span("tvmdbg-muted", ` · ${shape}`)] : [label];
  }

  #shareTitle(share: number): string {
    const { total } = this.#ranking;
    if (Number.isNaN(share)) return NO_PART;
    return `${percent(share)} of ${duration(total)}`;
  }

  #nodesOf(row: number): string {
    const call = this.#ranking.call[row]!;
    const count = call < 0 ? 0 : this.#slices.nodesOfCall(call).length;
    return count ? `${integer(count)} together` : "no node";
  }

  #has(name: string): boolean {
    return CELLS[this.#columns].includes(name);
  }

  #strip(repeats: Repeats): Element {
    const { count, p10, p50, p90 } = repeats;
    const apart = (value: number) =>
      `${value >= p50 ? "+" : "−"}${percent(Math.abs(value / p50 - 1))}`;
    const title = `${counted(count, "repeat")}: p10 … p90 at ${apart(p10)} … ${apart(p90)} of the median`;
    return smallStrip(repeats, this.#spread, title);
  }
}

function shareText(share: number): string {
  return Number.isNaN(share) ? "–" : percent(share);
}
