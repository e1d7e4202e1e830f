/** All finite values in bins, and exact percentiles, as `model/statistics` has them. */

import { percentileText } from "../shared/number_text.ts";
import type { ExactNumber, Percentile } from "../shared/tensor_questions.ts";
import type { Scalars } from "./stored_scalars.ts";

const MOST = 65_536n;

/** The columns of a distribution. */
type Bins = {
  low: Float64Array;
  high: Float64Array;
  count: Float64Array;
};

/** The finite ones of so many values; null where there is none. */
export function distributionOf(scalars: Scalars, size: number): Bins | null {
  const bounds = binOf(scalars, size);
  const bins = new Map<number, { low: number; high: number; count: number }>();
  let [least, largest] = [Infinity, -Infinity];
  for (let at = 0; at < size; at++) {
    const value = scalars.value(at);
    if (!Number.isFinite(value)) continue;
    least = Math.min(least, value);
    largest = Math.max(largest, value);
    const [low, high] = bounds(at, value);
    const known = bins.get(low);
    if (known) known.count += 1;
    else bins.set(low, { low, high, count: 1 });
  }
  if (!bins.size) return null;
  const found = [...bins.values()].sort((a, b) => a.low - b.low);
  found[0]!.low = least;
  found.at(-1)!.high = largest;
  const column = (name: "low" | "high" | "count") => Float64Array.from(found, (bin) => bin[name]);
  return { low: column("low"), high: column("high"), count: column("count") };
}

type BinOf = (at: number, value: number) => readonly [low: number, high: number];

function binOf(scalars: Scalars, size: number): BinOf {
  if (scalars.kind === "float32") return prefixes(4);
  if (scalars.kind === "float64") return prefixes(8);
  if (/^u?int(32|64)$/.test(scalars.kind)) return powers(scalars, size);
  return (_, value) => [value, value];
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
function powers(scalars: Scalars, size: number): BinOf {
  const value = (at: number) => BigInt(scalars.exact(at));
  let [least, largest] = [value(0), value(0)];
  for (let at = 1; at < size; at++) {
    const each = value(at);
    if (each < least) least = each;
    else if (each > largest) largest = each;
  }
  let shift = 0n;
  while ((largest >> shift) - (least >> shift) >= MOST) shift += 1n;
  return (at) => {
    const low = (value(at) >> shift) << shift;
    return [Number(low), Number(low + (1n << shift) - 1n)];
  };
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
