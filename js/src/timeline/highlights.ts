import type { CriticalColumns } from "../shared/client/answers.ts";
import { Fault, faultsOf, watchHealth } from "../shared/client/health.ts";
import { isAbort } from "../shared/client/request.ts";
import type { SessionClient } from "../shared/client/session_client.ts";
import type { HealthAnswer } from "../shared/client/tensor_questions.ts";
import { duration } from "../shared/format.ts";
import type { ViewContext } from "../shell/view.ts";
import type { OtherCharts } from "./charts/other_charts.ts";
import { MarkedSlices } from "./data/marked.ts";
import type { TimelineOptions } from "./data/state.ts";
import type { SliceFact, TimelineData } from "./descriptions.ts";
import type { TopTable } from "./table.ts";
import type { SliceTooltip } from "./tooltip.ts";
import type { TimelineChart } from "./tracks/chart.ts";
import type { TimelineHit, TimeSpan } from "./tracks/scene.ts";

const SOURCE = "timeline";

/** Selected slices and nodes, here and in the other views. */
export class TimelineSelection {
  readonly #data: TimelineData;
  readonly #session: SessionClient;
  /** Slice picked here without a node, or with several. */
  #own = -1;

  constructor(data: TimelineData, session: SessionClient) {
    this.#data = data;
    this.#session = session;
  }

