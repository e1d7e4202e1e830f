/** The values of a tensor that is stored whole, one by one. */
import type { StringColumn } from "../shared/columns.ts";
import { type StoredData, unshuffled } from "./stored_data.ts";
import { floatText } from "./stored_text.ts";

export interface Scalars {
  value(at: number): number;
  text(at: number): string;
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
const CODES = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array } as const;

interface Wholes {
  tensor: Int32Array;
  width: Int32Array;
  at: Float64Array;
  size: Float64Array;
}

interface Kinds {
  /** A key of `NATIVE`, or the name of a table of codes. */
  kind: StringColumn;
  /** Bits of a code that shares its byte with others, else 0. */
  bits: Int32Array;
  /** Which bits of a byte are the code. */
  mask: Int32Array;
}

/** The scalars of one variant of a tensor; null where the tensor is not stored whole. */
export function scalarsOf(data: StoredData, tensor: number, variant: number): Scalars | null {
  if (!data.has("wholes")) return null;
  const wholes = data.columns<Wholes>("wholes");
  const row = wholes.tensor.indexOf(tensor);
  if (row < 0) return null;
  const width = wholes.width[row]!;
  const { buffer } = unshuffled(data.blob(wholes.at[row]!, wholes.size[row]!), width);
  const kinds = data.columns<Kinds>("kinds");
  const [kind, bits] = [kinds.kind.at(variant), kinds.bits[variant]!];
  if (kind in NATIVE && !bits) {
    return native(kind as keyof typeof NATIVE, buffer, data.head.floatLimit);
  }
  const code = bits
    ? packedCodes(new Uint8Array(buffer), bits)
    : codesOf(new (CODES[width as keyof typeof CODES] ?? Uint8Array)(buffer));
  return coded(data, kind, code, kinds.mask[variant]!);
}

function native(kind: keyof typeof NATIVE, buffer: ArrayBuffer, limit = 16): Scalars {
  const array = new NATIVE[kind](buffer);
  const float = array instanceof Float32Array || array instanceof Float64Array;
  const single = kind === "float32" ? limit : undefined;
  return {
    value: (at) => Number(array[at]),
    text: (at) => (float ? floatText(array[at] as number, single) : String(array[at])),
  };
}

function codesOf(array: Uint8Array | Uint16Array | Uint32Array): (at: number) => number {
  return (at) => array[at]!;
}

/** Codes of fewer than eight bits, low bits first. */
function packedCodes(bytes: Uint8Array, bits: number): (at: number) => number {
  return (at) => {
    const first = at * bits;
    const byte = Math.floor(first / 8);
    return ((bytes[byte]! | ((bytes[byte + 1] ?? 0) << 8)) >> (first & 7)) & ((1 << bits) - 1);
  };
}

interface Codes {
  codes: Int32Array;
  values: Float64Array;
  texts: StringColumn;
}

function coded(
  data: StoredData,
  kind: string,
  code: (at: number) => number,
  mask: number,
): Scalars {
  const { codes, values, texts } = data.columns<Codes>(`codes ${kind}`);
  const rows = new Map(Array.from(codes, (each, row) => [each, row]));
  const row = (at: number) => rows.get(code(at) & mask) ?? -1;
  return { value: (at) => values[row(at)] ?? Number.NaN, text: (at) => texts.at(row(at)) };
}
