/** Color tables and the colors of values outside of them. */
import { diverging, sequential, values } from "../../../../tvmdbg_widgets/figures/tokens.json";
import type {
  RobustRange,
  SpreadAnswer,
  StatisticsAnswer,
  TensorStatistics,
  Tile,
} from "../../shared/client/tensor_questions.ts";
import {
  AXIS_KINDS,
  type AxisKind,
  powerTicks,
  type Tick,
  ValueAxis,
} from "../../shared/drawing/value_axis.ts";
import { integer } from "../../shared/format.ts";

type ColorMap = "sequential" | "diverging";

export const SPECIAL = { nan: values.nan, posInf: values.posInf, negInf: values.negInf } as const;
export type Special = keyof typeof SPECIAL;
/** Finite values below and above the range of the colors. */
export const OUTSIDE = { under: values.under, over: values.over } as const;
export const SPECIAL_TEXT = { nan: "NaN", posInf: "+Inf", negInf: "−Inf" } as const;

/** Bits of a cell's flags; see `TensorAnswer.tile.flags`. */
const FLAG = { nan: 1, posInf: 2, negInf: 4 } as const;

export const SPECIALS = ["nan", "posInf", "negInf"] as const;

export function specialsOf(flags: number): Special[] {
  return SPECIALS.filter((special) => flags & FLAG[special]);
}

export function specialKey(statistics: TensorStatistics | null | undefined) {
  return SPECIALS.flatMap((special) => {
    const count = statistics?.[special] ?? 0;
    const text = `${SPECIAL_TEXT[special]} (${integer(count)})`;
    return count ? [{ special, color: SPECIAL[special], text }] : [];
  });
}

/** The special value a cell is drawn as: NaN comes first. */
export function specialOf(flags: number): Special | null {
  return specialsOf(flags)[0] ?? null;
}

/** Sequential: dark indigo to pale green, ascending lightness. Diverging: blue, near white, crimson, equally dark: safe without red-green vision. */
export const STOPS: Record<ColorMap, readonly string[]> = {
  sequential,
  diverging: diverging.light,
};

const tables = new Map<ColorMap, Uint8Array>();

/** 256 colors, three bytes each. */
export function table(map: ColorMap): Uint8Array {
  let made = tables.get(map);
  if (!made) {
    made = interpolate(STOPS[map]);
    tables.set(map, made);
  }
  return made;
}

export function cssColor(map: ColorMap, share: number): string {
  const at = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  const [red, green, blue] = table(map).subarray(at, at + 3);
  return `rgb(${red}, ${green}, ${blue})`;
}

