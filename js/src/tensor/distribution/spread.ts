import type {
  Distribution,
  HistogramAnswer,
  SpreadAnswer,
} from "../../shared/client/tensor_questions.ts";
import { type AxisKind, ValueAxis } from "../../shared/drawing/value_axis.ts";
import type { Special } from "../picture/color_scale.ts";

/** Number of values in a bar: certain bounds, and the likely number between them. */
export interface CountRange {
  least: number;
  most: number;
  likely: number;
}

/** Counts values between ascending edges, the last bar closed; bins cut by an edge give bounds and a share. */
export function rebinned(distribution: Distribution, edges: ArrayLike<number>): CountRange[] {
  const { low, high, count } = distribution;
  const last = edges.length - 2;
  const bars = Array.from({ length: Math.max(0, last + 1) }, () => ({
    least: 0,
    most: 0,
    likely: 0,
  }));
  if (last < 0) return bars;
  const end = edges[last + 1]!;
  let first = 0;
  for (let bin = 0; bin < count.length; bin += 1) {
    const [from, to, values] = [low[bin]!, high[bin]!, count[bin]!];
    if (to < edges[0]! || from > end || values === 0) continue;
    while (first < last && edges[first + 1]! <= from) first += 1;
    if (from >= edges[0]! && (first === last ? to <= end : to < edges[first + 1]!)) {
      const bar = bars[first]!;
      bar.least += values;
      bar.most += values;
      bar.likely += values;
      continue;
    }
    // The smallest numbers cannot be halved, and the width of the largest bins overflows without halving.
    const unit = Number.isFinite(to - from) ? 1 : 0.5;
    for (let k = first; k <= last && edges[k]! <= to; k += 1) {
      const inside = Math.min(to, edges[k + 1]!) * unit - Math.max(from, edges[k]!) * unit;
      bars[k]!.most += values;
      bars[k]!.likely += values * (Math.max(0, inside) / (to * unit - from * unit));
    }
  }
  return bars;
}

/** The distribution without its zeros, which may share bins with tiny numbers. */
export function withoutZeros(distribution: Distribution, zeros: number): Distribution {
  const { low, high, count } = distribution;
  const holds = (bin: number) => low[bin]! <= 0 && high[bin]! >= 0;
  const first = low.findIndex((_, bin) => holds(bin));
  if (first < 0 || zeros === 0) return distribution;
  let past = first;
  let left = -zeros;
  for (; past < count.length && holds(past); past += 1) left += count[past]!;
  const kept = left > 0 ? 1 : 0;
  const joined = (column: Float64Array, value: number) => {
    const rest = new Float64Array(count.length - (past - first) + kept);
    rest.set(column.subarray(0, first));
    if (kept) rest[first] = value;
    rest.set(column.subarray(past), first + kept);
    return rest;
  };
  return {
    low: joined(low, low[first]!),
    high: joined(high, high[past - 1]!),
    count: joined(count, left),
  };
}

export interface SpreadChoice {
  kind: AxisKind;
  /** Chosen range; null for all values. */
  zoom: readonly [low: number, high: number] | null;
}

/** Finite values between two numbers: [from, to), or [from, to] for the last; or a single value. */
export interface SpreadBar extends CountRange {
  from: number;
  to: number;
  closed: boolean;
}

export type SlotName = Special | "zero" | "negative" | "positive";

/** Values without a position on the axis. */
export interface Slot {
  name: SlotName;
  count: number;
}

/** A limit of the dtype at or near the values. */
export interface Limit {
  value: number;
  /** Number of values at the limit; null if not counted. */
  count: number | null;
}

/** Bars of a tensor's finite values, and the values without a position on the axis. */
export interface Spread {
  axis: ValueAxis;
  bars: SpreadBar[];
  slots: Slot[];
  limits: Limit[];
  /** Bars are single values. */
  codes: boolean;
  whole: boolean;
  /** The zeros are in a slot of their own. */
  apart: boolean;
  /** Exact text of the only value; null if values differ. */
  only: string | null;
  dtype: string;
}

const BARS = 64;
const NARROW_BITS = 8;
const NEAR = 0.5;

