import type { SessionClient } from "../shared/client/session_client.ts";
import { readTheme, type Theme } from "../shared/drawing/theme.ts";
import { counted, duration, percent } from "../shared/format.ts";
import { CodeCopy, titleOf } from "../shell/code_copy.ts";
import { div, type Mirror } from "../shell/dom.ts";
import type { ViewContext } from "../shell/view.ts";
import { AreaPanel } from "./area_panel.ts";
import type { PanelPart, PartsLayout } from "./arrangement.ts";
import { TimelineBar } from "./bar.ts";
import { OtherCharts } from "./charts/other_charts.ts";
import { ColorKey } from "./color_key.ts";
import { rangeText } from "./data/names.ts";
import type { ChartKind, ShownPart, SliceColorChoice, TimelineOptions } from "./data/state.ts";
import { codeFor, type TimelineData } from "./descriptions.ts";
import { SliceDetails } from "./details.ts";
import { Critical, Faults, TimelineHover, TimelineSelection } from "./highlights.ts";
import { TimeRanges } from "./ranges.ts";
import { TimelineSearch } from "./search.ts";
import { TopTable } from "./table.ts";
import { Tables } from "./tables.ts";
import { SliceTooltip } from "./tooltip.ts";
import { TimeCamera, TimelineChart } from "./tracks/chart.ts";
import type { TimelineHit, TimelineScene } from "./tracks/scene.ts";

/** One view: connects its parts and the session. */
export class Flamechart {
  readonly scene: TimelineScene;
  readonly chart: TimelineChart;
  readonly charts: OtherCharts;
  readonly bar: TimelineBar;
  readonly table: TopTable;
  readonly tables: Tables;
  readonly key: ColorKey;
  readonly details: SliceDetails;
  readonly tooltip: SliceTooltip;
  readonly hovering: TimelineHover;
  readonly camera: TimeCamera;
  readonly ranges: TimeRanges;
  readonly searching: TimelineSearch;
  readonly critical: Critical;
  readonly faults: Faults;
  readonly panel: AreaPanel;
  readonly session: SessionClient;
  readonly selection: TimelineSelection;
  /** Chart and table; data-show and data-active name the visible part and the one with the arrow keys. */
  readonly body = div("tvmdbg-timeline-body tvmdbg-column");
  /** Set once the view is mounted. */
  arrangement: PartsLayout | null = null;
  /** The part with the arrow keys. */
  active: "chart" | "table" = "chart";
  readonly #copier: CodeCopy;
  #spoken = "[[],null,-1]";

  constructor(
    readonly root: HTMLElement,
    readonly context: ViewContext<TimelineOptions>,
    readonly data: TimelineData,
    readonly mirror: Mirror,
    noSlices: HTMLElement | null,
  ) {
    const { options, session, signal } = context;
    this.session = session;
    this.selection = new TimelineSelection(data, session);
    this.scene = data.scene;
    this.#copier = new CodeCopy(
      root,
      () => codeFor(data, session, this.ranges.subject === "range" ? this.scene.range : null),
      (text) => mirror.say(text),
      titleOf(context.run),
      signal,
    );
    const theme = readTheme(root);
    const { words } = data.slices.columns.info;
    this.chart = new TimelineChart(this);
    this.camera = new TimeCamera(this, signal);
    this.details = new SliceDetails(this);
    this.critical = new Critical(this);
    this.faults = new Faults(this);
    data.words.also = (node) => [
      ...this.faults.facts(node),
      ...this.critical.facts(node),
      ...this.charts.facts(node),
    ];
    this.panel = new AreaPanel(this, this.#copier, theme);
    this.searching = new TimelineSearch(this);
    this.ranges = new TimeRanges(this);
    this.tooltip = new SliceTooltip(data.scene, data.words, signal);
    this.charts = new OtherCharts(noSlices ?? this.chart.node, this);
    this.key = new ColorKey(this, theme);
    this.hovering = new TimelineHover(this);
    this.table = new TopTable(this, theme, options.get("sort"));
    this.tables = new Tables(this, this.table.node, theme);
    this.bar = new TimelineBar(this, root, words.byName ? "slices" : words.rows, signal);
    options.onChange("critical", () => this.bar.refresh(), signal);
  }

  say(text: string): void {
    this.mirror.say(text);
  }

  /** Acts, then takes the keys back from a part of the view. */
  act(act: () => void): void {
    act();
    this.focus();
  }

