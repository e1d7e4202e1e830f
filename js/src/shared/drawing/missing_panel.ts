import type { FigurePanel, FigureRequest } from "./figure.ts";
import { heading, heightOf, MARGIN, paintParts, paragraph } from "./figure_parts.ts";

/** What a figure says where the run lacks what it would show: what that is, and how to get it. */
export function missingPanel(
  { width, text }: Pick<FigureRequest, "width" | "text">,
  run: string,
  title: string,
  why: string,
): FigurePanel {
  const room = width - 2 * MARGIN;
  const parts = [
    heading(title, run, room, text),
    paragraph({ text: why, color: "muted" }, room, text, 12),
  ];
  return {
    height: heightOf(parts),
    title: `${title}: ${run}`,
    words: why,
    text: `${run}: ${title.toLowerCase()}. ${why}`,
    description: { title: run, missing: why },
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
