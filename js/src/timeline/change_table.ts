import type { ChangeRows } from "../shared/client/answers.ts";
import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { counted, integer } from "../shared/format.ts";
import { button, div, element, select, span } from "../shell/dom.ts";
import type { ChartHost } from "./charts/stage.ts";
import {
  type Change,
  type ChangeOrder,
  changeFills,
  changeText,
  fillOfChange,
  pText,
  ratioText,
  Verdict,
  verdictSign,
} from "./data/change.ts";
import { chip, columnHeads, gridCell, MARK, RowTable } from "./row_table.ts";

/** Width of an id before a name. */
const ID = 34;

export interface TablesHost extends ChartHost {
  focus(): void;
  /** Tells of another current row. */
  mark(): void;
}

/** Operators of two runs by their slowdown in the second; only visible rows are in the document. */
export class ChangeTable extends RowTable {
  readonly node: HTMLElement;
  readonly #change: Change;
  readonly #host: TablesHost;
  readonly #byKind: HTMLButtonElement;
  readonly #filter: HTMLSelectElement;
  /** Choice of the rows. */
  readonly bar: HTMLElement;
  #order: ChangeOrder = "change";
  #kinds = false;
  #verdict: number | null = null;
  #rows: number[] = [];
  #selected = new Set<number>();
  #most = 0;