  /** Selects nodes, or one slice, in a part of the view. */
  choose(part: "chart" | "table", nodes: readonly number[], slice?: number): void {
    this.activate(part);
    if (part === "chart") this.showPanel("details");
    if (slice === undefined) this.selection.nodes(nodes);
    else this.pick(slice);
    this.focus();
  }

  focus(): void {
    this.root.focus({ preventScroll: true });
  }

  /** Shows chart, table or both, and tells the model. */
  showPart(part: ShownPart): void {
    this.context.options.set("show", part);
    this.body.dataset.show = part;
    this.arrangement?.resize();
    this.bar.refresh();
    this.activate(part === "both" ? this.active : part);
  }

  /** Shows details or the table in the panel of a low chart. */
  showPanel(part: PanelPart): void {
    this.arrangement?.show(part);
    if (part !== "table") return;
    this.table.appear();
    this.tables.change?.appear();
  }

  nextPanel(): void {
    const part = this.body.dataset.panel === "table" ? "details" : "table";
    if (this.body.dataset.show === "chart") this.showPart("both");
    this.showPanel(part);
    this.say(`${part} shown`);
  }

  /** Shows the tracks in time or another chart in their place, and tells the model. */
  showChart(kind: ChartKind): void {
    this.charts.show(kind);
    this.context.options.set("chart", this.charts.kind);
    this.bar.refresh();
    this.tooltip.hide();
    this.root.dataset.chart = this.charts.kind;
    this.arrangement?.resize();
    this.chart.changed();
  }

  /** Zooms the chart on screen; a factor below 1 shows less. */
  zoom(factor: number): void {
    if (!this.charts.zoom(factor < 1 ? "w" : "s")) this.camera.zoom(factor);
  }

  /** Shows all of the chart on screen. */
  all(): void {
    if (!this.charts.zoom("0")) this.camera.all();
  }

  /** Shows the executions, or all. */
  home(): void {
    this.camera.home();
  }

  isAll(): boolean {
    return this.charts.kind === "time" && this.camera.isAll();
  }

  moved(): void {
    this.chart.changed();
    this.tooltip.hide();
  }

  /** Tells the model the visible part. */
  keep(range: [start: number, end: number] | null): void {
    if (range && this.scene.isOpening && !this.context.options.get("time_range")) return;
    this.context.options.set("time_range", range);
  }

  /** Colors slices by the user's choice, or the most informative column. */
  color(): void {
    const { change, names } = this.data;
    names.colors.chosen = this.context.options.get("slice_color");
    if (change) change.colored = names.colors.by === "change";
    this.bar.showColor(names.colors);
    this.chart.arrived();
    this.retheme(readTheme(this.root));
  }

  colorBy(by: SliceColorChoice): void {
    this.context.options.set("slice_color", by);
    this.color();
  }

  nextColor(): void {
    const { next } = this.data.names.colors;
    this.colorBy(next);
    this.say(`colored by ${next === "kind" ? "op kind" : next}`);
  }

  /** Makes the arrow keys act on chart or table, and shows that one if it is hidden. */
  activate(part: "chart" | "table"): void {
    this.active = part;
    const { show } = this.body.dataset;
    if (show !== "both" && show !== part) this.showPart(part);
    this.body.dataset.active = part;
    if (part === "table") this.showPanel("table");
    this.chart.changed();
    this.table.paint();
    this.mark();
  }

  sort(order: "time" | "order"): void {
    this.context.options.set("sort", order);
    this.table.sort(order);
    const { words } = this.data.slices.columns.info;
    const how = order === "time" ? `${words.time}, longest first` : words.order;
    this.say(`sorted by ${how}`);
  }

  /** Selects a slice; -1 selects none. `seen`: it is visible already, so nothing moves. */
  pick(slice: number, { seen = false, toggle = false } = {}): void {
    if (seen) this.scene.current = slice;
    this.selection.pick(slice, toggle);
    this.sync();
  }

  /** Replaces bins by the loaded slices and keeps everything else. */
  arrived(): void {
    this.color();
    this.table.arrived();
    this.chart.arrived();
    this.searching.arrived();
    this.critical.arrived();
    this.faults.mark();
    this.sync({ anew: true, moves: this.scene.viewport.all });
  }

  /** Repaints marks, also on the chart in place of the tracks. */
  found(): void {
    this.chart.touched();
    this.charts.shown?.sync();
  }

  /** Repaints the critical path or faults, and describes a selected node again. */
  marked(moves = true): void {
    this.chart.touched();
    if (this.session.node !== null) this.sync({ anew: true, moves });
  }

