import type { GraphColumns } from "../shared/client/answers.ts";
import { errorText, isAbort } from "../shared/client/request.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { counted, duration, unbroken } from "../shared/format.ts";
import { div, select, span } from "../shell/dom.ts";
import { type ByEvents, ByTable } from "./by_table.ts";
import { ChangeTable, type TablesHost } from "./change_table.ts";
import { Sandwich } from "./charts/icicle.ts";
import { shifted } from "./charts/stage.ts";
import { KeyNames } from "./data/key_names.ts";
import { rangeText } from "./data/names.ts";
import type { Slices } from "./data/slices.ts";
import type { TableBy } from "./data/state.ts";
import { type SumRow, SumTable } from "./data/sum_table.ts";
import type { TimelineData } from "./descriptions.ts";

const TITLES: Record<TableBy, string> = {
  node: "node",
  kind: "op kind",
  part: "fused operator",
  group: "group",
  module: "module",
  device: "device",
  name: "name",
  callers: "callee, then its callers",
  change: "difference of B and A",
};

/** The table of single rows, or of sums by any grouping; sums cover a marked range. */
export class Tables implements ByEvents {
  readonly node: HTMLElement;
  readonly #host: TablesHost;
  readonly #single: HTMLElement;
  readonly #called: KeyNames;
  readonly #by: ByTable;
  readonly #sandwich: Sandwich;
  /** Only for a comparison of two runs. */
  readonly change: ChangeTable | null;
  readonly #select: HTMLSelectElement;
  readonly #choice: HTMLElement;
  readonly #note = span("tvmdbg-muted");
  #range: readonly [number, number] | null = null;
  #shown = "";
  #rows: SumTable | null = null;
  #work = new AbortController();

