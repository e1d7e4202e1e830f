import { counted } from "../shared/format.ts";
/** Bytes and their fields, as `figures/engine.py` describes them. */
export interface ByteMapData {
  title: string;
  text: string;
  rows: readonly FieldRow[];
  rowsLeftOut: number;
  /** Bytes of a line. */
  perLine: number;
  lines: readonly HexLine[];
  /** Bytes after the last line. */
  rest: number;
  /** Bytes that the fields should have and that are not there. */
  missing: number;
}

export interface FieldRow {
  depth: number;
  name: string;
  offset: number;
  size: number;
  kind: "group" | "number" | "pointer" | "text" | "data" | "padding" | "unknown";
  value: string;
  /** What is wrong or odd about it. */
  note: string;
  hex: string;
}

export interface HexLine {
  offset: number;
  size: number;
  /** Bytes that are not shown before the line. */
  left_out: number;
}

/** Bytes of a line that belong to one field. */
export interface Run {
  /** Row of the field; -1 for none. */
  row: number;
  first: number;
  end: number;
}

/** The runs of a line, whose bytes begin at `start` of `owners`. */
export function runsOf(owners: Int32Array, start: number, size: number): Run[] {
  const found: Run[] = [];
  for (let at = 0; at < size; at++) {
    const row = owners[start + at]!;
    const last = found.at(-1);
    if (last?.row === row) last.end = at + 1;
    else found.push({ row, first: at, end: at + 1 });
  }
  return found;
}

/** What is said of a field where the pointer rests. */
export function fieldWords({ name, offset, size, value, note, hex }: FieldRow): string {
  const lines = [`${name}: ${size === 1 ? "byte" : counted(size, "byte")} at ${offset}`];
  if (value) lines.push(value);
  if (hex) lines.push(hex);
  if (note) lines.push(`! ${note}`);
  return lines.join("\n");
}
