import { TRUST_LABELS } from "../shared/client/answers.ts";
import type { TimelineWords } from "../shared/client/timeline_columns.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, duration, integer, percent } from "../shared/format.ts";
import { button, element, span } from "../shell/dom.ts";
import { RowsInView } from "../shell/scrolling.ts";
import { notHere } from "./data/bins.ts";
import type { Names } from "./data/names.ts";
import type { Ranking, RankingOrder } from "./data/ranking.ts";
import { commonSpread, type Repeats, repeatsOf, smallStrip } from "./data/repeats.ts";
import type { Slices } from "./data/slices.ts";
import { NOISY_RULE, type TimelineData } from "./descriptions.ts";

const ROW = 22;

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

export function columnHeads(
  cells: readonly (readonly [name: string, content: HTMLElement | string, title: string])[],
): HTMLElement[] {
  return cells.map(([name, content, title]) =>
    element("span", { class: name, role: "columnheader", title: title || undefined }, content),
  );
}

let serial = 0;

/** Operators by time or in execution order; only visible rows are in the document. */
export class TopTable {
  readonly node: HTMLElement;
  readonly #slices: Slices;
  readonly #names: Names;
  readonly #ranking: Ranking;
  readonly #spread: number;
  /** Columns with a known value in any row. */
  readonly #columns: TableColumn;
  readonly #id = `tvmdbg-timeline-${++serial}`;
  readonly #body = element("div", { class: "tvmdbg-timeline-rows", role: "rowgroup" });
  readonly #head: HTMLElement;
  readonly #inView: RowsInView;
  #theme: Theme;
  #order: RankingOrder = "time";
  #rows: Int32Array = new Int32Array(0);
  #cumulative: Float64Array = new Float64Array(0);
  #positions = new Int32Array(0);
  #selected = new Set<number>();
  #current = -1;
  #hovered = -1;

  constructor(host: TableHost, theme: Theme, order: RankingOrder) {
    const { slices, names, ranking } = host.data;
    const { signal } = host.context;
    this.#slices = slices;
    this.#names = names;
    this.#ranking = ranking;
    this.#theme = theme;
    const { words } = slices.columns.info;
    this.#columns = columnsOf(words, names.known, slices.nested);
    const { nodeP10, nodeP50, nodeP90 } = slices.columns;
    this.#spread = commonSpread(nodeP10, nodeP50, nodeP90);
    this.#head = this.#header(host);
    this.node = element(
      "div",
      {
        class: "tvmdbg-timeline-table",
        role: "grid",
        "aria-label": `${words.rows} by ${words.time}`,
        "data-columns": this.#columns,
        tabindex: -1,
      },
      this.#head,
      this.#body,
    );
    this.#inView = new RowsInView(this.node, this.#body, ROW, (at) => this.#row(at), signal);
    this.#inView.none = () =>
      slices.complete
        ? []
        : notHere(slices).map((line) => element("p", { class: "tvmdbg-muted" }, line));
    this.#order = order;
    this.arrived();
    const rowOf = (event: Event) => this.#rows[this.#inView.placeOf(event)] ?? -1;
    const pick = (event: MouseEvent) =>
      host.act(() => {
        host.activate("table");
        const row = rowOf(event);
        if (row >= 0) host.pickRow(row, event.ctrlKey || event.metaKey);
      });
    this.#body.addEventListener("click", pick, { signal });
    const over = (event: Event) => host.hovering.row(rowOf(event));
    this.#body.addEventListener("pointermove", over, { signal });
    this.#body.addEventListener("pointerleave", () => host.hovering.row(-1), { signal });
  }

  /** Id of the current row's element, if it is in the document. */
  get activeId(): string | null {
    return this.#current < 0 ? null : `${this.#id}-${this.#current}`;
  }

  get page(): number {
    return this.#inView.page;
  }

