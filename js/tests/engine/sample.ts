/** A figure that shows what the engine hands over, for tests/unit/figures/test_engine.py. */
import { drawn } from "../../src/engine/engine.ts";
import type { Column, StringColumn } from "../../src/shared/client/columns.ts";
import { TextMeasure } from "../../src/shared/drawing/canvas.ts";
import {
  type FigurePanel,
  type FigureRequest,
  MONO,
  pencil,
} from "../../src/shared/drawing/figure.ts";

interface SampleOptions {
  texts: string[];
  /** Sizes, whether bold, and rooms to measure texts with. */
  looks: [size: number, bold: boolean, room: number][];
  uneven?: boolean;
}

type Request = FigureRequest<SampleOptions, { sample: Record<string, Column> }>;

async function sample({ client, options, title, text }: Request): Promise<FigurePanel> {
  const { texts, looks } = options;
  const columns = await client.ask("sample");
  const paint: FigurePanel["paint"] = (pen, colors) => {
    if (options.uneven && colors.dark) pen.fillRect(0, 0, 1, 1);
    pen.fillStyle = colors.accent;
    for (const x of (columns.x ?? []) as Float64Array) pen.fillRect(x, 10, 2, 2);
    pen.strokeStyle = colors.error;
    pen.strokeRect(4, 4, 10, 10);
    pen.textBaseline = "middle";
    texts.forEach((each, row) => {
      pen.font = row % 2 ? `600 11px ${colors.font}` : `11px ${MONO}`;
      pen.fillStyle = row % 3 ? colors.muted : colors.text;
      pen.fillText(each, 10, 40 + row * 16);
    });
  };
  const pen = pencil(text);
  pen.font = `11px ${text.font}`;
  const measure = new TextMeasure(pen as unknown as CanvasRenderingContext2D);
  const description = {
    title,
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, each]) => [name, listed(each)]),
    ),
    widths: texts.map((each) => looks.map(([size, bold]) => text.width(each, size, bold))),
    fits: texts.map((each) => looks.map(([size, bold, room]) => text.fit(each, room, size, bold))),
    wraps: texts.map((each) =>
      looks.map(([size, bold, room]) => text.wrap(each, room, size, 3, bold)),
    ),
    clusters: texts.map((each) => [...text.clusters(each)]),
    measured: texts.map((each) => measure.width(each)),
  };
  const page = { height: 40 + texts.length * 16, title, words: texts.join("; ") };
  return { ...page, text: texts.join("\n"), description, paint };
}

function listed(column: Column): unknown[] {
  return Array.from({ length: column.length }, (_, row) => (column as StringColumn).at(row));
}

export { fail, goOn, tell } from "../../src/engine/engine_host.ts";

export const draw = (_view: string, request: string): string => drawn("sample", sample, request);
