import type { RooflineColumns } from "../../shared/client/answers.ts";
import type { ChartBrush } from "../../shared/drawing/brush.ts";
import { counted, percent } from "../../shared/format.ts";
import { div, element } from "../../shell/dom.ts";
import type { PointerSpot } from "../../shell/pointer.ts";
import type { SliceFact, TimelineData } from "../descriptions.ts";
import { RooflinePainter, RooflinePlot } from "./roofline_painter.ts";
import {
  type Ceilings,
  MissingList,
  OperatorPoints,
  RateField,
  rateText,
} from "./roofline_points.ts";
import { type ChartHost, ChartStage, type OtherChart, type StageChart, shifted } from "./stage.ts";

const REACH = 5;
const HOW =
  "Operations are counted from shapes, which are in the graph: open the dump folder with its " +
  "_tvmdbg_graph_dump.json.";

export function noRoofline({ graph, slices }: TimelineData): string | null {
  if (!graph) return HOW;
  return slices.columns.nodeNs.some((ns) => ns > 0) ? null : "The nodes have no times.";
}

type RooflineLine = "flops" | "bytes";
interface CeilingDrag {
  x: number;
  y: number;
  line: RooflineLine | null;
  /** Range of the axes while a line is dragged. */
  extent: ReturnType<OperatorPoints["extent"]>;
  to: { x: number; y: number } | null;
}

/** Operations per second against operations per byte, one point per operator: bound by memory or by arithmetic. */
export class Roofline implements OtherChart, StageChart {
  readonly node: HTMLElement;
  readonly #host: ChartHost;
  readonly stage: ChartStage;
  readonly #note = element("p", { class: "tvmdbg-muted" });
  readonly #list: MissingList;
  readonly #fields: Record<RooflineLine, RateField>;
  readonly #points: OperatorPoints;
  readonly #painter: RooflinePainter;
  #current = -1;
  #hovered = -1;
  #over: RooflineLine | null = null;
  #drag: CeilingDrag | null = null;

