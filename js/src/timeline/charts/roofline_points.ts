import type { RooflineColumns } from "../../shared/client/answers.ts";
import { counted, duration } from "../../shared/format.ts";
import { addTo, smallest } from "../../shared/many.ts";
import { button, element, KEEP_KEYS } from "../../shell/dom.ts";
import type { ChartHost } from "./stage.ts";

const PREFIXES = ["", "k", "M", "G", "T", "P"];
const POWERS: Record<string, number> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15 };
/** Decades of free space around the points. */
const MARGIN = 0.2;
/** Least decades of an axis. */
const LEAST = 1;

/** Three significant digits with a prefix: `12.3 GFLOP/s`. */
export function rateText(value: number, unit: string): string {
  if (!Number.isFinite(value)) return "unknown";
  let power = 0;
  let scaled = value;
  while (Number(scaled.toPrecision(3)) >= 1000 && power < PREFIXES.length - 1) {
    scaled /= 1000;
    power++;
  }
  return `${Number(scaled.toPrecision(3))} ${PREFIXES[power]}${unit}`;
}

/** A typed rate: `200e9`, `200 G`, `25 GB/s`; null for an empty text, NaN unless it is a number above zero. */
export function typedRate(text: string): number | null {
  const typed = text.trim();
  if (!typed) return null;
  const match =
    /^((?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d*)?(?:e[+-]?\d+)?)\s*([kmgtp]?)(?:(?:flops?|b|bytes?)(?:\/s)?)?$/i.exec(
      typed,
    );
  const value = match
    ? Number(match[1]!.replaceAll(",", "")) * (POWERS[match[2]!.toLowerCase()] ?? 1)
    : Number.NaN;
  return value > 0 && Number.isFinite(value) ? value : Number.NaN;
}

/** Peak operations and bytes a second of a machine; null if not given. */
export interface Ceilings {
  flops: number | null;
  bytes: number | null;
}

export interface RateRange {
  low: number;
  high: number;
}

/** Operators as points: operations per byte, and operations per second. */
export class OperatorPoints {
  /** By point: the node, its time, work and bytes, and derived numbers. */
  readonly node: Int32Array;
  readonly ns: Float64Array;
  readonly flops: Float64Array;
  readonly bytes: Float64Array;
  readonly intensity: Float64Array;
  readonly rate: Float64Array;
  readonly exact: Uint8Array;
  /** Drawable points, the slowest first, and from left to right. */
  readonly byTime: readonly number[];
  readonly byPlace: readonly number[];
  readonly #of: Map<number, number>;

  constructor(
    readonly columns: RooflineColumns,
    nodeNs: Float64Array,
  ) {
    const { node, flops, bytes, exact } = columns;
    this.node = node;
    this.flops = flops;
    this.bytes = bytes;
    this.exact = exact;
    this.ns = Float64Array.from(node, (id) => nodeNs[id] ?? Number.NaN);
    this.intensity = flops.map((flop, point) => flop / bytes[point]!);
    this.rate = flops.map((flop, point) => (flop / this.ns[point]!) * 1e9);
    const drawn = Array.from(node.keys()).filter((point) => this.isDrawn(point));
    this.byTime = drawn.toSorted((a, b) => this.ns[b]! - this.ns[a]! || a - b);
    this.byPlace = drawn.toSorted(
      (a, b) => this.intensity[a]! - this.intensity[b]! || this.rate[a]! - this.rate[b]! || a - b,
    );
    this.#of = new Map(Array.from(node, (id, point) => [id, point]));
  }

  /** The point of a node, or -1. */
  of(node: number): number {
    return this.#of.get(node) ?? -1;
  }

  /** True if the point fits on axes that have no zero. */
  isDrawn(point: number): boolean {
    const [x, y] = [this.intensity[point]!, this.rate[point]!];
    return x > 0 && y > 0 && Number.isFinite(x) && Number.isFinite(y);
  }

  /** Bytes a second; NaN if unknown. */
  moved(point: number): number {
    return (this.bytes[point]! / this.ns[point]!) * 1e9;
  }

