import { type Drawing, type FigureRequest, panelDrawing } from "../shared/drawing/figure.ts";
import {
  heightOf,
  MARGIN,
  type Part,
  paintParts,
  paragraph,
} from "../shared/drawing/figure_parts.ts";
import type { SequenceData } from "./data.ts";
import { hoverOf, layoutSequence } from "./layout.ts";
import { paintSequence } from "./painter.ts";

type Request = FigureRequest<SequenceData, Record<string, never>>;

/** Messages between two sides, one below the other. */
export function sequenceFigure(request: Request): Drawing {
  const { data, width, text } = request;
  const room = width - 2 * MARGIN;
  const head = [
    paragraph({ text: data.title, bold: true }, room, text),
    paragraph({ text: data.summary, color: "muted" }, room, text),
    ...data.notes.map((note) => paragraph({ text: note }, room, text)),
  ];
  const layout = layoutSequence(data, room, text);
  const diagram: Part = {
    height: layout.height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(0, top);
      paintSequence(data, layout, pen, theme);
      pen.restore();
    },
  };
  const parts = data.rows.length ? [...head, diagram] : head;
  const height = heightOf(parts);
  const top = heightOf(head) - MARGIN;
  const hover = hoverOf(data, layout, MARGIN, top, room);
  const { title, summary, notes, rows, loops, pauses } = data;
  const bars = layout.bars.map(({ side, from, to, depth }) => ({ side, from, to, depth }));
  return panelDrawing(request, {
    height,
    title,
    words: data.text,
    text: data.text,
    description: { title, summary, notes, rows, loops, pauses, bars },
    hover,
    paint: (pen, theme) => paintParts(parts, pen, theme),
  });
}