  get order(): RankingOrder {
    return this.#order;
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
    this.#inView.length = length;
    this.sort(this.#order);
  }

  sort(order: RankingOrder): void {
    this.#order = order;
    this.#rows = this.#ranking.rows(order);
    this.#cumulative = this.#ranking.cumulative(this.#rows);
    this.#positions = new Int32Array(this.#rows.length);
    this.#rows.forEach((row, position) => {
      this.#positions[row] = position;
    });
    for (const button of this.#head.querySelectorAll<HTMLElement>("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.order === order));
    }
    this.#inView.reveal(this.#position(this.#current));
    this.paint();
  }

  /** The row `by` rows below the current one (the first without one), -1 in an empty table. */
  next(by: number): number {
    if (!this.#rows.length) return -1;
    const position = this.#position(this.#current) + by;
    return this.#rows[Math.min(Math.max(0, position), this.#rows.length - 1)]!;
  }

  /** Highlights rows; scrolls to a new current one. */
  select(current: number, selected: Iterable<number>): void {
    this.#selected = new Set(selected);
    const moved = this.#current !== current;
    this.#current = current;
    if (moved) this.#inView.reveal(this.#position(current));
    this.paint();
  }

  hover(row: number): void {
    if (row === this.#hovered) return;
    this.#hovered = row;
    this.#inView.mark("hovered", this.#position(row));
  }

  retheme(theme: Theme): void {
    this.#theme = theme;
    this.paint();
  }

  paint(): void {
    this.#inView.mark("current", this.#position(this.#current));
    this.#inView.mark("hovered", this.#position(this.#hovered));
    this.#inView.paint();
  }

  #position(row: number): number {
    return row < 0 ? -1 : this.#positions[row]!;
  }

  #header(host: TableHost): HTMLElement {
    const sorter = (text: string, title: string, order: RankingOrder) => {
      const node = button(text, title, () => host.act(() => host.sort(order)));
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
      ["trust", "trust", "how the time was matched to the node"],
      ["within", "total time", "sum of the durations, children included"],
    ];
    return element(
      "div",
      { class: "tvmdbg-timeline-head tvmdbg-timeline-row", role: "row", "aria-rowindex": 1 },
      ...columnHeads(cells.filter(([name]) => this.#has(name))),
    );
  }

  #row(position: number): HTMLElement {
    const row = this.#rows[position]!;
    const node = this.#ranking.node[row]!;
    const slice = this.#ranking.slice[row]!;
    const label =
      this.#ranking.callName(row) ||
      (slice < 0 ? this.#names.ofNode(node) : this.#names.ofSlice(slice));
    const shape = this.#names.shape(node);
    const kind = this.#ranking.kind[row]!;
    const chip = element("i", { class: "tvmdbg-timeline-chip tvmdbg-swatch" });
    const name = node < 0 ? this.#slices.nameCodeOf(slice) : -1;
    chip.style.backgroundColor = this.#names.fillOf(
      this.#theme,
      node,
      name,
      kind,
      this.#ranking.ns[row]!,
    );
    const ns = this.#ranking.ns[row]!;
    const short = this.#slices.isShort(ns);
    const share = this.#ranking.share(row);
    const bar = element("i", { class: "tvmdbg-timeline-share" });
    const { longest } = this.#ranking;
    bar.style.width = share > 0 ? `${100 * Math.min(1, ns / (longest || 1))}%` : "0";
    const { nodeTrust, info } = this.#slices.columns;
    const { byName } = info.words;
    const repeats = repeatsOf(this.#slices.columns, node);
    const cell = (name: string, title: string | undefined, ...content: (Node | string | false)[]) =>
      this.#has(name) && element("span", { class: name, role: "gridcell", title }, ...content);
    return element(
      "div",
      {
        class: "tvmdbg-timeline-row",
        role: "row",
        id: `${this.#id}-${row}`,
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
        chip,
        label,
        shape && span("tvmdbg-muted", ` · ${shape}`),
        !!repeats?.noisy &&
          element("b", { class: "tvmdbg-timeline-noisy", title: NOISY_RULE }, "noisy"),
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

  #shareTitle(share: number): string {
    const { total } = this.#ranking;
    if (Number.isNaN(share)) return "no part of an execution";
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
