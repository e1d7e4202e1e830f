/** Values of a completely stored tensor, their bins and exact percentiles, as in `model/statistics`. */

import type { ExactNumber, Percentile } from "../shared/client/tensor_questions.ts";
import type { Columns } from "../shared/client/wire.ts";
import { numberText, percentileText } from "../shared/number_text.ts";
import { type StoredData, unshuffled } from "./stored_data.ts";

export interface Scalars {
  /** numpy's name of the type; a longer one for types that JavaScript lacks. */
  kind: string;
  /** True for float64 values. */
  wide: boolean;
  value(at: number): number;
  /** The value, without rounding of long integers. */
  exact(at: number): number | bigint;
  text(at: number): string;
  hex(at: number): string;
  binary(at: number): string;
  /** The step to the next number of a float type; NaN if there is none. */
  spacing(at: number): number;
  /** Widths of sign, exponent and mantissa; empty for other types than floats. */
  fields: number[];
  /** numpy's name of the type in files, the bytes of one item, and a note. */
  descr: string;
  itemsize: number;
  note: string;
  write(to: DataView, offset: number, at: number): void;
}

const NATIVE = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;
const CODES = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array } as const;

/** The scalars of one variant of a tensor; null unless it is stored completely. */
export function scalarsOf(data: StoredData, variant: number): Scalars | null {
  if (!data.has("wholes")) return null;
  const wholes = data.columns<"page wholes">("wholes");
  const row = wholes.variant.indexOf(variant);
  if (row < 0) return null;
  const { code, ...numbers } = wholeNumbersOf(data, wholes, row);
  const [bits, sign] = [wholes.bits[row]!, wholes.sign[row]!];
  const mantissa = wholes.mantissa[row]!;
  const descr = wholes.descr.at(row);
  const itemsize = Number(/\d+$/.exec(descr));
  const least = wholes.least[row]!;
  const copied = wholes.copied[row] === 1;
  return {
    ...numbers,
    kind: wholes.kind.at(row),
    wide: wholes.kind.at(row) === "float64",
    hex: (at) =>
      `0x${code(at)
        .toString(16)
        .toUpperCase()
        .padStart(Math.ceil(bits / 4), "0")}`,
    binary: (at) => code(at).toString(2).padStart(bits, "0"),
    spacing: (at) => {
      const size = Math.abs(numbers.value(at));
      if (sign < 0 || !Number.isFinite(size)) return Number.NaN;
      return 2 ** (Math.max(size === 0 ? least : exponentOf(size), least) - 1 - mantissa);
    },
    fields: sign < 0 ? [] : [sign, bits - sign - mantissa, mantissa],
    descr,
    itemsize,
    note: wholes.note.at(row),
    write: (to, offset, at) => {
      if (!copied) {
        if (itemsize === 4) to.setFloat32(offset, numbers.value(at), true);
        else to.setInt8(offset, numbers.value(at));
        return;
      }
      let rest = BigInt(code(at));
      for (let byte = 0; byte < itemsize; byte++, rest >>= 8n) {
        to.setUint8(offset + byte, Number(rest & 255n));
      }
    },
  };
}

/** The exponent of a positive number whose mantissa is 0.5 to 1, as in `frexp`. */
function exponentOf(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const exponent = view.getUint16(0) >> 4;
  return exponent ? exponent - 1022 : exponentOf(value * 2 ** 60) - 60;
}

/** Scalars of complex numbers with the bits of both parts; of the numbers themselves only texts are stored. */
export function complexScalars(made: Scalars, real: Scalars, imag: Scalars): Scalars {
  const base = {
    ...made,
    fields: [],
    hex: (at: number) => `${real.hex(at)} ${imag.hex(at)}`,
    binary: (at: number) => real.binary(at) + imag.binary(at),
  };
  if (!made.descr.includes("c")) return base;
  return {
    ...base,
    write: (to, offset, at) => {
      real.write(to, offset, at);
      imag.write(to, offset + real.itemsize, at);
    },
  };
}

/** Bits are a number if they fit into one. */
interface ScalarCodes extends Pick<Scalars, "value" | "exact" | "text"> {
  code(at: number): number | bigint;
}

function wholeNumbersOf(
  data: StoredData,
  wholes: Columns<"page wholes">,
  row: number,
): ScalarCodes {
  const width = wholes.width[row]!;
  const { buffer } = unshuffled(data.blob(wholes.at[row]!, wholes.size[row]!), width);
  const [kind, packed] = [wholes.kind.at(row), wholes.packed[row]!];
  if (packed) return coded(data, kind, packedCodes(new Uint8Array(buffer), packed));
  const codes = new (CODES[width as keyof typeof CODES] ?? Uint8Array)(buffer);
  if (kind in NATIVE) {
    return { ...nativeOf(kind as keyof typeof NATIVE, buffer), code: (at) => codes[at]! };
  }
  const mask = wholes.mask[row]!;
  return coded(data, kind, (at) => Number(codes[at]) & mask);
}