/** Bits per value, if the dtype's name has them. */
function bitsOf(dtype: string): number {
  if (dtype === "bool") return 1;
  return Number(/^[a-z]+(\d+)/.exec(dtype)?.[1] ?? 64);
}

/** Bars of the distribution, else the equal bins of the statistics; null if no value is known. */
export function spreadOf(
  answer: SpreadAnswer,
  dtype: string,
  { kind, zoom }: SpreadChoice,
): Spread | null {
  const { statistics, distribution, histogram, limits } = answer;
  if (!statistics) return null;
  const { minimum, maximum, zero } = statistics;
  const [low, high] = [minimum.value, maximum.value];
  const none = {
    bars: [],
    limits: [],
    codes: false,
    whole: false,
    apart: false,
    only: null,
    dtype,
  };
  const specials = (["nan", "negInf", "posInf"] as const).map((name) => ({
    name,
    count: statistics[name],
  }));
  const there = (slots: Slot[]) => slots.filter(({ count }) => count > 0);
  if (low === null || high === null) {
    return { ...none, axis: new ValueAxis("linear", 0, 0), slots: there(specials) };
  }
  const robust = zoom && answer.robust?.low === zoom[0] && answer.robust.high === zoom[1];
  const inner = robust && kind === "linear" && answer.robust?.histogram;
  const codes = bitsOf(dtype) <= NARROW_BITS && distribution !== null;
  const log = kind === "log";
  const apart = zero > 0 && (log || dtype !== "bool");
  const known = distribution && (apart ? withoutZeros(distribution, zero) : distribution);
  const negative = statistics.negative - statistics.negInf;
  const positive = statistics.finite - zero - negative;
  const upwards = positive > 0 || negative === 0;
  const whole = /^u?int\d/.test(dtype) || dtype === "bool";
  let span = spanOf(log ? signed(known, upwards, low, high, whole) : [low, high], zoom, limits);
  const used = log && span[0] === 0 && span[1] === 0 ? "linear" : kind;
  if (whole) span = [Math.ceil(span[0]) - 0.5, Math.floor(span[1]) + 0.5];
  if (inner && !codes) span = [inner.edges[0]!, inner.edges.at(-1)!];
  const axis = new ValueAxis(used, span[0], span[1], answer.linear);
  const slots: Slot[] = [
    ...(apart ? [{ name: "zero", count: zero } as const] : []),
    ...(log && upwards ? [{ name: "negative", count: negative } as const] : []),
    ...(log && !upwards ? [{ name: "positive", count: positive } as const] : []),
    ...specials,
  ];
  const bars =
    inner && !codes && (inner.exact || !known)
      ? equalBins(inner, axis, apart ? zero : 0)
      : !known
        ? equalBins(histogram, axis, apart ? zero : 0)
        : codes
          ? codeBars(known, axis)
          : binned(
              known,
              axis,
              whole,
              used === "linear" && !zoom ? histogram : null,
              apart ? zero : 0,
            );
  return {
    axis,
    bars: whole ? bars.filter((bar) => holdsWhole(bar, apart)) : bars,
    slots: there(slots),
    limits: (limits ?? [])
      .map((value, end) => ({ value, count: end ? statistics.atHighest : statistics.atLowest }))
      .filter(({ value }) => value !== 0 && value >= axis.low && value <= axis.high),
    codes,
    whole,
    apart,
    only: minimum.text === maximum.text ? minimum.text : null,
    dtype,
  };
}

/** True if a bar may contain an integer, other than zero if that is separate. */
function holdsWhole({ from, to, closed }: SpreadBar, apart: boolean): boolean {
  const [first, last] = [Math.ceil(from), closed ? Math.floor(to) : Math.ceil(to) - 1];
  return first <= last && !(apart && first === 0 && last === 0);
}

/** Range of the values of one sign, as far as known; bins of integers may contain both. */
function signed(
  known: Distribution | null,
  upwards: boolean,
  low: number,
  high: number,
  whole: boolean,
): [number, number] {
  if (upwards) {
    const first = known?.low.findIndex((_, bin) => known.high[bin]! > 0) ?? -1;
    const least = first < 0 ? 0 : known!.low[first]!;
    return [low > 0 ? low : least > 0 ? least : whole ? Math.min(1, high) : high * 1e-9, high];
  }
  const last = known?.high.findLastIndex((_, bin) => known.low[bin]! < 0) ?? -1;
  const most = last < 0 ? 0 : known!.high[last]!;
  return [low, high < 0 ? high : most < 0 ? most : whole ? Math.max(-1, low) : low * 1e-9];
}

