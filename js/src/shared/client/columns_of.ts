import { type ColumnHeader, fields } from "./columns.ts";
import type { Columns, WIRE } from "./wire.ts";

/** The columns of an answer; Python saw that they are those of `WIRE`. */
export function columnsOf<Answer extends keyof typeof WIRE>(
  headers: readonly ColumnHeader[],
  buffers: readonly DataView[],
): Columns<Answer> {
  return fields(headers, buffers) as Columns<Answer>;
}
