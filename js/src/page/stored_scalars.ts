/** Values of a completely stored tensor. */

import type { Columns } from "../shared/client/wire.ts";
import { numberText } from "../shared/number_text.ts";
import { type StoredData, unshuffled } from "./stored_data.ts";

export interface Scalars {
  /** True for float64 values. */
  wide: boolean;
  value(at: number): number;
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
interface ScalarCodes extends Pick<Scalars, "value" | "text"> {
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
  return { code, value, text: (at) => texts.at(row(at)) };
}
