import type { StatisticsAnswer, Tile } from "../shared/tensor_questions.ts";
import type { ColorMap } from "./colors.ts";
import { niceTicks, powerTicks, type Tick } from "./ticks.ts";

export type ScaleKind = "linear" | "log" | "symlog";
export type MapChoice = "auto" | ColorMap;
/** What the colours span: the tensor, what is in sight, its 1st to 99th percentile, or two numbers. */
export type RangeChoice = "tensor" | "plane" | "robust" | readonly [low: number, high: number];
/** Which number of a cell of several values: "extreme" is the one of largest magnitude. */
export type CellChoice = "mean" | "least" | "largest" | "extreme";

export interface ColorChoice {
  scale: ScaleKind;
  map: MapChoice;
  range: RangeChoice;
}

const DECADES = 3;

/** Maps finite values to shares 0 … 1 of a colour table. */
export class ColorScale {
  readonly low: number;
  readonly high: number;
  readonly map: ColorMap;
  readonly kind: ScaleKind;
  /** Where symlog turns from linear to logarithmic. */
  readonly threshold: number;
  readonly #from: number;
  readonly #span: number;

  constructor(low: number, high: number, map: ColorMap, kind: ScaleKind) {
    this.low = low;
    this.high = high;
    this.map = map;
    this.kind = kind;
    const largest = Math.max(Math.abs(low), Math.abs(high));
    this.threshold = largest > 0 ? largest / 10 ** DECADES : 1;
    this.#from = this.#bend(low);
    this.#span = this.#bend(high) - this.#from;
  }

  /** 0 … 1, values outside clamped; the middle where the range is a single value. */
  share(value: number): number {
    if (!(this.#span > 0)) return 0.5;
    return Math.min(1, Math.max(0, (this.#bend(value) - this.#from) / this.#span));
  }

  /** The value at a share: the inverse of `share`. */
  value(share: number): number {
    const bent = this.#from + share * this.#span;
    if (this.kind === "linear") return bent;
    return Math.sign(bent) * this.threshold * Math.expm1(Math.abs(bent));
  }

  get single(): boolean {
    return !(this.#span > 0);
  }

  ticks(count: number): Tick[] {
    if (this.single) return [];
    return this.kind === "linear"
      ? niceTicks(this.low, this.high, count)
      : powerTicks(this.low, this.high, this.threshold);
  }

  #bend(value: number): number {
    if (this.kind === "linear") return value;
    return Math.sign(value) * Math.log1p(Math.abs(value) / this.threshold);
  }
}

/** What ranges are taken from; either may be unknown. */
export interface Known {
  statistics: StatisticsAnswer | null;
  tile: Tile | null;
}

/** The scale for what is known, or null where it holds no finite value. */
export function colorScale(known: Known, choice: ColorChoice): ColorScale | null {
  const span = range(known, choice.range);
  if (!span) return null;
  let [low, high] = span;
  const map =
    choice.map === "auto" ? (low < 0 && high > 0 ? "diverging" : "sequential") : choice.map;
  if (map === "diverging") {
    high = Math.max(Math.abs(low), Math.abs(high));
    low = -high;
  }
  return new ColorScale(low, high, map, choice.scale);
}

function range(known: Known, choice: RangeChoice): [number, number] | null {
  if (choice === "plane") return planeRange(known) ?? tensorRange(known);
  return tensorRange(known) ?? planeRange(known);
}

function tensorRange({ statistics }: Known): [number, number] | null {
  const found = statistics?.statistics;
  const [low, high] = [found?.minimum.value ?? null, found?.maximum.value ?? null];
  return low === null || high === null ? null : [low, high];
}

function planeRange({ tile }: Known): [number, number] | null {
  if (!tile) return null;
  let [low, high] = [Infinity, -Infinity];
  for (let cell = 0; cell < tile.minimum.length; cell += 1) {
    const [least, most] = [tile.minimum[cell]!, tile.maximum[cell]!];
    if (Number.isFinite(least) && least < low) low = least;
    if (Number.isFinite(most) && most > high) high = most;
  }
  return low <= high ? [low, high] : null;
}