export function rgb(hex: string): [number, number, number] {
  const bits = Number.parseInt(hex.slice(1), 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
}

function interpolate(stops: readonly string[]): Uint8Array {
  const colors = stops.map(rgb);
  const bytes = new Uint8Array(3 * 256);
  for (let i = 0; i < 256; i += 1) {
    const at = (i / 255) * (colors.length - 1);
    const low = Math.min(Math.floor(at), colors.length - 2);
    for (let channel = 0; channel < 3; channel += 1) {
      const from = colors[low]![channel]!;
      bytes[3 * i + channel] = Math.round(from + (colors[low + 1]![channel]! - from) * (at - low));
    }
  }
  return bytes;
}

export type ScaleKind = AxisKind;
/** "auto" is the scale that separates the values best. */
export type ScaleChoice = "auto" | ScaleKind;
export const SCALE_CHOICES = ["auto", ...AXIS_KINDS] as const;
export type MapChoice = "auto" | ColorMap;
/** Range of the colors: tensor, visible plane, percentiles 1 to 99 or two numbers; "auto" is without outliers. */
export type RangeChoice =
  | "auto"
  | "tensor"
  | "plane"
  | "robust"
  | readonly [low: number, high: number];
/** Number that stands for a cell of several values: "extreme" has the largest magnitude. */
export type CellChoice = "mean" | "least" | "largest" | "extreme";

export interface ColorChoice {
  scale: ScaleChoice;
  map: MapChoice;
  range: RangeChoice;
}

const DECADES = 3;
/** Decades of a logarithmic scale whose range reaches down to zero. */
const LOG_DECADES = 6;

/** Relative rounding error of a tensor's float32 cells. */
export const ROUNDING = 2 ** -24;

/** Maps finite values to shares 0 … 1 of a color table, whose ends are the ends of the axis. */
export class ColorScale extends ValueAxis {
  /** The values on the scale: a part of those from `low` to `high`, else all. */
  readonly least: number;
  readonly most: number;

  constructor(
    low: number,
    high: number,
    readonly map: ColorMap,
    kind: ScaleKind,
    part: readonly [least: number, most: number] = [low, high],
    linear: number | null = null,
  ) {
    super(kind, low, high, linear ?? Math.max(Math.abs(low), Math.abs(high)) / 10 ** DECADES);
    [this.least, this.most] = part;
  }

  /** Clamps values outside; 0.5 if the range is a single value. */
  override share(value: number): number {
    return this.single ? 0.5 : Math.min(1, Math.max(0, super.share(value)));
  }

  /** Side of the scale that a value is beyond; values at the ends may be off by `rounding`. */
  side(value: number, rounding = ROUNDING): "on" | "under" | "over" {
    if (value < this.least - rounding * Math.abs(this.least)) return "under";
    return value > this.most + rounding * Math.abs(this.most) ? "over" : "on";
  }

  override ticks(count: number): Tick[] {
    if (this.single || this.kind === "linear") return super.ticks(count);
    return powerTicks(this.low, this.high, this.kind === "log" ? this.low : this.threshold);
  }
}

/** True if two scales give every value the same color. */
export function sameScale(a: ColorScale | null, b: ColorScale | null): boolean {
  if (!a || !b) return a === b;
  const names = ["low", "high", "map", "kind", "least", "most", "threshold"] as const;
  return names.every((name) => Object.is(a[name], b[name]));
}

export interface KnownValues {
  statistics: StatisticsAnswer | null;
  tile: Tile | null;
}

/** The scale for the known values, or null without finite ones. */
export function colorScale(known: KnownValues, choice: ColorChoice): ColorScale | null {
  const wanted = scaleKind(known.statistics, choice.scale);
  const span = range(known, choice);
  if (!span) return null;
  const cut = nearRange(known.statistics, choice) ?? typeof choice.range !== "string";
  const part = cut ? span : undefined;
  let [low, high] = span;
  if (wanted === "log" && high > 0) {
    low = low > 0 ? low : Math.max(leastPositive(known), high / 10 ** LOG_DECADES);
    const map = choice.map === "diverging" ? "diverging" : "sequential";
    return new ColorScale(low, high, map, "log");
  }
  const kind = wanted === "log" ? "symlog" : wanted;
  const map =
    choice.map === "auto" ? (low < 0 && high > 0 ? "diverging" : "sequential") : choice.map;
  if (map === "diverging") {
    high = Math.max(Math.abs(low), Math.abs(high));
    low = -high;
  }
  return new ColorScale(low, high, map, kind, part, known.statistics?.linear);
}

export function scaleKind(known: SpreadAnswer | null, choice: ScaleChoice): ScaleKind {
  return choice === "auto" ? (known?.scale ?? "linear") : choice;
}

/** Range without outliers, if colors and histogram keep to it: not on a scale that separates all values. */
export function nearRange(
  known: SpreadAnswer | null,
  { scale, range }: Pick<ColorChoice, "scale" | "range">,
): RobustRange | null {
  if (range !== "auto" || !known?.robust) return null;
  const bent = known.scale !== "linear" && scaleKind(known, scale) !== "linear";
  return bent ? null : known.robust;
}

function leastPositive({ statistics }: KnownValues): number {
  return statistics?.distribution?.low.find((low) => low > 0) ?? Number.MIN_VALUE;
}

function range(known: KnownValues, choice: ColorChoice): readonly [number, number] | null {
  if (typeof choice.range !== "string") return choice.range;
  const near = nearRange(known.statistics, choice);
  const robust = near
    ? ([near.low, near.high] as const)
    : choice.range === "robust"
      ? robustRange(known)
      : null;
  if (choice.range === "plane") return planeRange(known) ?? tensorRange(known);
  return robust ?? tensorRange(known) ?? planeRange(known);
}

function tensorRange({ statistics }: KnownValues): [number, number] | null {
  const numbers = statistics?.statistics;
  const [low, high] = [numbers?.minimum.value ?? null, numbers?.maximum.value ?? null];
  return low === null || high === null ? null : [low, high];
}

function robustRange({ statistics }: KnownValues): [number, number] | null {
  const bound = (percent: number) => statistics?.percentiles.find((p) => p.percent === percent);
  const [low, high] = [bound(1)?.low.value ?? null, bound(99)?.high.value ?? null];
  return low === null || high === null || low > high ? null : [low, high];
}

function planeRange({ tile }: KnownValues): [number, number] | null {
  const [low, high] = tile ? boundsOf(tile.minimum, tile.maximum) : [1, 0];
  return low <= high ? [low, high] : null;
}

/** The smallest and the largest, without NaN; [Infinity, -Infinity] of none. */
export function boundsOf(least: ArrayLike<number>, most = least): [low: number, high: number] {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < least.length; at += 1) {
    if (least[at]! < low) low = least[at]!;
    if (most[at]! > high) high = most[at]!;
  }
  return [low, high];
}
