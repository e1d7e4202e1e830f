/** The binary that `export/page/stored_pack.py` writes: tables of columns, and blobs. */
import { type Column, type ColumnHeader, unpack } from "../../shared/client/columns.ts";
import type { Columns, WIRE } from "../../shared/client/wire.ts";

const MAGIC = "TVMDBGP1";
const WIDTH = { u1: 1, u2: 2, u4: 4, i4: 4, f4: 4, f8: 8 } as const;

interface Head {
  version: number;
  share: string;
  answers: Record<string, unknown>;
  devices?: Record<string, string>;
  tables: Record<string, { columns: ColumnHeader[]; at: number; size: number }>;
}

/** A table as it was packed, and its columns. */
export interface Table {
  headers: ColumnHeader[];
  buffer: ArrayBuffer;
  columns: Map<string, Column>;
}

export class StoredData {
  readonly head: Head;
  readonly #body: Uint8Array;
  readonly #tables = new Map<string, Table>();

  /** Throws where this is no such binary, or of another version. */
  constructor(data: ArrayBuffer) {
    const bytes = new Uint8Array(data);
    const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
    if (bytes.length < 16 || text(0, 8) !== MAGIC)
      throw new Error("the data of this page is damaged");
    const start = 16 + new DataView(data).getUint32(8, true);
    if (start > bytes.length) throw new Error("the data of this page is truncated");
    this.head = JSON.parse(text(16, start)) as Head;
    if (this.head?.version !== 1)
      throw new Error(`the data of this page has version ${this.head?.version}`);
    this.#body = bytes.subarray(start);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.head.tables, name);
  }

  /** A table by its name, unpacked when it is first asked for. */
  table(name: string): Table {
    const known = this.#tables.get(name);
    if (known) return known;
    if (!this.has(name)) throw new Error(`the data of this page has no ${name}`);
    const { columns: headers, at, size } = this.head.tables[name]!;
    const bytes = this.blob(at, size).slice();
    for (const [kind, offset, length] of regions(headers)) restore(bytes, kind, offset, length);
    const columns = unpack(headers, new DataView(bytes.buffer));
    const table = { headers, buffer: bytes.buffer, columns };
    this.#tables.set(name, table);
    return table;
  }

  /** Columns of a table by their names; Python saw that they are those of `WIRE`. */
  columns<Answer extends keyof typeof WIRE>(name: string): Columns<Answer> {
    return Object.fromEntries(this.table(name).columns) as Columns<Answer>;
  }

  blob(at: number, size: number): Uint8Array {
    if (!(at >= 0 && size >= 0 && at + size <= this.#body.length)) {
      throw new Error("the data of this page is truncated");
    }
    return this.#body.subarray(at, at + size);
  }
}

/** First bytes of all items, then the second ones, …, back in their order. */
export function unshuffled(bytes: Uint8Array, width: number): Uint8Array<ArrayBuffer> {
  const count = Math.floor(bytes.length / width);
  const out = new Uint8Array(count * width);
  for (let byte = 0, from = 0; byte < width; byte++) {
    for (let to = byte; to < out.length; to += width) out[to] = bytes[from++]!;
  }
  return out;
}

/** The shuffled floats of a blob. */
export function floats(bytes: Uint8Array, wide: boolean): Float32Array | Float64Array {
  const { buffer } = unshuffled(bytes, wide ? 8 : 4);
  return wide ? new Float64Array(buffer) : new Float32Array(buffer);
}

function restore(bytes: Uint8Array, kind: keyof typeof WIDTH, offset: number, length: number) {
  const part = unshuffled(bytes.subarray(offset, offset + length * WIDTH[kind]), WIDTH[kind]);
  if (kind === "i4") {
    const values = new Int32Array(part.buffer);
    for (let i = 1; i < values.length; i++) values[i] = values[i]! + values[i - 1]!;
  }
  bytes.set(part, offset);
}

function regions(headers: readonly ColumnHeader[]) {
  return headers.flatMap((header): [keyof typeof WIDTH, number, number][] =>
    header.kind === "strings"
      ? [
          ["i4", header.codes, header.length],
          ["i4", header.offsets, header.unique + 1],
        ]
      : header.kind === "u1"
        ? []
        : [[header.kind, header.offset, header.length]],
  );
}