  constructor(host: TablesHost, single: HTMLElement, theme: Theme) {
    this.#host = host;
    this.#single = single;
    const { slices, names, graph } = host.data;
    this.#called = new KeyNames(slices, names, graph);
    const { options, signal } = host.context;
    this.#by = new ByTable(slices, theme, this, signal);
    this.#sandwich = new Sandwich(host, this.#called);
    const { change } = host.data;
    this.change = change && new ChangeTable(change, theme, host);
    const choices = (Object.keys(TITLES) as TableBy[])
      .filter((by) => !isLacking(by, host.data))
      .map((by) => [by, by === "change" ? "B − A" : `by ${this.#title(by, true)}`] as const);
    this.#select = select("group the table by (b)", choices, this.by, (value) => {
      this.show(value as TableBy);
    });
    this.#choice = div("tvmdbg-timeline-by", this.#select, this.#note);
    this.node = div(
      "tvmdbg-timeline-tables tvmdbg-column",
      this.#choice,
      single,
      this.#by.node,
      this.#sandwich.node,
      this.change?.node,
    );
    options.onChange("table_by", () => this.sync(), signal);
    this.sync();
  }

  /** Moves the choice of the grouping into a bar; null: above the rows. */
  placeChoice(bar: HTMLElement | null): void {
    const place = bar ?? this.node;
    if (this.#choice.parentElement === place) return;
    if (bar) bar.append(this.#choice);
    else this.node.prepend(this.#choice);
    if (this.change && bar) this.#choice.append(this.change.bar);
    else this.change?.placeBar();
  }

  /** Grouping of the rows, limited to those available. */
  get by(): TableBy {
    const wanted = this.#host.context.options.get("table_by");
    return isLacking(wanted, this.#host.data) ? "node" : wanted;
  }

  /** True if sums are shown instead of single rows. */
  get isSummed(): boolean {
    return this.by !== "node" || this.#range !== null;
  }

  get activeId(): string | null {
    if (this.by === "change") return this.change!.activeId;
    return this.isSummed ? this.#by.activeId : null;
  }

  show(by: TableBy): void {
    this.#host.context.options.set("table_by", by);
    this.sync();
    this.#host.say(`Table ${this.#note.textContent || `by ${this.#title(this.by)}`}`);
  }

  /** Description of the current row, or "". */
  get sentence(): string {
    if (this.by === "change") return this.change!.sentence;
    const row = this.#rows && this.#by.picked;
    return row ? this.#sentence(row) : "";
  }

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
    const shown = `${this.by} ${this.#range} ${this.#hasCallers}`;
    if (shown !== this.#shown) this.#make(shown);
    if (this.#rows) this.#by.find(session.selected);
    if (this.by === "change") {
      const { current } = data.scene;
      this.change!.select(session.selected, current < 0 ? -1 : data.slices.sourceOf(current));
    }
    this.#host.mark();
  }

  retheme(theme: Theme): void {
    this.#by.retheme(theme);
    this.#sandwich.stage.changed();
    this.change?.retheme(theme);
  }

  inspect(out: Record<string, unknown>): void {
    const { node, stage } = this.#sandwich;
    if (!node.hidden) out.sandwich = shifted(stage, node);
    if (this.by === "change") this.change!.inspect(out);
  }

  /** Noun for the rows; a run without a graph has its own word. */
  #title(by: TableBy, short = false): string {
    if (by === "node") return this.#host.data.slices.columns.info.words.row;
    return short && by !== "part" ? by : TITLES[by];
  }

  #make(shown: string): void {
    this.#shown = shown;
    const { by } = this;
    this.#select.value = by;
    const isChange = by === "change";
    if (this.change) this.change.node.hidden = this.change.bar.hidden = !isChange;
    this.#single.hidden = this.isSummed;
    this.#by.node.hidden = !this.isSummed || isChange;
    this.#sandwich.node.hidden = by !== "callers";
    this.#rows = null;
    this.#note.textContent = "";
    this.#work.abort();
    this.#work = new AbortController();
    this.#by.node.ariaBusy = "false";
    if (this.isSummed && !isChange) void this.#ask(by);
  }

  /** True if the rows of a table by callers can hold them: their numbers need all names. */
  get #hasCallers(): boolean {
    return this.by === "callers" && this.#host.data.slices.complete;
  }

  async #ask(by: Exclude<TableBy, "change">): Promise<void> {
    const { data, session, context } = this.#host;
    const { run, signal: end } = context;
    const { durations, durationsWithin } = data.slices.columns.info.words;
    const signal = AbortSignal.any([end, this.#work.signal]);
    const range = this.#range ? { from: this.#range[0], to: this.#range[1] } : {};
    this.#by.node.ariaBusy = "true";
    this.#note.textContent = "aggregating …";
    const hasCallers = this.#hasCallers;
    this.#sandwich.node.hidden = !hasCallers;
    try {
      const [answer, paths] = await Promise.all([
        run.ask("sums", { ...range, by }, signal),
        hasCallers ? run.ask("paths", range, signal) : null,
      ]);
      if (signal.aborted) return;
      const rows = new SumTable(answer, this.#called, paths);
      this.#rows = rows;
      this.#by.show(rows, this.#title(by), this.#range ? durationsWithin : durations);
      this.#note.textContent = unbroken(this.#about(rows));
      this.#sandwich.node.hidden = !rows.tree;
      if (rows.tree && rows.rows.length) this.#sandwich.show(rows.tree, rows.rows[0]!.key);
      this.#by.find(session.selected);
      this.#host.mark();
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      this.#by.node.hidden = this.#sandwich.node.hidden = true;
      this.#note.replaceChildren(errorText(error));
    }
    this.#by.node.ariaBusy = "false";
  }

  #about({ rows, info, tree }: SumTable): string {
    const few = rows.length < info.rows ? `the first ${rows.length} of ` : "";
    const sentences = [`${few}${counted(info.rows, "row")}, ${duration(info.total)}`];
    if (this.#range) sentences.push(`of the marked range ${rangeText(this.#range)}`);
    const { words } = this.#host.data.slices.columns.info;
    if (info.idle) {
      sentences.push(`${counted(info.idle, "slice")} of inputs and parameters hidden: no time`);
    }
    if (info.alone) sentences.push(this.#alone(info.alone));
    if (info.overlap) sentences.push(words.partsOverlap);
    if (tree) sentences.push("children of a row: its callers");
    if (this.change) sentences.push("slices of both runs together");
    return sentences.join("; ");
  }

  /** Sentence on nodes with a time but no slice. */
  #alone(alone: number): string {
    const which = `the time of ${counted(alone, "node")} without slices`;
    return this.by !== "name" ? `${which} included` : `${which} left out: no name`;
  }

  hover(row: SumRow | null): void {
    this.#host.session.hover(row?.nodes.length === 1 ? row.nodes[0]! : null);
  }

  pick(row: SumRow): void {
    const tree = this.#rows?.tree;
    if (tree) this.#sandwich.show(tree, row.key);
    if (row.nodes.length) this.#host.choose("table", row.nodes.toReversed());
    else if (row.slice >= 0) this.#host.choose("table", [], row.slice);
    this.#host.say(this.#sentence(row));
  }

  #sentence(row: SumRow): string {
    const { p50, p90 } = row;
    const { slices } = this.#host.data;
    const time = slices.withShare(row.ns, row.ns / this.#rows!.info.total);
    const spread = Number.isNaN(p50)
      ? ""
      : `, median ${slices.timeText(p50)}, p90 ${slices.timeText(p90)}`;
    const more = row.inside ? ", Enter opens it" : "";
    return `${row.label}: ${time}, ${counted(row.count, "slice")}${spread}${more}`;
  }
}

function severalDevices({ tracks, columns }: Slices, graph: GraphColumns | null): boolean {
  const places = tracks.map(({ number, name }) => columns.trackDevice.at(number) || name);
  const types = graph?.deviceTypes;
  return new Set(places).size > 1 || !!types?.some((type) => type !== types[0]);
}

/** True if the run has no rows of a grouping. */
function isLacking(by: TableBy, { slices, graph, change }: TimelineData): boolean {
  const { words, modules } = slices.columns.info;
  if (by === "change") return !change;
  if (by === "part") return !graph;
  if (by === "group") return !graph?.groupParent.length;
  if (by === "module") return !modules;
  if (by === "callers") return !slices.nested;
  if (by === "name") return words.byName;
  if (by === "device") return !severalDevices(slices, graph);
  return by === "kind" && !graph && slices.nameKinds.unique.every((kind) => kind === "other");
}
