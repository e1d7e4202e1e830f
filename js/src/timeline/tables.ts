import { element, select } from "../shared/dom.ts";
import { counted, duration, percent } from "../shared/format.ts";
import type { Theme } from "../shared/theme.ts";
import { type ByRow, ByRows } from "./by_rows.ts";
import { ByTable } from "./by_table.ts";
import { Called } from "./called.ts";
import type { Change } from "./change.ts";
import { ChangeTable } from "./change_table.ts";
import type { ChartHost } from "./charts.ts";
import type { Data } from "./data.ts";
import { Sandwich } from "./sandwich.ts";
import type { TableBy } from "./state.ts";
import { timeText } from "./ticks.ts";

const TITLES: Record<TableBy, string> = {
  node: "node",
  kind: "op kind",
  part: "part of a fused function",
  group: "group",
  device: "device",
  name: "name",
  callers: "callee, then its callers",
  change: "difference of B and A",
};

/** The table of single rows, or of sums by anything; in a marked range always of that range. */
export class Tables {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly #changed: () => void;
  readonly #single: HTMLElement;
  readonly #called: Called;
  readonly #by: ByTable;
  readonly #sandwich: Sandwich;
  /** Where two runs are compared. */
  readonly change: ChangeTable | null;
  readonly #select: HTMLSelectElement;
  readonly #said = element("span", { class: "tvmdbg-muted" });
  #range: readonly [number, number] | null = null;
  #shown = "";
  #rows: ByRows | null = null;

