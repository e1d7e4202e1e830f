/** A small figure that shows what the engine hands over, for tests/unit/test_engine.py. */

import { drawn } from "../src/engine/engine.ts";
import type { StringColumn } from "../src/shared/columns.ts";
import { type FigureRequest, svgDocument } from "../src/shared/figure.ts";

interface Data {
  title: string;
  texts: string[];
}

function sample({
  data,
  columns,
  options,
  width,
  theme,
  text,
}: FigureRequest<Data, { bold: boolean }>) {
  const svg = svgDocument(
    { width, theme, text },
    { height: 120, title: data.title, words: "words" },
    (pen, colors) => {
      pen.fillStyle = colors.accent;
      for (const x of columns.x as Float64Array) pen.fillRect(x, 10, 2, 2);
      pen.font = `11px ${colors.font}`;
      pen.fillStyle = colors.muted;
      data.texts.forEach((each, row) => {
        pen.fillText(each, 10, 20 + row * 14);
      });
    },
  );
  return {
    svg,
    text: data.texts.join("\n"),
    description: {
      title: data.title,
      columns: Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [
          name,
          Array.from({ length: column.length }, (_, i) => (column as StringColumn).at(i)),
        ]),
      ),
      widths: data.texts.map((each) => text.width(each, 11, options.bold)),
    },
  };
}

export const draw = (_view: string, request: string): string => drawn(sample, request);
