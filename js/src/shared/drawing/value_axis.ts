import { shortText } from "../number_text.ts";

/** The next 1, 2 or 5 times a power of ten. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const rest = least / power;
  return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

export interface Tick {
  value: number;
  text: string;
}

export function niceTicks(low: number, high: number, count: number): Tick[] {
  if (!(high > low) || count < 1) return [];
  const step = niceStep(high / count - low / count);
  if (!(step > 0) || !Number.isFinite(step)) return [];
  const ticks: Tick[] = [];
  for (let k = Math.ceil(low / step); ticks.length <= 4 * count; k += 1) {
    const value = Number((k * step).toPrecision(12));
    if (value > high) break;
    ticks.push({ value, text: shortText(value) });
  }
  return ticks;
}

export function indexTicks(first: number, end: number, count: number): number[] {
  if (!(end > first)) return [];
  const step = niceStep(Math.max(1, (end - first) / Math.max(1, count)));
  const start = Math.ceil(Math.floor(first) / step);
  return Array.from({ length: Math.max(0, Math.ceil(end / step) - start) }, (_, k) => {
    return (start + k) * step;
  });
}

export function powerTicks(low: number, high: number, threshold: number): Tick[] {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const values = low <= 0 && high >= 0 ? [0] : [];
  for (let power = Math.ceil(Math.log10(threshold)); 10 ** power <= largest; power += 1) {
    values.push(10 ** power, -(10 ** power));
  }
  return ticksOf(values, low, high);
}

function ticksOf(values: readonly number[], low: number, high: number): Tick[] {
  const inside = values.filter((value) => value >= low && value <= high).sort((a, b) => a - b);
  return inside.map((value) => ({ value, text: shortText(value) }));
}

export const AXIS_KINDS = ["linear", "log", "symlog"] as const;
export type AxisKind = (typeof AXIS_KINDS)[number];

const DECADES = 6;

/** Position of values along an axis: shares 0 … 1 between two finite values. */
export class ValueAxis {
  /** Value at which symlog turns from linear to logarithmic. */
  readonly threshold: number;
  /** Halves large values, since the span of two float64 may overflow; the smallest cannot be halved. */
  readonly #unit: number;
  readonly #from: number;
  readonly #to: number;

  /** A logarithmic axis is all positive or all negative. */
  constructor(
    readonly kind: AxisKind,
    readonly low: number,
    readonly high: number,
    linear: number | null = null,
  ) {
    const largest = Math.max(Math.abs(low), Math.abs(high));
    this.threshold = Math.min(linear || largest / 10 ** DECADES, largest) || 1;
    this.#unit = largest > 1 ? 0.5 : 1;
    this.#from = this.#bend(low);
    this.#to = this.#bend(high);
  }

  get single(): boolean {
    return !(this.#to > this.#from);
  }

  share(value: number): number {
    if (this.single) return value < this.low ? -1 : value > this.high ? 2 : 0.5;
    const bent = this.#bend(value);
    return Number.isNaN(bent) ? -1 : (bent - this.#from) / (this.#to - this.#from);
  }

  value(share: number): number {
    if (share <= 0 || this.single) return this.low;
    if (share >= 1) return this.high;
    return this.#straight(this.#from + share * (this.#to - this.#from));
  }

  /** Ascending borders of up to `count` equally wide bars, from the lowest to the highest value. */
  edges(count: number): Float64Array {
    const edges = [this.low];
    for (let k = 1; k < count; k += 1) {
      const edge = this.value(k / count);
      if (edge > edges.at(-1)! && edge < this.high) edges.push(edge);
    }
    edges.push(this.high);
    return Float64Array.from(edges);
  }

  ticks(count: number): Tick[] {
    if (this.single) return [];
    const ticks = this.kind === "linear" ? [] : this.#powers(count);
    return ticks.length > 1 ? ticks : niceTicks(this.low, this.high, count);
  }

  #powers(count: number): Tick[] {
    const least = this.kind === "log" ? Math.min(Math.abs(this.low), Math.abs(this.high)) : 0;
    const most = Math.max(Math.abs(this.low), Math.abs(this.high));
    const [from, to] = [Math.log10(Math.max(least, this.threshold * 1e-9)), Math.log10(most)];
    const start = this.kind === "log" ? from : Math.log10(this.threshold);
    const both = this.low < 0 && this.high > 0 ? 2 : 1;
    const step = Math.max(1, Math.ceil((both * (to - start)) / Math.max(1, count)));
    const values = this.kind === "symlog" ? [0] : [];
    for (let power = Math.floor(to); power >= start; power -= step) {
      values.push(10 ** power, -(10 ** power));
    }
    return ticksOf(values, this.low, this.high);
  }

  #bend(value: number): number {
    if (this.kind === "linear") return value * this.#unit;
    if (this.kind === "log") {
      const sign = this.high > 0 ? 1 : -1;
      return value * sign > 0 ? sign * Math.log(Math.abs(value)) : Number.NaN;
    }
    return Math.sign(value) * Math.log1p(Math.abs(value) / this.threshold);
  }

  #straight(bent: number): number {
    if (this.kind === "linear") return bent / this.#unit;
    if (this.kind === "log") return this.high > 0 ? Math.exp(bent) : -Math.exp(-bent);
    return Math.sign(bent) * this.threshold * Math.expm1(Math.abs(bent));
  }
}

export function tidy(axis: ValueAxis, share: number, step: number): number {
  const value = axis.value(share);
  if (share <= 0 || share >= 1) return value;
  const near = Math.abs(
    axis.value(Math.min(1, share + step)) - axis.value(Math.max(0, share - step)),
  );
  if (!(near > 0)) return value;
  const digits = Math.ceil(Math.log10(Math.abs(value) / near)) + 1;
  const short = Number(value.toPrecision(Math.max(1, Math.min(17, digits))));
  return Math.min(axis.high, Math.max(axis.low, short));
}
