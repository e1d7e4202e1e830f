/** The views' own code where there is no DOM: `tvmdbg_widgets/engine/host.py` calls what is exported. */
import "./text_decoder.ts";
import { nodeColors } from "../graph/figure/node_colors.ts";
import type { GraphRequest } from "../graph/figure/request.ts";
import {
  ARRAYS,
  type Column,
  type ColumnHeader,
  fields,
  StringColumn,
} from "../shared/client/columns.ts";
import type { FigureMaker, FigureRequest, ThemeName } from "../shared/drawing/figure.ts";
import { TextWidths, type WidthTables } from "../shared/drawing/text_widths.ts";
import { figures } from "./figures.ts";

export { readQuery, searchTexts } from "./query.ts";

type Packed = { kind: keyof typeof ARRAYS; base64: string } | { unique: string[]; codes: string };

/** An answer of a run with columns, its buffer in base64. */
interface PackedAnswer {
  columns?: ColumnHeader[];
  base64: string;
}

interface Request {
  data: unknown;
  columns: Record<string, Packed>;
  answers: Record<string, PackedAnswer | null>;
  options: unknown;
  width: number;
  theme: ThemeName;
  widths: WidthTables;
}

/** Draws one figure, for `figures/engine.py`; `request` and the answer are JSON. */
export function draw(view: string, request: string): string {
  if (!Object.hasOwn(figures, view)) throw new Error(`no view ${view} draws figures`);
  return drawn(view, figures[view]!, request);
}

/** What the colors of a graph show of each node, for `export/node_colors.py`. */
export function colorsOfNodes(request: string): string {
  return JSON.stringify(nodeColors(opened("graph", request) as GraphRequest));
}

export function drawn(view: string, maker: FigureMaker, request: string): string {
  const { images = [], ...drawing } = maker(opened(view, request));
  const written = images.map(({ cols, rows, pixels }) => ({ cols, rows, base64: base64(pixels) }));
  return JSON.stringify({ ...drawing, images: written });
}

function opened(view: string, request: string): FigureRequest {
  const { columns, answers, widths, ...rest } = JSON.parse(request) as Request;
  return {
    ...rest,
    view,
    columns: mapped(columns, column),
    answers: mapped(answers, answer),
    text: new TextWidths(widths),
  };
}

function mapped<T, U>(values: Record<string, T>, make: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));
}

function answer(packed: PackedAnswer | null): unknown {
  if (!packed) return null;
  const { columns, base64, ...told } = packed;
  return { ...told, ...fields(columns ?? [], [new DataView(buffer(base64))]) };
}

function column(packed: Packed): Column {
  if ("unique" in packed) {
    return new StringColumn(new Int32Array(buffer(packed.codes)), packed.unique);
  }
  return new ARRAYS[packed.kind](buffer(packed.base64));
}

function buffer(base64: string): ArrayBuffer {
  return bytes(base64).buffer as ArrayBuffer;
}

function base64(bytes: Uint8ClampedArray): string {
  const { buffer, byteLength, byteOffset } = bytes;
  const plain = new Uint8Array(buffer, byteOffset, byteLength) as Uint8Array & {
    toBase64?: () => string;
  };
  if (plain.toBase64) return plain.toBase64();
  const parts: string[] = [];
  for (let at = 0; at < plain.length; at += CHUNK) {
    parts.push(String.fromCharCode(...plain.subarray(at, at + CHUNK)));
  }
  return btoa(parts.join(""));
}

/** Arguments of one call. */
const CHUNK = 8192;

function bytes(base64: string): Uint8Array {
  const { fromBase64 } = Uint8Array as { fromBase64?: (text: string) => Uint8Array };
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}