  constructor(host: ChartHost, columns: RooflineColumns) {
    this.#host = host;
    this.#points = new OperatorPoints(columns, host.data.slices.columns.nodeNs);
    this.#painter = new RooflinePainter(this.#points, host.data.names);
    this.#list = new MissingList(host);
    const field = (line: RooflineLine, label: string, unit: string, title: string) =>
      new RateField(label, unit, title, (value) => this.#set(line, value), this);
    this.#fields = {
      flops: field("flops", "peak", "FLOP/s", "peak compute, such as 200 GFLOP/s"),
      bytes: field("bytes", "bandwidth", "B/s", "peak memory bandwidth, such as 25 GB/s"),
    };
    this.stage = new ChartStage("tvmdbg-timeline-roofline", this, host);
    const { flops, bytes } = this.#fields;
    this.node = div(
      "tvmdbg-timeline-other tvmdbg-column tvmdbg-timeline-rooflines",
      div("tvmdbg-timeline-above", flops.node, bytes.node, this.#note),
      div("tvmdbg-timeline-beside tvmdbg-wrap tvmdbg-fill", this.stage.node, this.#list.node),
    );
    const { options, signal } = host.context;
    for (const name of ["peak_flops", "bandwidth"] as const) {
      options.onChange(name, () => this.tell(), signal);
    }
    this.#list.fill(this.#points, columns.info.convention);
    this.tell();
  }

  paint(brush: ChartBrush, width: number, height: number): void {
    const place = this.#place(width, height);
    this.#painter.paint(brush, place, this.#given, this.#points.highest);
  }

  over(brush: ChartBrush, width: number, height: number): void {
    const points = this.#points;
    const place = this.#place(width, height);
    const ring = (point: number, line: number) => {
      if (point >= 0 && points.isDrawn(point)) this.#painter.ring(brush, place, point, line);
    };
    for (const node of this.#host.session.selected) ring(points.of(node), 2);
    ring(this.#hovered, 1);
    ring(this.#current, 3);
    const { x, y, line, to } = this.#drag ?? { line: "", to: null };
    if (line !== null || !to) return;
    const box = { x: Math.min(x, to.x), y: Math.min(y, to.y) };
    const size = { width: Math.abs(to.x - x), height: Math.abs(to.y - y) };
    brush.fill(brush.theme.accent, box.x, box.y, size.width, size.height, 0.14);
    brush.frame({ ...box, ...size }, 1);
  }

  press({ x, y }: PointerSpot): void {
    const line = this.#at(x, y) < 0 ? this.#lineAt(x, y) : null;
    this.#drag = { x, y, line, extent: this.#extent, to: null };
  }

  drag(to: PointerSpot): void {
    const drag = this.#drag;
    if (!drag) return;
    drag.to = to;
    if (drag.line) this.#pull(drag.line, to.x, to.y);
    this.stage.touched();
  }

  drop(to: PointerSpot | null): void {
    const drag = this.#drag;
    this.#drag = null;
    if (to && drag?.line === null) this.#box(drag, to);
    this.stage.changed();
  }

  click({ x, y }: PointerSpot, event: MouseEvent): void {
    const isPick = this.#drag && event.button === 0;
    if (isPick) this.#click(this.#at(x, y), event.ctrlKey || event.metaKey);
    this.#drag = null;
    this.stage.changed();
  }

  leave(): void {
    this.#move(null);
  }

  hover(at: PointerSpot): void {
    this.#move(at);
  }

  sync(): void {
    const { node, hovered } = this.#host.session;
    const points = this.#points;
    this.#current = node === null ? -1 : points.of(node);
    this.#hovered = hovered === null ? -1 : points.of(hovered);
    this.#list.mark(this.#host.session.selected);
    this.stage.touched();
  }

  key(event: KeyboardEvent): boolean {
    const points = this.#points;
    if (!points.byTime.length) return false;
    const along = (order: readonly number[], by: number) => {
      const at = order.indexOf(this.#current);
      const isFirst = at < 0 && Number.isFinite(by);
      const next = isFirst ? (by > 0 ? 0 : order.length - 1) : at + by;
      this.#pick(order[Math.min(Math.max(0, next), order.length - 1)]!);
    };
    const steps: Record<string, readonly [order: readonly number[], by: number]> = {
      ArrowRight: [points.byPlace, 1],
      ArrowLeft: [points.byPlace, -1],
      ArrowDown: [points.byTime, 1],
      ArrowUp: [points.byTime, -1],
      Home: [points.byTime, -Infinity],
      End: [points.byTime, Infinity],
    };
    const step = steps[event.key];
    if (step) along(...step);
    else if (event.key === "Escape" && this.#drag) {
      this.#drag = null;
      this.stage.touched();
    } else return false;
    return true;
  }

  inspect(out: Record<string, unknown>): void {
    Object.assign(out, shifted(this.stage, this.node));
    out.current = this.#points.node[this.#current] ?? -1;
    out.ceilings = this.#given;
    out.said = this.#note.textContent;
    const { width, height } = this.stage;
    const place = this.#place(width, height);
    const [stage, outer] = [this.stage.node, this.node].map((node) => node.getBoundingClientRect());
    const { flops, bytes } = this.#lines;
    const [dx, dy] = [stage!.left - outer!.left, stage!.top - outer!.top];
    const at = (x: number, rate: number) => ({ x: dx + x, y: dy + place.atY(rate) });
    const [near, far] = [place.left + 8, place.right - 8];
    out.lines = {
      flops: flops ? at(far, flops) : null,
      bytes: bytes ? at(near, bytes * place.intensity(near)) : null,
    };
  }

  get sentence(): string {
    const { selected } = this.#host.session;
    const points = this.#points;
    if (selected.length !== 1) return "";
    return this.#current >= 0 && points.isDrawn(this.#current)
      ? this.#tooltip(this.#current).join(", ")
      : "";
  }

  get #given(): Ceilings {
    const { options } = this.#host.context;
    return { flops: options.get("peak_flops") || null, bytes: options.get("bandwidth") || null };
  }

  /** Given ceilings, else the highest rates measured. */
  get #lines(): Ceilings {
    const [{ flops, bytes }, seen] = [this.#given, this.#points.highest];
    return { flops: flops ?? seen.flops, bytes: bytes ?? seen.bytes };
  }

  #set(line: RooflineLine, value: number | null): void {
    this.#host.context.options.set(line === "flops" ? "peak_flops" : "bandwidth", value);
    this.tell();
  }

  say(text: string): void {
    this.#host.say(text);
  }

  /** Shows the ceilings, and what lies below them. */
  tell(): void {
    const { flops, bytes } = this.#given;
    this.#fields.flops.show(flops);
    this.#fields.bytes.show(bytes);
    const points = this.#points;
    this.stage.changed();
    const absent = points.node.length - points.byTime.length;
    const rest = absent ? ` ${counted(absent, "operator")} not in the chart.` : "";
    let note = "Dashed = best measured, not hardware peak.";
    if (flops && bytes) {
      const slow = points.byTime.filter(
        (point) => points.bound(point, this.#given)?.by === "memory",
      );
      const ridge = Number((flops / bytes).toPrecision(3));
      note = `Memory-bound below ${ridge} FLOP/B, ignoring cache hits: ${counted(slow.length, "operator")}.`;
    }
    this.#note.textContent = note + rest;
    this.#note.title = `${note}${rest} ${points.columns.info.convention}`;
  }

  #place(width: number, height: number): RooflinePlot {
    return new RooflinePlot(width, height, this.#drag?.extent ?? this.#extent);
  }

  get #extent(): CeilingDrag["extent"] {
    return this.#points.extent(this.#lines);
  }

  #at(x: number, y: number): number {
    const place = this.#place(this.stage.width, this.stage.height);
    let [nearest, best] = [-1, Number.POSITIVE_INFINITY];
    for (const point of this.#points.byTime) {
      const [left, top] = this.#painter.spot(place, point);
      const radius = this.#painter.radius(point);
      const away = Math.hypot(left - x, top - y);
      if (away <= radius + 2 && away / radius <= best) [nearest, best] = [point, away / radius];
    }
    return nearest;
  }

  #lineAt(x: number, y: number): RooflineLine | null {
    const place = this.#place(this.stage.width, this.stage.height);
    if (x < place.left || x > place.right) return null;
    const { flops, bytes } = this.#lines;
    const ridge = this.#given.flops && this.#given.bytes ? place.atX(flops! / bytes!) : null;
    if (flops && Math.abs(place.atY(flops) - y) <= REACH && x >= (ridge ?? 0)) return "flops";
    const slope = bytes ? place.atY(bytes * place.intensity(x)) : Number.NaN;
    return Math.abs(slope - y) <= REACH && x <= (ridge ?? Infinity) ? "bytes" : null;
  }

  #move(at: { x: number; y: number } | null): void {
    this.#drag = null;
    const point = at ? this.#at(at.x, at.y) : -1;
    this.#over = at && point < 0 ? this.#lineAt(at.x, at.y) : null;
    this.stage.node.style.cursor = this.#over ? "move" : "";
    if (point !== this.#hovered) {
      this.#hovered = point;
      this.#host.session.hover(point < 0 ? null : this.#points.node[point]!);
      this.stage.touched();
    }
    const lines = point >= 0 ? this.#tooltip(point) : this.#over && this.#ceiling(this.#over);
    const radius = point < 0 ? 0 : this.#painter.radius(point);
    const [x, y] =
      point < 0
        ? [0, 0]
        : this.#painter.spot(this.#place(this.stage.width, this.stage.height), point);
    const dot = { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    const [target, spot] = [point < 0 ? null : dot, at ?? { x: 0, y: 0 }];
    this.#host.tooltip.tell(lines, this.stage.node, spot.x, spot.y, target);
  }

  #pull(line: RooflineLine, x: number, y: number): void {
    const place = this.#place(this.stage.width, this.stage.height);
    const clamped = Math.min(Math.max(y, place.top), place.bottom);
    const rate = place.rate(clamped);
    const value = line === "flops" ? rate : rate / place.intensity(Math.max(place.left, x));
    this.#set(line, Number(value.toPrecision(3)));
  }

  #box(from: { x: number; y: number }, to: { x: number; y: number }): void {
    const place = this.#place(this.stage.width, this.stage.height);
    const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
    const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
    const inside = this.#points.byTime.filter((point) => {
      const [x, y] = this.#painter.spot(place, point);
      return x >= left && x <= right && y >= top && y <= bottom;
    });
    const nodes = inside.map((point) => this.#points.node[point]!).toReversed();
    this.#host.choose("chart", nodes);
  }

  #click(point: number, toggle: boolean): void {
    const node = this.#points.node[point];
    if (node !== undefined && toggle) this.#host.session.toggle(node, "timeline");
    else if (node === undefined) this.#host.choose("chart", []);
    else this.#pick(point);
  }

  #pick(point: number): void {
    this.#current = point;
    this.#host.choose("chart", [this.#points.node[point]!]);
    this.stage.touched();
  }

  /** Work and rates of a node, which its details keep. */
  factsOf(node: number): SliceFact[] {
    const point = this.#points.of(node);
    if (point < 0 || !this.#points.isDrawn(point)) return [];
    const { work, rates, bound } = this.#texts(point);
    const facts: SliceFact[] = [
      ["work", work],
      ["rate", rates],
    ];
    return bound ? [...facts, ["roofline", bound]] : facts;
  }

  #texts(point: number): { work: string; rates: string; bound: string } {
    const points = this.#points;
    const about = points.exact[point] ? "" : "≈ ";
    const bound = points.bound(point, this.#given);
    const dtype = points.columns.dtypes.at(point);
    const on = /int/.test(dtype) ? ` on ${dtype}` : "";
    const intensity = Number(points.intensity[point]!.toPrecision(3));
    return {
      work: `${about}${rateText(points.flops[point]!, "FLOP")}${on} for ${rateText(points.bytes[point]!, "B")}`,
      rates: `${about}${rateText(points.rate[point]!, "FLOP/s")} at ${intensity} FLOP/B, ${rateText(points.moved(point), "B/s")}`,
      bound: bound ? `bound by ${bound.by}: ${percent(bound.share)} of that ceiling` : "",
    };
  }

  #tooltip(point: number): string[] {
    const points = this.#points;
    const { data } = this.#host;
    const node = points.node[point]!;
    const { rates, bound } = this.#texts(point);
    const time = data.slices.timeText(points.ns[point]!);
    return [data.names.title(node), rates, bound ? `${time}, ${bound}` : `takes ${time}`];
  }

  #ceiling(line: RooflineLine): string[] {
    const value = rateText(this.#lines[line] ?? Number.NaN, line === "flops" ? "FLOP/s" : "B/s");
    const given = this.#given[line] !== null;
    const what = line === "flops" ? "peak" : "bandwidth";
    return given
      ? [`${what} ${value}`, "drag it, or type a value above"]
      : [`best measured: ${value}`, `not hardware peak; drag it to set the ${what}`];
  }
}
