/** The views' own code where there is no DOM: `tvmdbg_widgets/engine/host.py` calls what is exported. */
import "./text_decoder.ts";
import { openStates } from "../graph/data/groups.ts";
import { nodeColors } from "../graph/figure/node_colors.ts";
import type { GraphRequest } from "../graph/figure/request.ts";
import type { FigureMaker, FigureRequest, ThemeName } from "../shared/drawing/figure.ts";
import { TextWidths, type WidthTables } from "../shared/drawing/text_widths.ts";
import { ofBytes } from "../shared/many.ts";
import { figures } from "./figures.ts";
import { type Packed, unpacked } from "./packed.ts";

export { findNodes, readQuery, searchTexts } from "./query.ts";

interface Request {
  data: unknown;
  columns: Packed;
  answers: Record<string, Packed | null>;
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

/** What the colors of a graph show of each node, for `export/nodes.py`. */
export function colorsOfNodes(request: string): string {
  return JSON.stringify(nodeColors(opened("graph", request) as GraphRequest));
}

/** Groups that may be open where nobody has chosen, for `analysis/view_columns.py`. */
export function openGroups(graph: string): string {
  const [open] = openStates(unpacked<"graph">(JSON.parse(graph)));
  return JSON.stringify(Array.from(open!.keys()).filter((group) => open![group]));
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
    columns: unpacked(columns),
    answers: Object.fromEntries(
      Object.entries(answers).map(([name, packed]) => [name, packed && answer(packed)]),
    ),
    text: new TextWidths(widths),
  };
}

/** What the run answers: what it tells beside its columns, and those. */
function answer({ columns, base64, ...told }: Packed): object {
  return { ...told, ...unpacked({ columns: columns ?? [], base64 }) };
}

function base64(bytes: Uint8ClampedArray): string {
  const { buffer, byteLength, byteOffset } = bytes;
  const plain = new Uint8Array(buffer, byteOffset, byteLength) as Uint8Array & {
    toBase64?: () => string;
  };
  if (plain.toBase64) return plain.toBase64();
  return btoa(ofBytes(plain));
}