/** Range of the axis: the values, a near limit of the dtype, or the chosen range. */
function spanOf(
  [low, high]: readonly [number, number],
  zoom: SpreadChoice["zoom"],
  limits: readonly [number, number] | null,
): [number, number] {
  if (zoom) {
    const [from, to] = [Math.max(low, zoom[0]), Math.min(high, zoom[1])];
    return from <= to ? [from, to] : [low, high];
  }
  const near = (limit: number | undefined, value: number) =>
    limit !== undefined && limit !== 0 && value / limit >= NEAR && value / limit <= 1;
  return [near(limits?.[0], low) ? limits![0] : low, near(limits?.[1], high) ? limits![1] : high];
}

function codeBars({ low, high, count }: Distribution, axis: ValueAxis): SpreadBar[] {
  const bars: SpreadBar[] = [];
  for (let bin = 0; bin < count.length; bin += 1) {
    const [from, to, values] = [low[bin]!, high[bin]!, count[bin]!];
    if (from < axis.low || to > axis.high || values === 0) continue;
    bars.push({ from, to, closed: true, least: values, most: values, likely: values });
  }
  return bars;
}

function binned(
  known: Distribution,
  axis: ValueAxis,
  whole: boolean,
  histogram: HistogramAnswer | null,
  zeros: number,
): SpreadBar[] {
  if (!whole && histogram?.exact) {
    const { edges } = histogram;
    if (edges[0] === axis.low && edges.at(-1) === axis.high) {
      return equalBins(histogram, axis, zeros);
    }
  }
  const edges = whole ? wholeEdges(axis) : axis.edges(BARS);
  const counts = rebinned(known, edges);
  return counts.map((counted, bar) => ({
    ...counted,
    from: edges[bar]!,
    to: edges[bar + 1]!,
    closed: bar === counts.length - 1,
  }));
}

/** Borders between integers; on a linear axis with equally many per bar: else some would be higher only for that. */
function wholeEdges(axis: ValueAxis): Float64Array {
  const { low, high } = axis;
  if (axis.kind !== "linear" && !axis.single) {
    const between = Array.from(axis.edges(BARS), (edge) => Math.floor(edge) + 0.5);
    return Float64Array.from(new Set(between));
  }
  const step = Math.max(1, Math.ceil((high - low) / BARS));
  const bars = Math.max(1, Math.ceil((high - low) / step));
  return Float64Array.from({ length: bars + 1 }, (_, bar) => low + bar * step);
}

/** All edges of bins, which are sent with the first and last alone if these give the others. */
export function edgesOf({ counts, edges }: HistogramAnswer): number[] {
  const [first, last] = [edges[0]!, edges.at(-1)!];
  const step = (last - first) / counts.length;
  return edges.length > 2 ? edges : [...counts.map((_, bin) => bin * step + first), last];
}

/** The original bins, including zeros. */
function equalBins(histogram: HistogramAnswer | null, axis: ValueAxis, zeros: number): SpreadBar[] {
  if (!histogram) return [];
  const { counts, exact } = histogram;
  const edges = edgesOf(histogram);
  const last = counts.length - 1;
  const home = counts.findIndex(
    (_, bin) => edges[bin]! <= 0 && (bin === last ? edges[bin + 1]! >= 0 : edges[bin + 1]! > 0),
  );
  return counts
    .map((count, bin) => {
      const likely = bin === home ? Math.max(0, count - zeros) : count;
      const [from, to] = [edges[bin]!, edges[bin + 1]!];
      const sure = exact ? { least: likely, most: likely } : { least: 0, most: Infinity };
      return { from, to, closed: bin === last, likely, ...sure };
    })
    .filter(({ from, to }) => axis.share(from) >= -1e-9 && axis.share(to) <= 1 + 1e-9);
}