  fold(text: string): void {
    this.chart.changed();
    this.say(text);
  }

  pickHit(hit: TimelineHit | null, toggle: boolean): void {
    this.activate("chart");
    if (hit) this.showPanel("details");
    this.tooltip.dismiss();
    if (hit && "gap" in hit) this.ranges.pickGap(hit.gap);
    else this.pick(hit ? hit.slice : -1, { seen: true, toggle });
  }

  pickRow(row: number, toggle = false): void {
    const node = this.data.ranking.node[row]!;
    if (node < 0) this.pick(this.data.ranking.slice[row]!);
    else this.selection.node(node, toggle);
  }

  /** Switches whether ranges and measures snap to edges. */
  snap(): void {
    this.scene.snaps = !this.scene.snaps;
    this.say(this.scene.snaps ? "ranges snap to edges" : "ranges begin and end anywhere");
  }

  copy(): void {
    this.#copier.copy();
  }

  clear(): void {
    if (this.searching.end()) return;
    if (!this.ranges.clear()) this.pick(-1);
  }

  /** Follows the session; scrolls to a newly selected slice. */
  sync({ anew = false, moves = true } = {}): void {
    const { ranking } = this.data;
    const { selected, node, timeRange } = this.session;
    const spoken = this.selection.key;
    if (!anew && spoken === this.#spoken && String(timeRange) === String(this.scene.range)) return;
    const before = this.scene.current;
    const { current, own } = this.selection.look(before);
    this.scene.current = current;
    const isOther = String(timeRange) !== String(this.scene.range);
    this.scene.range = timeRange;
    if (spoken !== this.#spoken) this.ranges.changed("selection");
    else if (isOther) this.ranges.changed("range");
    this.#spoken = spoken;
    this.scene.selected = this.selection.marked;
    if (moves && current >= 0 && current !== before) {
      this.camera.move(() => this.scene.reveal(current));
    }
    const row = node === null || own >= 0 ? ranking.rowOfSlice(own) : ranking.rowOf(node);
    const rows = selected.map((node) => ranking.rowOf(node));
    this.table.select(own < 0 && node === null ? -1 : row, own >= 0 ? [row] : rows);
    this.searching.show();
    this.chart.touched();
    this.charts.shown?.sync();
    this.tables.sync();
    this.mark();
    this.tell();
    const picked = this.active === "table" ? this.tables : this.charts.shown;
    if (picked?.sentence && !isOther) this.say(picked.sentence);
  }

  retheme(theme: Theme): void {
    this.table.retheme(theme);
    this.tables.retheme(theme);
    this.key.show(theme);
    this.charts.retheme();
    this.panel.retheme(theme);
    this.sync({ anew: true });
  }

  /** Names the current row of the active part to screen readers. */
  mark(): void {
    const { active, table, tables } = this;
    const id = active === "table" ? (tables.isSummed ? tables : table).activeId : null;
    if (id) this.root.setAttribute("aria-activedescendant", id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  tell(): void {
    const { words, slices } = this.data;
    const { current } = this.scene;
    const { node, selected } = this.session;
    if (this.ranges.tell()) return;
    const theme = readTheme(this.root);
    if (selected.length > 1 && !this.selection.isShared) {
      this.details.showMany(selected);
      this.say(`${counted(selected.length, slices.columns.info.words.item)} selected`);
    } else if (current >= 0) {
      this.details.showSlice(current, theme);
      this.say(words.sentence(current));
    } else if (node !== null) {
      this.details.showNode(node, theme);
      this.say(words.nodeSentence(node));
    } else {
      this.details.showSummary();
      this.say(`${words.summary().join(". ")}. Nothing is selected.`);
    }
  }

  painted(): void {
    this.searching.painted();
    const { start, end, span, whole, all } = this.scene.viewport;
    const part = `${rangeText([start, end])} (${percent(span / whole)} of ${duration(whole)})`;
    // Recorded times include loading and gaps: the total of the shares is less than their span.
    const { clock, words } = this.data.slices.columns.info;
    const noun = clock === "wall" ? "span" : "total";
    const { isOpening, opening } = this.scene;
    if (isOpening) this.bar.showRange(`${words.whole}: ${duration(span)}`, "loading too");
    else if (all) this.bar.showRange(`${noun} ${duration(whole)}`, opening ? "executions" : "");
    else this.bar.showRange(part, "show all");
    if (this.root.dataset.ready !== "true") this.root.dataset.ready = "true";
  }
}