  get key(): string {
    const { selected, slice } = this.#session;
    return JSON.stringify([selected, slice, this.#own]);
  }

  /** True if the selection is all nodes of a picked slice with several. */
  get isShared(): boolean {
    const nodes = this.#data.slices.nodesOf(this.#own);
    return nodes.length > 1 && String(nodes) === String(this.#session.selected);
  }

  /** Selects the node of a slice, or all its nodes; -1 selects none. */
  pick(slice: number, toggle: boolean): void {
    const { slices } = this.#data;
    const nodes = slices.nodesOf(slice);
    const node = nodes.length === 1 ? nodes[0]! : -1;
    this.#own = node < 0 ? slice : -1;
    if (nodes.length > 1) this.nodes(nodes);
    else if (node >= 0 && toggle) this.#session.toggle(node, SOURCE);
    else if (node >= 0) {
      this.#session.select(node, SOURCE, { occurrence: slices.occurrenceOf(slice) });
    } else this.#session.select(null, SOURCE);
  }

  node(node: number, toggle: boolean): void {
    if (toggle) this.#session.toggle(node, SOURCE);
    else if (node !== this.#session.node || this.#session.selected.length > 1) {
      this.#session.select(node, SOURCE);
    }
  }

  nodes(nodes: readonly number[]): void {
    this.#session.selectMany(nodes, SOURCE);
  }

  kind(): void {
    const { node } = this.#session;
    const { names, ranking } = this.#data;
    if (node === null) return;
    const kind = names.opKind(node);
    const sum = ranking.kinds(names).find((candidate) => candidate.kind === kind);
    if (sum) this.nodes(sum.nodes);
  }

  /** The current slice, and the one picked here, or -1; `before` stays current if possible. */
  look(before: number): { current: number; own: number } {
    const { slices } = this.#data;
    const { node, slice } = this.#session;
    const own = node === null || this.isShared ? this.#own : -1;
    if (own < 0) this.#own = -1;
    const occurrences = node === null || own >= 0 ? null : this.#slicesFor(node);
    const nearest = occurrences?.includes(before) ? before : occurrences?.[0];
    const current = slice ? slices.of(slice[0])[slice[1]] : nearest;
    return { current: current ?? own, own };
  }

  get marked(): MarkedSlices {
    const { slices } = this.#data;
    const { selected } = this.#session;
    const candidates = selected.flatMap((node) => [...slices.of(node), ...slices.sharedBy(node)]);
    return new MarkedSlices(slices.count, candidates);
  }

  /** The slices of a node; without slices of its own, those it shares, with the fewest others first. */
  #slicesFor(node: number): Int32Array {
    const { slices } = this.#data;
    const own = slices.of(node);
    if (own.length) return own;
    const shared = [...slices.sharedBy(node)];
    const count = (slice: number) => slices.nodesOf(slice).length;
    return Int32Array.from(shared.sort((a, b) => count(a) - count(b)));
  }
}

/** Number of nodes up to which slack is requested ahead. */
const FEW = 20_000;
const NONE = "This run does not record which nodes depend on which.";

interface MarksHost {
  readonly context: ViewContext<TimelineOptions>;
  readonly data: TimelineData;
  readonly selection: TimelineSelection;
  say(text: string): void;
  /** Shows changed marks; a selected slice is not scrolled to unless it `moves`. */
  marked(moves?: boolean): void;
}

/** The critical path: marks on its slices, and the slack of every node. */
export class Critical {
  readonly #host: MarksHost;
  #request: Promise<CriticalColumns | null> | null = null;
  #known: CriticalColumns | null = null;
  #missing = "";

  constructor(host: MarksHost) {
    this.#host = host;
    const { options, signal } = host.context;
    options.onChange("critical", () => void this.#mark(), signal);
    const nodes = host.data.graph?.kinds.length ?? 0;
    if (options.get("critical")) void this.#mark();
    else if (nodes > 0 && nodes <= FEW) requestAnimationFrame(() => void this.#ask());
  }

  get isOn(): boolean {
    return this.#host.context.options.get("critical");
  }

  toggle(): void {
    const on = !this.isOn;
    this.#host.context.options.set("critical", on);
    if (on) void this.#mark(true);
    else {
      void this.#mark();
      this.#host.say("critical path not marked");
    }
  }

  arrived(): void {
    if (this.isOn) void this.#mark();
  }

  async selectAll(): Promise<void> {
    const columns = await this.#ask();
    if (this.#host.context.signal.aborted) return;
    if (!columns) this.#host.say(this.#why);
    else {
      this.#host.selection.nodes(
        [...columns.path].filter((node) => this.#host.data.names.isOperator(node)),
      );
      this.#host.say(columns.info.said.join("; "));
    }
  }

  facts(node: number): SliceFact[] {
    const slack = this.#known?.slack[node];
    if (slack === undefined || Number.isNaN(slack)) return [];
    if (!this.#host.data.names.isOperator(node)) return [];
    const parallel = this.#known!.info.sequential ? " if run in parallel" : "";
    if (slack > 0) return [["slack", duration(slack) + parallel]];
    return [["slack", `0: on the critical path${parallel}`]];
  }

  get #why(): string {
    return this.#missing || NONE;
  }

  async #mark(tell = false): Promise<void> {
    const { scene, slices } = this.#host.data;
    if (!this.#host.context.options.get("critical")) {
      scene.critical = null;
      this.#host.marked();
      return;
    }
    const columns = await this.#ask();
    if (this.#host.context.signal.aborted || !this.#host.context.options.get("critical")) return;
    if (columns) {
      const marked = [...columns.path].flatMap((node) => [...slices.of(node)]);
      scene.critical = new MarkedSlices(slices.count, marked);
    }
    if (tell) this.#host.say(columns ? columns.info.said.join("; ") : this.#why);
    this.#host.marked();
  }

  #ask(): Promise<CriticalColumns | null> {
    this.#request ??= this.#read();
    return this.#request;
  }

  async #read(): Promise<CriticalColumns | null> {
    try {
      const columns = await this.#host.context.run.ask("critical");
      const isMissing = columns !== null && "missing" in columns;
      this.#missing = isMissing ? columns.missing : "";
      this.#known = isMissing ? null : columns;
      if (!this.#host.context.signal.aborted) this.#host.marked();
    } catch (error) {
      this.#request = null;
      if (!isAbort(error)) this.#missing = String(error);
    }
    return this.#known;
  }
}

/** Largest width of an overview, CSS px. */
const PIXELS = 2000;

/** Marks slices of nodes with faulty values after a scan. */
export class Faults {
  readonly #host: MarksHost;
  #known: HealthAnswer | null = null;

  constructor(host: MarksHost) {
    this.#host = host;
    const { run, signal } = host.context;
    if (!host.data.graph) return;
    const judged = (answer: HealthAnswer) => {
      this.#known = answer;
      this.mark();
    };
    watchHealth(run, judged, signal);
  }

  facts(node: number): SliceFact[] {
    const known = this.#known;
    const row = known && this.#host.data.scene.faults ? known.node.indexOf(node) : -1;
    return row >= 0 && known!.words[row] ? [["values", known!.words[row]!]] : [];
  }

  mark(): void {
    const known = this.#known;
    const { graph, names, scene, slices } = this.#host.data;
    if (!known || !graph) return;
    const faults = faultsOf(known, graph.kinds.length);
    const of = (fault: number) => {
      const nodes = Array.from(faults.keys()).filter((node) => faults[node] === fault);
      const every = nodes.flatMap((node) => [...slices.of(node)]);
      const own = every.filter((slice) => !names.isOther(slice));
      const spans = own.map((slice): TimeSpan => [slices.startOf(slice), slices.endOf(slice)]);
      const near = scene.viewport.whole / PIXELS;
      return { marked: new MarkedSlices(slices.count, own), spans: merged(spans, near) };
    };
    const [origin, spread] = [of(Fault.ORIGIN), of(Fault.SPREAD)];
    scene.faults =
      origin.marked.count + spread.marked.count
        ? {
            origin: origin.marked,
            spread: spread.marked,
            origins: origin.spans,
            spans: spread.spans,
          }
        : null;
    this.#host.marked(false);
  }
}

/** Spans from left to right; those with hardly a gap between them are merged. */
function merged(spans: TimeSpan[], near: number): TimeSpan[] {
  const result: TimeSpan[] = [];
  for (const [from, to] of spans.sort(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last && from - last[1] <= near)
      result[result.length - 1] = [last[0], Math.max(last[1], to)];
    else result.push([from, to]);
  }
  return result;
}

interface HoverParts {
  readonly data: TimelineData;
  readonly session: SessionClient;
  chart: TimelineChart;
  charts: OtherCharts;
  table: TopTable;
  tooltip: SliceTooltip;
}

/** Hovered slice or node, here or in another view: highlighted in chart and table, with a tooltip. */
export class TimelineHover {
  readonly #shown: HoverParts;

  constructor(shown: HoverParts) {
    this.#shown = shown;
  }

  /** Moves the pointer to a point of the chart. */
  at(hit: TimelineHit | null, x: number, y: number): void {
    const { ranking, scene } = this.#shown.data;
    const { chart, tooltip } = this.#shown;
    const slice = hit && "slice" in hit ? hit.slice : -1;
    this.#light(slice, ranking.rowOfSlice(slice));
    if (hit) tooltip.showHit(hit, chart.node, x, y);
    else tooltip.tell(scene.bandAt(x, y), chart.node, x, y);
  }

  /** Moves the pointer to a row of the table, or -1. */
  row(row: number): void {
    this.#light(row < 0 ? -1 : this.#shown.data.ranking.slice[row]!, row);
  }

  sync(): void {
    this.#shown.charts.shown?.sync();
    const { hovered } = this.#shown.session;
    const { ranking, scene, slices } = this.#shown.data;
    const node = hovered ?? -1;
    if (slices.nodeOf(scene.hovered) === node) return;
    this.#mark(slices.of(node)[0] ?? -1, ranking.rowOf(node));
  }

  #light(slice: number, row: number): void {
    const node = this.#shown.data.slices.nodeOf(slice);
    this.#mark(slice, row);
    this.#shown.session.hover(node < 0 ? null : node);
  }

  #mark(slice: number, row: number): void {
    this.#shown.data.scene.hovered = slice;
    this.#shown.table.hover(row);
    this.#shown.chart.touched();
  }
}