function nativeOf(kind: keyof typeof NATIVE, buffer: ArrayBuffer) {
  const array = new NATIVE[kind](buffer);
  const float = array instanceof Float32Array || array instanceof Float64Array;
  return {
    value: (at: number) => Number(array[at]),
    exact: (at: number) => array[at]!,
    text: (at: number) => (float ? numberText(array[at] as number, kind) : String(array[at])),
  };
}

/** Codes of fewer than eight bits, low bits first. */
function packedCodes(bytes: Uint8Array, bits: number): (at: number) => number {
  return (at) => {
    const first = at * bits;
    const byte = Math.floor(first / 8);
    return ((bytes[byte]! | ((bytes[byte + 1] ?? 0) << 8)) >> (first & 7)) & ((1 << bits) - 1);
  };
}

function coded(data: StoredData, kind: string, code: (at: number) => number): ScalarCodes {
  const { codes, values, texts } = data.columns<"page codes">(`codes ${kind}`);
  const rows = new Map(Array.from(codes, (code, row) => [code, row]));
  const row = (at: number) => rows.get(code(at)) ?? -1;
  const value = (at: number) => values[row(at)] ?? Number.NaN;
  return { code, value, exact: value, text: (at) => texts.at(row(at)) };
}

const MOST = 65_536n;

/** The columns of a distribution. */
export type ValueBins = {
  low: Float64Array;
  high: Float64Array;
  count: Float64Array;
  /** True for bins of several integers. */
  wide: boolean;
};

/** Values of a type, with their number. */
export interface StoredNumbers extends Pick<Scalars, "kind" | "value" | "exact"> {
  size: number;
  whole: boolean;
}

/** The values of a completely stored tensor, or those at given positions. */
export function numbersOf(scalars: Scalars, size: number, places?: Float64Array): StoredNumbers {
  const at = (i: number) => places?.[i] ?? i;
  return {
    kind: scalars.kind,
    size,
    whole: /int/.test(scalars.kind),
    value: (i) => scalars.value(at(i)),
    exact: (i) => scalars.exact(at(i)),
  };
}

/** The finite values in bins, or those of a range; null without any. */
export function binsOf(
  numbers: StoredNumbers,
  [from, past]: readonly number[] = [-Infinity, Infinity],
): ValueBins | null {
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
  const sorted = [...bins.values()].sort((a, b) => a.low - b.low);
  sorted[0]!.low = least;
  sorted.at(-1)!.high = largest;
  return columnsOf(sorted, shift > 0n);
}

type Bin = { low: number; high: number; count: number };

function columnsOf(bins: readonly Bin[], wide: boolean): ValueBins {
  const column = (name: keyof Bin) => Float64Array.from(bins, (bin) => bin[name]);
  return { low: column("low"), high: column("high"), count: column("count"), wide };
}

/** The bins, with those of a range in place of their part in it. */
export function joined(
  bins: ValueBins,
  near: ValueBins,
  numbers: StoredNumbers,
  [from, past]: readonly [number, number, ...unknown[]],
): ValueBins {
  const [before, cut, after]: [Bin[], Bin[], Bin[]] = [[], [], []];
  bins.count.forEach((count, bin) => {
    const [low, high] = [bins.low[bin]!, bins.high[bin]!];
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
  return rest.length > Number(MOST) ? bins : columnsOf(rest, bins.wide);
}

type BinOf = (at: number, value: number) => readonly [low: number, high: number];

function binOf(numbers: StoredNumbers, shift: bigint): BinOf {
  if (numbers.kind === "float32") return prefixes(4);
  if (numbers.kind === "float64") return prefixes(8);
  if (!shift) return (_, value) => [value, value];
  return (at) => {
    const low = (BigInt(numbers.exact(at)) >> shift) << shift;
    return [Number(low), Number(low + (1n << shift) - 1n)];
  };
}

/** Bins of floats with the same sign and upper 16 bits; zero has its own. */
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

/** Bins of integers: the least power of two that is wide enough. */
function shiftOf(numbers: StoredNumbers, inside: readonly number[]): bigint {
  let [least, largest]: [number | bigint, number | bigint] = [Infinity, -Infinity];
  for (const at of inside) {
    const exact = numbers.exact(at);
    if (exact < least) least = exact;
    if (exact > largest) largest = exact;
  }
  let shift = 0n;
  while ((BigInt(largest) >> shift) - (BigInt(least) >> shift) >= MOST) shift += 1n;
  return shift;
}

/** Percentiles of the finite values, as in `numpy.percentile`. */
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
    const value = between(Number(sorted[rank]), Number(sorted[next]), place - rank);
    const number: ExactNumber = { text: percentileText(value, dtype), value };
    return { percent, low: number, high: number };
  });
}

/** Percentile without finite values, or of a type without an order. */
export function unknownPercentile(percent: number): Percentile {
  const none: ExactNumber = { text: "none", value: null };
  return { percent, low: none, high: none };
}

function between(low: number, high: number, part: number): number {
  if (low === high || part === 0) return low;
  const distance = high - low;
  if (!Number.isFinite(distance)) return low * (1 - part) + high * part;
  return part < 0.5 ? low + distance * part : high - distance * (1 - part);
}
