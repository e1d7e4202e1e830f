import type { ColumnHeader } from "../shared/client/columns.ts";
import { columnsOf } from "../shared/client/columns_of.ts";
import type { Columns, WIRE } from "../shared/client/wire.ts";

/** Columns as `tvmdbg_widgets/engine/columns.py` packs them, their buffer in base64. */
export interface Packed {
  columns?: ColumnHeader[];
  base64: string;
}

export function unpacked<Answer extends keyof typeof WIRE>({
  columns = [],
  base64,
}: Packed): Columns<Answer> {
  return columnsOf<Answer>(columns, [new DataView(buffer(base64))]);
}

function buffer(base64: string): ArrayBuffer {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  const bytes = fromBase64
    ? fromBase64.call(Uint8Array, base64)
    : Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return bytes.buffer as ArrayBuffer;
}