  get highest(): { flops: number; bytes: number } {
    let [flops, bytes] = [0, 0];
    for (const point of this.node.keys()) {
      flops = Math.max(flops, this.rate[point]! > 0 ? this.rate[point]! : 0);
      bytes = Math.max(bytes, this.moved(point) > 0 ? this.moved(point) : 0);
    }
    return { flops, bytes };
  }

  /** Bound of a point if both ceilings are known, and the reached share of it. */
  bound(point: number, { flops, bytes }: Ceilings): { by: string; share: number } | null {
    if (!flops || !bytes || !this.isDrawn(point)) return null;
    const memory = this.intensity[point]! * bytes < flops;
    return memory
      ? { by: "memory", share: this.moved(point) / bytes }
      : { by: "compute", share: this.rate[point]! / flops };
  }

  /** Points without a position by reason, both sorted by time. */
  missing(): { why: string; points: number[]; ns: number }[] {
    const reasons = new Map<string, number[]>();
    for (const point of this.node.keys()) {
      if (this.isDrawn(point)) continue;
      addTo(reasons, this.#why(point), point);
    }
    const time = (point: number) => this.ns[point]! || 0;
    return [...reasons]
      .map(([why, points]) => ({
        why,
        points: points.toSorted((a, b) => time(b) - time(a) || a - b),
        ns: points.reduce((sum, point) => sum + time(point), 0),
      }))
      .toSorted((a, b) => b.ns - a.ns);
  }

  #why(point: number): string {
    const reason = this.columns.why.at(point);
    if (reason) return reason;
    if (!(this.ns[point]! > 0)) return "no time above zero";
    return "no arithmetic: 0 operations";
  }

  /** Decades of the axes: all points, and the intersection of the ceilings. */
  extent(ceilings: Ceilings): { x: RateRange; y: RateRange } {
    const [xs, ys]: [number[], number[]] = [[], []];
    for (const point of this.byTime) {
      xs.push(this.intensity[point]!);
      ys.push(this.rate[point]!);
    }
    const { flops, bytes } = ceilings;
    if (flops) ys.push(flops);
    if (flops && bytes) xs.push(flops / bytes);
    if (bytes && xs.length) ys.push(bytes * smallest(xs));
    const y = spanned(ys);
    return { x: spanned(xs), y: { low: y.low, high: y.high + MARGIN } };
  }
}

function spanned(values: number[]): RateRange {
  if (!values.length) return { low: -1, high: 1 };
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, Math.log10(value));
    high = Math.max(high, Math.log10(value));
  }
  const more = Math.max(0, LEAST - (high - low)) / 2;
  return { low: low - more - MARGIN, high: high + more + MARGIN };
}

/** Round values on a logarithmic axis between two powers: every decade; of few decades also 2 and 5. */
export function decadeTicks({ low, high }: RateRange, most: number): number[] {
  const decades = high - low;
  const step = Math.max(1, Math.ceil(decades / most));
  const inner = decades * 3 <= most ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = Math.floor(low); power <= high; power++) {
    if (((power % step) + step) % step) continue;
    for (const factor of inner) {
      const value = Number(`${factor}e${power}`);
      const at = Math.log10(value);
      if (at >= low && at <= high) ticks.push(value);
    }
  }
  return ticks;
}

export interface Spot {
  x: number;
  y: number;
  radius: number;
}

export interface RooflineLabel {
  x: number;
  y: number;
  width: number;
}

const LABEL_HEIGHT = 13;
const APART = 3;

/** Positions for a text beside a spot, the best first: right, left, above or below. */
export function beside({ x, y, radius }: Spot, width: number): RooflineLabel[] {
  const away = radius + APART;
  return [
    { x: x + away, y, width },
    { x: x - away - width, y, width },
    { x: x - width / 2, y: y - away - LABEL_HEIGHT / 2, width },
    { x: x - width / 2, y: y + away + LABEL_HEIGHT / 2, width },
  ];
}

/** The first free position for every text, clear of earlier texts and spots; else null. */
export function placeLabels(
  texts: readonly RooflineLabel[][],
  spots: readonly Spot[],
  room: { left: number; top: number; right: number; bottom: number },
): (RooflineLabel | null)[] {
  const taken: RooflineLabel[] = [];
  return texts.map((choices) => {
    const spot = choices.find(
      (label) =>
        label.x >= room.left &&
        label.x + label.width <= room.right &&
        label.y - LABEL_HEIGHT / 2 >= room.top &&
        label.y + LABEL_HEIGHT / 2 <= room.bottom &&
        !taken.some((other) => meets(label, other)) &&
        !spots.some((spot) => covers(spot, label)),
    );
    if (spot) taken.push(spot);
    return spot ?? null;
  });
}

