import type { Client } from "../../shared/client/client.ts";
import type { PlaneView } from "../../shared/client/tensor_questions.ts";
import { append } from "../../shared/many.ts";
import type { Region, ValueLook } from "../state.ts";

/** numpy's file format, version 1.0: a magic number, a text header padded to 64 bytes, the items. */

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0];
const ALIGN = 64;

/** Head of a file with an array in C order; `descr` is numpy's name of the item type. */
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

/** Bytes per item of a type. */
export function itemSize(descr: string): number {
  return Number(/\d+$/.exec(descr)?.[0] ?? 1);
}

/** Real numbers as float64; null for other types. */
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

/** Rows as comma-separated values, one line per row; texts with a comma or a quote are quoted. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Values of a window of a plane as they are stored. */
export interface FetchedValues {
  descr: string;
  note: string;
  bytes: Uint8Array<ArrayBuffer>;
}

type FetchProgress = (done: number, total: number) => void;

const TEXTS = 4096;
const TEXT_COLS = 256;

export async function fetchBytes(
  run: Pick<Client, "ask">,
  view: PlaneView,
  [row, col, rows, cols]: Region,
  progress: FetchProgress,
  signal: AbortSignal,
): Promise<FetchedValues> {
  const [end, right] = [row + rows, col + cols];
  let [at, start, from] = [row, 0, 0];
  let bytes = new Uint8Array(0);
  let [descr, note] = ["|u1", ""];
  while (at < end) {
    const answer = await run.ask("data", { ...view, row: at, rows: end - at, col: from }, signal);
    ({ descr, note } = answer);
    const size = itemSize(descr);
    if (at === row && bytes.length === 0) bytes = new Uint8Array(rows * cols * size);
    const past = answer.col + answer.cols;
    const whole = answer.rows > 1 || past >= right;
    if (answer.row !== at || answer.rows < 1 || answer.col !== from || answer.cols < 1) {
      throw new Error("received other values than requested");
    }
    const [first, last] = [Math.max(col, answer.col), Math.min(right, past)];
    const { buffer, byteOffset } = answer.bytes;
    for (let k = 0; k < Math.min(answer.rows, end - at) && last > first; k += 1) {
      const place = byteOffset + (k * answer.cols + first - answer.col) * size;
      const items = new Uint8Array(buffer, place, (last - first) * size);
      bytes.set(items, ((at - row + k) * cols + first - col) * size);
    }
    if (past <= col) start = col;
    at += whole ? answer.rows : 0;
    from = whole ? start : Math.max(past, start);
    progress(Math.min(rows, at - row) * cols, rows * cols);
  }
  return { descr, note, bytes };
}

export async function fetchTexts(
  run: Pick<Client, "ask">,
  view: PlaneView,
  look: ValueLook,
  [row, col, rows, cols]: Region,
  progress: FetchProgress,
  signal: AbortSignal,
): Promise<string[][]> {
  const lines: string[][] = Array.from({ length: rows }, () => []);
  const wide = Math.min(cols, TEXT_COLS);
  const high = Math.max(1, Math.floor(TEXTS / wide));
  let done = 0;
  for (let top = 0; top < rows; top += high) {
    for (let left = 0; left < cols; left += wide) {
      const [down, across] = [Math.min(high, rows - top), Math.min(wide, cols - left)];
      const question = {
        ...view,
        ...look,
        row: row + top,
        col: col + left,
        rows: down,
        cols: across,
      };
      const { text } = await run.ask("values", question, signal);
      if (text.length !== down * across) throw new Error("received other values than requested");
      for (let k = 0; k < down; k += 1) {
        append(lines[top + k]!, text.slice(k * across, (k + 1) * across));
      }
      done += text.length;
      progress(done, rows * cols);
    }
  }
  return lines;
}
