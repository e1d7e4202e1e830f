/** numpy's file format, version 1.0: a magic number, a header of text padded to 64 bytes, the items. */

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0];
const ALIGN = 64;

/** What comes before the items of an array in C order; `descr` is numpy's name of their type. */
export function npyHeader(descr: string, shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const before = MAGIC.length + 2;
  const padded = Math.ceil((before + text.length + 1) / ALIGN) * ALIGN - before;
  const bytes = new Uint8Array(before + padded);
  bytes.set(MAGIC);
  new DataView(bytes.buffer).setUint16(MAGIC.length, padded, true);
  bytes.set(new TextEncoder().encode(`${text.padEnd(padded - 1)}\n`), before);
  return bytes;
}

/** Bytes of one item of a type. */
export function itemSize(descr: string): number {
  return Number(/\d+$/.exec(descr)?.[0] ?? 1);
}

/** The items of real numbers as float64; null for types that are none. */
export function numbersOf(descr: string, bytes: DataView): Float64Array<ArrayBuffer> | null {
  const read = READERS[descr.slice(1)];
  if (!read) return null;
  const size = itemSize(descr);
  return Float64Array.from({ length: Math.floor(bytes.byteLength / size) }, (_, k) =>
    read(bytes, k * size),
  );
}

const READERS: Record<string, (bytes: DataView, at: number) => number> = {
  b1: (bytes, at) => bytes.getUint8(at),
  i1: (bytes, at) => bytes.getInt8(at),
  u1: (bytes, at) => bytes.getUint8(at),
  i2: (bytes, at) => bytes.getInt16(at, true),
  u2: (bytes, at) => bytes.getUint16(at, true),
  i4: (bytes, at) => bytes.getInt32(at, true),
  u4: (bytes, at) => bytes.getUint32(at, true),
  i8: (bytes, at) => Number(bytes.getBigInt64(at, true)),
  u8: (bytes, at) => Number(bytes.getBigUint64(at, true)),
  f2: (bytes, at) => half(bytes.getUint16(at, true)),
  f4: (bytes, at) => bytes.getFloat32(at, true),
  f8: (bytes, at) => bytes.getFloat64(at, true),
};

function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, mantissa] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return mantissa ? Number.NaN : sign * Infinity;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1024 + mantissa) * 2 ** (exponent - 25);
}
