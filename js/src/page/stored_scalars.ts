/** Values of a completely stored tensor. */

import { numberText } from "../shared/number_text.ts";
import { type StoredData, type StoredReply, unshuffled } from "./stored_data.ts";

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
  /** The bytes of a value in files. */
  item(at: number): Uint8Array;
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

/** How a variant reads its stored bytes, as `export/page/facts.py` records it. */
interface StoredForm extends Pick<Scalars, "fields" | "descr" | "note"> {
  width: number;
  /** A JavaScript array type, or the name of a table of codes. */
  kind: string;
  /** Bits of a value that shares bytes with others; else 0. */
  packed: number;
  /** Mask of the value's bits. */
  mask: number;
  bits: number;
  /** `frexp`'s exponent of the smallest normal number. */
  least: number;
  /** True if the file's bytes are the tensor's. */
  copied: boolean;
}

/** The scalars of one variant of a tensor; null unless it is stored completely. */
export function scalarsOf(data: StoredData, variant: number): Scalars | null {
  const found = data.recorded({ kind: "whole", variant });
  if (!found) return null;
  const { bits, fields, least, descr, note, copied, kind, width } = found.result as StoredForm;
  const { bytes, code, value, text } = codesOf(data, found);
  const itemsize = Number(/\d+$/.exec(descr));
  const digits = Math.ceil(bits / 4);
  return {
    ...{ value, text, fields, descr, itemsize, note },
    wide: kind === "float64",
    hex: (at) => `0x${code(at).toString(16).toUpperCase().padStart(digits, "0")}`,
    binary: (at) => code(at).toString(2).padStart(bits, "0"),
    spacing: (at) => {
      const size = Math.abs(value(at));
      if (!fields.length || !Number.isFinite(size)) return Number.NaN;
      return 2 ** (Math.max(size === 0 ? least : exponentOf(size), least) - 1 - fields[2]!);
    },
    item: copied
      ? (at) => bytes.subarray(at * width, (at + 1) * width)
      : (at) => new Uint8Array((itemsize === 4 ? Float32Array : Int8Array).of(value(at)).buffer),
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
  return {
    ...made,
    fields: [],
    hex: (at) => `${real.hex(at)} ${imag.hex(at)}`,
    binary: (at) => real.binary(at) + imag.binary(at),
    item: made.descr.includes("c")
      ? (at) => new Uint8Array([...real.item(at), ...imag.item(at)])
      : made.item,
  };
}

interface ScalarCodes extends Pick<Scalars, "value" | "text"> {
  bytes: Uint8Array;
  /** Bits; a number if they fit into one. */
  code(at: number): number | bigint;
}

function codesOf(data: StoredData, { result, buffers }: StoredReply): ScalarCodes {
  const { width, kind, packed, mask } = result as StoredForm;
  const bytes = unshuffled(new Uint8Array(buffers[0]!.buffer as ArrayBuffer), width);
  const codes = new (CODES[width as keyof typeof CODES] ?? Uint8Array)(bytes.buffer);
  if (kind in NATIVE) {
    const array = new NATIVE[kind as keyof typeof NATIVE](bytes.buffer);
    const float = array instanceof Float32Array || array instanceof Float64Array;
    return {
      bytes,
      code: (at) => codes[at]!,
      value: (at) => Number(array[at]),
      text: (at) => (float ? numberText(array[at] as number, kind) : String(array[at])),
    };
  }
  const code = packed ? packedCodes(bytes, packed) : (at: number) => Number(codes[at]) & mask;
  const table = data.columns<"page codes">({ kind: "codes", of: kind });
  if (!table) throw new Error(`the data of this page has no codes of ${kind}`);
  const rows = new Map(Array.from(table.codes, (code, row) => [code, row]));
  const row = (at: number) => rows.get(code(at)) ?? -1;
  return {
    bytes,
    code,
    value: (at) => table.values[row(at)] ?? Number.NaN,
    text: (at) => table.texts.at(row(at)),
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
