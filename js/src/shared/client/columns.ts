/** Columns packed by `engine.py`: one header, one buffer, every column 8-byte aligned in it. */

export type Column = (typeof ARRAYS)[NumberKind]["prototype"] | StringColumn;

export type NumberKind = "u1" | "u2" | "u4" | "i4" | "f4" | "f8";

export type ColumnHeader =
  | { name: string; kind: NumberKind; offset: number; length: number }
  | {
      name: string;
      kind: "strings";
      length: number;
      unique: number;
      codes: number;
      offsets: number;
      bytes: number;
    };

/** Strings as codes into their distinct values. */
export class StringColumn {
  #unique: readonly string[] | (() => readonly string[]);

  /** The distinct values may be computed on first use. */
  constructor(
    readonly codes: Int32Array,
    unique: readonly string[] | (() => readonly string[]),
  ) {
    this.#unique = unique;
  }

  get unique(): readonly string[] {
    if (typeof this.#unique === "function") this.#unique = this.#unique();
    return this.#unique;
  }

  get length(): number {
    return this.codes.length;
  }

  at(row: number): string {
    return this.unique[this.codes[row] ?? -1] ?? "";
  }
}

export const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i4: Int32Array,
  f4: Float32Array,
  f8: Float64Array,
} as const satisfies Record<NumberKind, unknown>;

export function aligned(view: DataView): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = view;
  if (byteOffset === 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) {
    return buffer;
  }
  const copy = new ArrayBuffer(byteLength);
  new Uint8Array(copy).set(new Uint8Array(buffer, byteOffset, byteLength));
  return copy;
}

export function unpack(headers: readonly ColumnHeader[], view: DataView): Map<string, Column> {
  const buffer = aligned(view);
  return new Map(headers.map((header) => [header.name, column(header, buffer)]));
}

function column(header: ColumnHeader, buffer: ArrayBuffer): Column {
  if (header.kind === "strings") return strings(header, buffer);
  return numbers(header.kind, buffer, header.offset, header.length);
}

function numbers(kind: NumberKind, buffer: ArrayBuffer, offset: number, length: number) {
  const end = offset + length * ARRAYS[kind].BYTES_PER_ELEMENT;
  if (end > buffer.byteLength) {
    throw new RangeError(`column ends at ${end} of ${buffer.byteLength} bytes`);
  }
  return new ARRAYS[kind](buffer, offset, length);
}

function strings(header: ColumnHeader & { kind: "strings" }, buffer: ArrayBuffer): StringColumn {
  const codes = numbers("i4", buffer, header.codes, header.length) as Int32Array;
  const ends = numbers("i4", buffer, header.offsets, header.unique + 1) as Int32Array;
  const bytes = numbers("u1", buffer, header.bytes, ends[header.unique] ?? 0) as Uint8Array;
  return new StringColumn(codes, () => decoded(ends, bytes));
}

/** Texts that end at these byte offsets of a column. */
function decoded(ends: Int32Array, bytes: Uint8Array): string[] {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const all = decoder.decode(bytes);
  // For ASCII, byte offsets are letter offsets: cutting one text is faster than decoding many.
  const cut =
    all.length === bytes.length
      ? (start: number, end: number) => all.slice(start, end)
      : (start: number, end: number) => decoder.decode(bytes.subarray(start, end));
  return Array.from({ length: ends.length - 1 }, (_, row) => cut(ends[row]!, ends[row + 1]!));
}

export function fields(
  headers: readonly ColumnHeader[],
  buffers: readonly DataView[],
): Record<string, Column> {
  return Object.fromEntries(unpack(headers, buffers[0] ?? new DataView(new ArrayBuffer(0))));
}