  constructor(change: Change, theme: Theme, host: TablesHost) {
    const { signal } = host.context;
    const look = {
      class: "tvmdbg-relative tvmdbg-fill tvmdbg-scrolls tvmdbg-line-above",
      role: "grid",
      "aria-label": "time in A and B",
    };
    super(theme, look, signal);
    this.head.classList.add("tvmdbg-change-row");
    this.#change = change;
    this.#host = host;
    const { sentence } = change.columns.info;
    this.#byKind = button("by kind", "one row per op kind (i)", () => {
      this.toggleKinds();
      this.#host.focus();
    });
    const verdicts = change
      .counts()
      .map(
        ([verdict, count]) =>
          [String(verdict), `${change.verdictLabel(verdict)} (${integer(count)})`] as const,
      );
    this.#filter = select(
      "which differences are listed (j for the next)",
      [["", `all ${integer(change.length)}`], ...verdicts],
      "",
      (value) => {
        this.#again({ verdict: value === "" ? null : Number(value) });
        this.#host.focus();
      },
    );
    this.bar = div("tvmdbg-change-bar tvmdbg-row tvmdbg-fixed", this.#filter, this.#byKind);
    this.node = element(
      "section",
      {
        class: "tvmdbg-timeline-table tvmdbg-change tvmdbg-column",
        "aria-label": "difference in time",
      },
      element("p", { class: "tvmdbg-change-sentence tvmdbg-fixed" }, sentence),
      this.bar,
      this.scroller,
    );
    this.#again({});
  }

  /** Takes the choice of the rows back. */
  placeBar(): void {
    this.node.lastElementChild!.before(this.bar);
  }

  /** Description of the current row, or "". */
  get sentence(): string {
    return this.activeId ? this.#change.sentence(this.current, this.#shown) : "";
  }

  /** Marks the rows of nodes of A, or the row of a slice of B without a node in A. */
  select(nodes: readonly number[], source = -1): void {
    const rows = this.#kinds
      ? nodes.map((node) => this.#kindOf(this.#change.rowOf(node)))
      : nodes.map((node) => this.#change.rowOf(node));
    if (!nodes.length && source >= 0 && !this.#kinds) rows.push(this.#change.rowOfSlice(source));
    const known = rows.filter((row) => row >= 0);
    this.#selected = new Set(known);
    const current = known.at(-1) ?? -1;
    const moved = current !== this.current;
    this.current = current;
    if (moved) this.reveal();
    this.paint();
  }

  hover(node: number | null): void {
    const row = node === null ? -1 : this.#change.rowOf(node);
    this.light(this.#kinds ? this.#kindOf(row) : row);
  }

  toggleKinds(): void {
    this.#again({ kinds: !this.#kinds });
    this.#host.say(this.#kinds ? "differences by op kind" : "differences by operator");
  }

  /** Filters by the next kind of verdict, then shows all again. */
  nextFilter(): void {
    const all = [null, ...this.#change.counts().map(([verdict]) => verdict)];
    const next = all[(all.indexOf(this.#verdict) + 1) % all.length] ?? null;
    this.#again({ verdict: next });
    const what = next === null ? "all" : this.#change.verdictLabel(next);
    this.#host.say(`${what}: ${counted(this.#rows.length, "row")}`);
  }

  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const to = this.inView.placeByKey(event.key, this.#rows.indexOf(this.current));
    if (to !== null) {
      this.click(to);
      return true;
    }
    if (event.key !== "o") return false;
    this.#again({ order: this.#order === "change" ? "order" : "change" });
    this.#host.say(
      this.#order === "change" ? "largest difference first" : "in the order of the nodes of A",
    );
    return true;
  }

  inspect(out: Record<string, unknown>): void {
    const rows = this.#shown;
    out.change = this.#rows.map((row) => ({
      label: rows.label.at(row),
      a: rows.nsA[row],
      b: rows.nsB[row],
      verdict: this.#change.verdictLabel(rows.verdict[row]!),
    }));
  }

  protected placeOf(row: number): number {
    return this.#rows.indexOf(row);
  }

  get #shown(): ChangeRows {
    return this.#kinds ? this.#change.byKind : this.#change.byNode;
  }

  #again({
    order = this.#order,
    kinds = this.#kinds,
    verdict = this.#verdict,
  }: {
    order?: ChangeOrder;
    kinds?: boolean;
    verdict?: number | null;
  }): void {
    const nodes = this.#nodesOf([...this.#selected]);
    this.#order = order;
    this.#kinds = kinds;
    this.#verdict = verdict;
    const { byKind } = this.#change;
    this.#rows = kinds
      ? Array.from(byKind.verdict.keys()).filter(
          (row) => verdict === null || byKind.verdict[row] === verdict,
        )
      : this.#change.rows(order, verdict);
    this.#most = 0;
    for (const row of this.#rows) {
      this.#most = Math.max(this.#most, Math.abs(this.#change.of(row, this.#shown)) || 0);
    }
    this.#byKind.setAttribute("aria-pressed", String(kinds));
    this.#filter.value = verdict === null ? "" : String(verdict);
    this.scroller.setAttribute("aria-rowcount", String(this.#rows.length + 1));
    this.inView.length = this.#rows.length;
    this.#heads();
    this.current = -1;
    this.select(nodes);
    this.#host.mark();
  }

  #heads(): void {
    const sorter = button("Δ", "B minus A; sort by size (o)", () => {
      this.#again({ order: this.#order === "change" ? "order" : "change" });
      this.#host.focus();
    });
    sorter.setAttribute("aria-pressed", String(this.#order === "change" || this.#kinds));
    const [a, b] = this.#change.columns.info.titles;
    const cells: [string, HTMLElement | string, string][] = [
      ["sign", "", "slower, faster, noise or unknown"],
      ["label", this.#kinds ? "op kind" : "operator", ""],
      ["a", "A", a],
      ["b", "B", b],
      ["change", sorter, ""],
      ["ratio", "speed", "of B, compared with A"],
      ["verdict", "verdict", "whether the difference is larger than the noise"],
      ["p", "p", "Mann-Whitney, corrected for the number of comparisons"],
      ["nodes", "nodes", "nodes of A ~ nodes of B"],
    ];
    this.head.replaceChildren(...columnHeads(cells));
  }

  protected line(place: number): HTMLElement {
    const row = this.#rows[place]!;
    const rows = this.#shown;
    const verdict = rows.verdict[row]!;
    const isSure = this.#change.isSignificant(row, rows);
    const label = rows.label.at(row);
    const kind = this.#kinds ? label : this.#change.columns.kind.at(row);
    const match = this.#kinds ? "" : this.#change.matchLabel(row);
    const why = `${this.#change.verdictLabel(verdict)}: ${rows.why.at(row)}`;
    const alone = (only: number, ns: number, side: 0 | 1) =>
      verdict === only ? "–" : Number.isNaN(ns) ? "unknown" : this.#change.timeText(ns, side);
    return element(
      "div",
      {
        class: "tvmdbg-timeline-row tvmdbg-change-row",
        role: "row",
        id: this.idOf(row),
        "aria-rowindex": place + 2,
        "aria-selected": this.#selected.has(row) ? "true" : "false",
        "data-verdict": this.#change.verdictLabel(verdict),
        "data-told": String(isSure),
        title: why,
      },
      gridCell("sign", undefined, verdictSign(verdict)),
      gridCell(
        "label",
        match ? `${label}\nthe match is ${match}: ${this.#change.columns.reason.at(row)}` : label,
        chip(this.#kinds ? kindFill(this.theme, kind) : this.#fill(row, kind)),
        ...(this.#kinds ? [element("span", {}, label)] : this.#title(row, label)),
        match === "possible" ? element("b", { class: "tvmdbg-timeline-noisy" }, "match?") : "",
      ),
      gridCell("a", `${rows.nsA[row]} ns`, alone(Verdict.ONLY_B, rows.nsA[row]!, 0)),
      gridCell("b", `${rows.nsB[row]} ns`, alone(Verdict.ONLY_A, rows.nsB[row]!, 1)),
      gridCell("change", undefined, this.#bar(row), changeText(this.#change.of(row, rows))),
      gridCell("ratio", undefined, ratioText(row, rows)),
      gridCell("verdict", undefined, this.#change.verdictLabel(verdict)),
      gridCell("p", `uncorrected ${pText(rows.p[row]!)}`, pText(rows.q[row]!)),
      gridCell("nodes", undefined, this.#kinds ? "" : this.#change.nodesText(row)),
    );
  }

  /** Color of the row's slices. */
  #fill(row: number, kind: string): string {
    const change = this.#change;
    if (!change.colored) return kindFill(this.theme, kind);
    return changeFills(this.theme)[fillOfChange(change, row)]!;
  }

  /** Id, label and shape: operators may have the same label. */
  #title(row: number, label: string): HTMLElement[] {
    const { node, shape } = this.#change.columns;
    const id = node[row]! < 0 ? this.#change.nodesB(row).at(-1) : node[row];
    const name = this.named(label, MARK + ID);
    const texts = [element("span", {}, `#${id}`), span("operator", name)];
    return [...texts, span("tvmdbg-muted", shape.at(row))];
  }

  /** Size of the difference relative to the largest one: slowdowns to the right. */
  #bar(row: number): HTMLElement {
    const bar = element("i", { class: "tvmdbg-change-size" });
    const share = this.#most > 0 ? this.#change.of(row, this.#shown) / this.#most || 0 : 0;
    bar.style.width = `${50 * Math.abs(share)}%`;
    bar.style.left = share < 0 ? `${50 + 50 * share}%` : "50%";
    return bar;
  }

  protected click(place: number): void {
    const row = this.#rows[place];
    if (row === undefined) return;
    const nodes = this.#nodesOf([row]);
    const source = nodes.length || this.#kinds ? -1 : this.#change.sliceB(row);
    if (!nodes.length) {
      this.#selected = new Set([row]);
      this.current = row;
      this.reveal();
      this.paint();
    }
    if (nodes.length) this.#host.choose("table", nodes);
    else if (source >= 0) {
      this.#host.choose("table", [], this.#host.data.slices.bySource(source));
    }
    this.#host.say(this.#change.sentence(row, this.#shown));
  }

  #nodesOf(rows: readonly number[]): number[] {
    const { node, kind } = this.#change.columns;
    const all = this.#kinds
      ? rows.flatMap((row) => {
          const label = this.#change.byKind.label.at(row);
          return this.#change.rows("change").filter((row) => kind.at(row) === label);
        })
      : rows;
    return [...all].reverse().flatMap((row) => {
      const others = Array.from(this.#change.nodesA(row)).filter((other) => other !== node[row]);
      return node[row]! < 0 ? [] : [...others, node[row]!];
    });
  }

  #kindOf(row: number): number {
    if (row < 0) return -1;
    const { label } = this.#change.byKind;
    const kind = this.#change.columns.kind.at(row);
    return Array.from({ length: label.length }, (_, at) => label.at(at)).indexOf(kind);
  }

  protected over(place: number): void {
    const row = this.#rows[place] ?? -1;
    if (row === this.hovered) return;
    this.light(row);
    const node = row < 0 || this.#kinds ? -1 : this.#change.columns.node[row]!;
    this.#host.session.hover(node < 0 ? null : node);
  }
}