  /**
   * @param single   the table of all rows of all time.
   * @param changed  rows were listed anew, or another one is current.
   */
  constructor(host: ChartHost, single: HTMLElement, theme: Theme, changed: () => void) {
    this.#host = host;
    this.#changed = changed;
    this.#single = single;
    const { slices, names, graph } = host.data;
    this.#called = new Called(slices, names, graph);
    this.#by = new ByTable(
      theme,
      {
        pick: (row) => this.#pick(row),
        hover: (row) => host.hover(row?.nodes.length === 1 ? row.nodes[0]! : null),
      },
      host.signal,
    );
    this.#sandwich = new Sandwich(host, this.#called);
    const { change } = host.data;
    this.change = change && this.#changeTable(change, theme);
    const choices = (Object.keys(TITLES) as TableBy[])
      .filter((by) => !lacking(by, host.data))
      .map((by) => [by, by === "change" ? "B − A" : `by ${this.#title(by, true)}`] as const);
    this.#select = select("what the table sums up (b)", choices, this.by, (value) => {
      this.show(value as TableBy);
    });
    this.node = element(
      "div",
      { class: "tvmdbg-timeline-tables" },
      element("div", { class: "tvmdbg-timeline-by" }, this.#select, this.#said),
      single,
      this.#by.node,
      this.#sandwich.node,
      this.change?.node,
    );
    host.options.onChange("table_by", () => this.sync(), host.signal);
    this.sync();
  }

  /** What rows are of: of what there is. */
  get by(): TableBy {
    const wanted = this.#host.options.get("table_by");
    return lacking(wanted, this.#host.data) ? "node" : wanted;
  }

  /** Whether sums are shown, not the single rows. */
  get isSummed(): boolean {
    return this.by !== "node" || this.#range !== null;
  }

  get activeId(): string | null {
    if (this.by === "change") return this.change!.activeId;
    return this.isSummed ? this.#by.activeId : null;
  }

  show(by: TableBy): void {
    this.#host.options.set("table_by", by);
    this.sync();
    this.#host.say(`Table ${this.#said.textContent || `by ${this.#title(this.by)}`}`);
  }

  /** What the current row says, "" where there is none. */
  get sentence(): string {
    if (this.by === "change") return this.change!.sentence;
    const row = this.#rows && this.#by.current;
    return row ? this.#sentence(row) : "";
  }

  /** The next thing to sum up by. */
  next(step = 1): void {
    const known = [...this.#select.options];
    const at = known.findIndex(({ value }) => value === this.by);
    this.show(known[(at + step + known.length) % known.length]!.value as TableBy);
  }

  key(event: KeyboardEvent): boolean {
    if (this.by === "change") return this.change!.key(event);
    return this.isSummed && this.#by.key(event);
  }

  sync(): void {
    const { session, data } = this.#host;
    this.#range = session.timeRange;
    const shown = `${this.by} ${this.#range} ${data.slices.complete}`;
    if (shown !== this.#shown) this.#make(shown);
    if (this.#rows) this.#by.find(session.selected);
    if (this.by === "change") {
      const { current } = data.scene;
      this.change!.select(session.selected, current < 0 ? -1 : data.slices.sourceOf(current));
    }
    this.#changed();
  }

  retheme(theme: Theme): void {
    this.#by.retheme(theme);
    this.#sandwich.retheme();
    this.change?.retheme(theme);
  }

  inspect(out: Record<string, unknown>): void {
    if (!this.#sandwich.node.hidden) this.#sandwich.inspect(out);
    if (this.by === "change") this.change!.inspect(out);
  }

  /** What rows are of; a run without a graph calls its rows by its own word. */
  #title(by: TableBy, short = false): string {
    if (by === "node") return this.#host.data.slices.columns.info.words.row;
    return short ? by : TITLES[by];
  }

  #make(shown: string): void {
    this.#shown = shown;
    const { by } = this;
    this.#select.value = by;
    const isChange = by === "change";
    if (this.change) this.change.node.hidden = !isChange;
    this.#single.hidden = this.isSummed;
    this.#by.node.hidden = !this.isSummed || isChange;
    this.#sandwich.node.hidden = by !== "callers";
    this.#rows =
      this.isSummed && !isChange
        ? new ByRows(by, this.#host.data.slices, this.#called, this.#range)
        : null;
    if (this.#rows) this.#by.show(this.#rows, this.#title(by));
    if (this.#rows && by === "callers") this.#sandwich.show(this.#rows, this.#rows.rows[0] ?? null);
    this.#said.textContent = this.#rows ? this.#about(this.#rows) : "";
  }

  #about(rows: ByRows): string {
    const said = [`${counted(rows.rows.length, "row")}, ${duration(rows.total)}`];
    if (this.#range) {
      const [from, to] = this.#range;
      const edge = (ns: number) => timeText(ns, (to - from) / 1000, to);
      said.push(`of the marked range ${edge(from)} – ${edge(to)}`);
    }
    if (rows.overlap)
      said.push("shares overlap: the time of a fused function counts for each of its parts");
    if (this.by === "callers") said.push("below a row: who calls it");
    if (this.change) said.push("slices of both runs together");
    return said.join("; ");
  }

  #changeTable(change: Change, theme: Theme): ChangeTable {
    const { data, options, say, signal } = this.#host;
    return new ChangeTable(
      change,
      theme,
      {
        pick: (nodes, source) => {
          if (nodes.length) this.#host.pick(nodes);
          else if (source >= 0) this.#host.pick([], data.slices.bySource(source));
        },
        hover: (node) => this.#host.hover(node),
        listed: () => this.#changed(),
        say,
        color: (byChange) => options.set("slice_color", byChange ? "change" : "kind"),
      },
      signal,
    );
  }

  #pick(row: ByRow): void {
    if (this.by === "callers") this.#sandwich.show(this.#rows!, row);
    if (row.nodes.length) this.#host.pick(row.nodes.toReversed());
    else if (row.slice >= 0) this.#host.pick([], row.slice);
    this.#host.say(this.#sentence(row));
  }

  #sentence(row: ByRow): string {
    const { p50, p90 } = this.#rows!.spread(row);
    const share = percent(row.ns / this.#rows!.total);
    const spread = Number.isNaN(p50) ? "" : `, median ${duration(p50)}, p90 ${duration(p90)}`;
    const more = row.inside ? ", Enter opens it" : "";
    return `${row.label}: ${duration(row.ns)}, ${share}, ${counted(row.count, "slice")}${spread}${more}`;
  }
}

/** Why rows cannot be of that; "" where they can. */
function lacking(by: TableBy, { slices, graph, change }: Data): string {
  const { words } = slices.columns.info;
  if (by === "change" && !change) return "one run is shown";
  if ((by === "part" || by === "group") && !graph) return "this run has no graph";
  if (by === "group" && !graph!.groupParent.length) return "the graph has no groups";
  if (by === "callers" && !slices.nested) return "no slice lies inside another";
  if (by === "name" && words.byName) return "the rows are names";
  if (by === "device" && slices.tracks.length < 2) return "there is one track";
  if (by === "kind" && !graph && !slices.nameKinds.unique.some((kind) => kind !== "other")) {
    return "no name tells of an operator";
  }
  return "";
}