function meets(a: RooflineLabel, b: RooflineLabel): boolean {
  return (
    a.x < b.x + b.width + APART &&
    b.x < a.x + a.width + APART &&
    Math.abs(a.y - b.y) < LABEL_HEIGHT + 1
  );
}

function covers(spot: Spot, label: RooflineLabel): boolean {
  const dx = Math.max(label.x - spot.x, 0, spot.x - label.x - label.width);
  const dy = Math.max(Math.abs(label.y - spot.y) - LABEL_HEIGHT / 2, 0);
  return dx * dx + dy * dy < (spot.radius + 1) ** 2;
}

/** Most operators listed per reason. */
const LISTED = 12;

/** Operators without a position on logarithmic axes, by reason. */
export class MissingList {
  readonly node = element("section", {
    class: "tvmdbg-timeline-missing",
    "aria-label": "operators that are not in the chart",
  });
  readonly #host: ChartHost;

  constructor(host: ChartHost) {
    this.#host = host;
  }

  fill(points: OperatorPoints, convention: string): void {
    const { names, slices } = this.#host.data;
    const pick = (nodes: number[]) => this.#host.choose("chart", nodes);
    const groups = points.missing().map(({ why, points: own, ns }) => {
      const nodes = own.map((point) => points.node[point]!);
      const all = `${counted(own.length, "operator")}, ${duration(ns)}`;
      const rows = own.slice(0, LISTED).map((point) => {
        const node = points.node[point]!;
        const moved = points.moved(point);
        const rate = moved > 0 ? `, ${rateText(moved, "B/s")}` : "";
        const text = `${names.title(node)} · ${slices.timeText(points.ns[point]!)}${rate}`;
        const row = button(text, why, () => pick([node]));
        row.dataset.node = String(node);
        return element("li", {}, row);
      });
      const more = own.length - rows.length;
      return element(
        "div",
        {},
        element(
          "p",
          {},
          `${why}: `,
          button(all, `select ${all}`, () => pick(nodes)),
        ),
        element("ul", {}, ...rows, more > 0 && element("li", {}, `… and ${more} more`)),
      );
    });
    this.node.hidden = groups.length === 0;
    this.node.replaceChildren(
      element("h4", {}, "Not in the chart"),
      ...groups,
      element("p", { class: "tvmdbg-muted" }, convention),
    );
  }

  mark(selected: readonly number[]): void {
    for (const link of this.node.querySelectorAll<HTMLElement>("[data-node]")) {
      link.setAttribute("aria-pressed", String(selected.includes(Number(link.dataset.node))));
    }
  }
}

interface RateHost {
  readonly stage: { focusView(): void };
  say(text: string): void;
  /** Shows the rates that are set. */
  tell(): void;
}

/** A field for a peak rate of a machine; may be empty. */
export class RateField {
  readonly node: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #unit: string;

  constructor(
    label: string,
    unit: string,
    title: string,
    set: (value: number | null) => void,
    host: RateHost,
  ) {
    this.#unit = unit;
    this.#field = element("input", {
      type: "text",
      placeholder: `? ${unit}`,
      "aria-label": `${label}, ${unit}`,
      title: `${title}; empty: unknown`,
      ...KEEP_KEYS,
    });
    this.node = element("label", {}, `${label} `, this.#field);
    this.#field.addEventListener("change", () => {
      const value = typedRate(this.#field.value);
      this.#field.setAttribute("aria-invalid", String(Number.isNaN(value)));
      if (Number.isNaN(value)) host.say(`${label} must be a number above zero, such as 200 G`);
      else set(value);
    });
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      if (event.key === "Escape") host.tell();
      this.#field.blur();
      host.stage.focusView();
    });
  }

  show(value: number | null): void {
    this.#field.value = value ? rateText(value, this.#unit) : "";
    this.#field.setAttribute("aria-invalid", "false");
  }
}
