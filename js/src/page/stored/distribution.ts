/** All finite values in bins, and exact percentiles, as `model/statistics` has them. */

import type { ExactNumber, Percentile } from "../../shared/client/tensor_questions.ts";
import { percentileText } from "../../shared/number_text.ts";
import type { Scalars } from "./scalars.ts";

const MOST = 65_536n;

/** The columns of a distribution. */
export type Bins = {
  low: Float64Array;
  high: Float64Array;
  count: Float64Array;
  /** Whether they are bins of several integers. */
  wide: boolean;
};

/** So many values of a type. */
export interface Numbers extends Pick<Scalars, "kind" | "value" | "exact"> {
  size: number;
  whole: boolean;
}

/** The values of a tensor that is stored whole, or of the places in it that are told. */
export function numbersOf(scalars: Scalars, size: number, places?: Float64Array): Numbers {
  const at = (i: number) => places?.[i] ?? i;
  return {
    kind: scalars.kind,
    size,
    whole: /int/.test(scalars.kind),
    value: (i) => scalars.value(at(i)),
    exact: (i) => scalars.exact(at(i)),
  };
}

/** The finite values, or those of a range; null where there is none. */
export function binsOf(
  numbers: Numbers,
  [from, past]: readonly number[] = [-Infinity, Infinity],
): Bins | null {
  const inside = Array.from({ length: numbers.size }, (_, at) => at).filter((at) => {
    const value = numbers.value(at);
    return Number.isFinite(value) && value >= from! && value <= past!;
  });
  if (!inside.length) return null;
  const shift = /^u?int(32|64)$/.test(numbers.kind) ? shiftOf(numbers, inside) : 0n;
  const bounds = binOf(numbers, shift);
  const bins = new Map<number, { low: number; high: number; count: number }>();
  let [least, largest] = [Infinity, -Infinity];
  for (const at of inside) {
    const value = numbers.value(at);
    least = Math.min(least, value);
    largest = Math.max(largest, value);
    const [low, high] = bounds(at, value);
    const known = bins.get(low);
    if (known) known.count += 1;
    else bins.set(low, { low, high, count: 1 });
  }
  const found = [...bins.values()].sort((a, b) => a.low - b.low);
  found[0]!.low = least;
  found.at(-1)!.high = largest;
  return columnsOf(found, shift > 0n);
}

type Bin = { low: number; high: number; count: number };

function columnsOf(found: readonly Bin[], wide: boolean): Bins {
  const column = (name: keyof Bin) => Float64Array.from(found, (bin) => bin[name]);
  return { low: column("low"), high: column("high"), count: column("count"), wide };
}

/** The bins with those of a range in place of what they hold of it. */
export function joined(
  found: Bins,
  near: Bins,
  numbers: Numbers,
  [from, past]: readonly [number, number, ...unknown[]],
): Bins {
  const [before, cut, after]: [Bin[], Bin[], Bin[]] = [[], [], []];
  found.count.forEach((count, bin) => {
    const [low, high] = [found.low[bin]!, found.high[bin]!];
    (high < from ? before : low > past ? after : cut).push({ low, high, count });
  });
  const held = (bins: readonly Bin[]) => bins.reduce((total, { count }) => total + count, 0);
  let under = -held(before);
  for (let at = 0; at < numbers.size; at += 1) under += Number(numbers.value(at) < from);
  const over = held(cut) - under - near.count.reduce((a, b) => a + b, 0);
  const rest = [
    ...before,
    ...(under ? [{ low: cut[0]!.low, high: from - 1, count: under }] : []),
    ...Array.from(near.count, (count, bin) => {
      return { low: near.low[bin]!, high: near.high[bin]!, count };
    }),
    ...(over ? [{ low: past + 1, high: cut.at(-1)!.high, count: over }] : []),
    ...after,
  ];
  return rest.length > Number(MOST) ? found : columnsOf(rest, found.wide);
}

type BinOf = (at: number, value: number) => readonly [low: number, high: number];

function binOf(numbers: Numbers, shift: bigint): BinOf {
  if (numbers.kind === "float32") return prefixes(4);
  if (numbers.kind === "float64") return prefixes(8);
  if (!shift) return (_, value) => [value, value];
  return (at) => {
    const low = (BigInt(numbers.exact(at)) >> shift) << shift;
    return [Number(low), Number(low + (1n << shift) - 1n)];
  };
}

/** Floats that share sign and upper 16 bits lie together; zero has a bin of its own. */
function prefixes(width: 4 | 8): BinOf {
  const view = new DataView(new ArrayBuffer(8));
  const ends = (rest: number) => {
    for (let byte = 2; byte < width; byte++) view.setUint8(byte, rest);
    return width === 4 ? view.getFloat32(0) : view.getFloat64(0);
  };
  return (_, value) => {
    if (value === 0) return [0, 0];
    if (width === 4) view.setFloat32(0, value);
    else view.setFloat64(0, value);
    const prefix = view.getUint16(0);
    let near = ends(0);
    view.setUint16(0, prefix);
    if (near === 0) {
      view.setUint8(width - 1, 1);
      near = width === 4 ? view.getFloat32(0) : view.getFloat64(0);
    }
    const far = ends(255);
    return value < 0 ? [far, near] : [near, far];
  };
}

/** Integers lie in bins of the least power of two of which so many are enough. */
function shiftOf(numbers: Numbers, inside: readonly number[]): bigint {
  let [least, largest]: [number | bigint, number | bigint] = [Infinity, -Infinity];
  for (const at of inside) {
    const each = numbers.exact(at);
    if (each < least) least = each;
    if (each > largest) largest = each;
  }
  let shift = 0n;
  while ((BigInt(largest) >> shift) - (BigInt(least) >> shift) >= MOST) shift += 1n;
  return shift;
}

/** Percentiles of the finite ones of so many values, as `numpy.percentile` makes them. */
export function exactPercentiles(
  scalars: Scalars,
  size: number,
  percents: readonly number[],
  dtype: string,
): Percentile[] {
  const sorted: (number | bigint)[] = [];
  for (let at = 0; at < size; at++) {
    if (Number.isFinite(scalars.value(at))) sorted.push(scalars.exact(at));
  }
  sorted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return percents.map((percent) => {
    if (!sorted.length) return unknownPercentile(percent);
    const place = (sorted.length - 1) * (percent / 100);
    const rank = Math.floor(place);
    const next = Math.min(rank + 1, sorted.length - 1);
    const value = between(sorted[rank]!, sorted[next]!, place - rank);
    const number: ExactNumber = { text: percentileText(value, dtype), value };
    return { percent, low: number, high: number };
  });
}

/** Of values none of which is finite, or of a type without an order. */
export function unknownPercentile(percent: number): Percentile {
  const none: ExactNumber = { text: "none", value: null };
  return { percent, low: none, high: none };
}

function between(value: number | bigint, next: number | bigint, part: number): number {
  const [low, high] = [Number(value), Number(next)];
  if (value === next || part === 0) return low;
  const distance =
    typeof value === "bigint" && typeof next === "bigint" ? Number(next - value) : high - low;
  if (!Number.isFinite(distance)) return low * (1 - part) + high * part;
  return part < 0.5 ? low + distance * part : high - distance * (1 - part);
}
