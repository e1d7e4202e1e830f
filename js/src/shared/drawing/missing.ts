import { type Drawing, type FigurePanel, type FigureRequest, panelDrawing } from "./figure.ts";
import { heading, heightOf, MARGIN, paintParts, paragraph } from "./figure_parts.ts";

interface Data {
  view: string;
  title: string;
  /** What there is none of. */
  head: string;
  why: string;
  text: string;
}

/** What a figure says where the run lacks what it would show: what that is, and how to get it. */
export function missingFigure(request: FigureRequest<Data>): Drawing {
  return panelDrawing(request, missingPanel(request));
}

export function missingPanel({ data, width, text }: FigureRequest<Data>): FigurePanel {
  const room = width - 2 * MARGIN;
  const parts = [
    heading(data.head, data.title, room, text),
    paragraph({ text: data.why, color: "muted" }, room, text, 12),
  ];
  return {
    height: heightOf(parts),
    title: `${data.head}: ${data.title}`,
    words: data.why,
    text: data.text,
    description: { view: data.view, title: data.title, missing: data.why },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
