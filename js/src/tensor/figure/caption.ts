import { LINE, MARGIN, type Part, SMALL } from "../../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";

const MOST = 4;

/** Lines of muted text. */
export function lines(texts: readonly string[]): Part {
  return {
    height: texts.length * LINE,
    paint(pen, theme, top) {
      pen.font = `${SMALL}px ${theme.font}`;
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      pen.fillStyle = theme.muted;
      texts.forEach((text, at) => {
        pen.fillText(text, MARGIN, top + (at + 0.5) * LINE);
      });
    },
  };
}

/** Breaks a text behind semicolons where its parts fit into lines, else evenly. */
export function wrapParts(text: string, room: number, widths: TextWidths): string[] {
  const found: string[] = [];
  for (const each of text.match(/[^;]+;?/g) ?? []) {
    const part = each.trim();
    const joined = found.length ? `${found.at(-1)} ${part}` : part;
    if (widths.width(joined, SMALL) <= room) found.splice(-1, 1, joined);
    else if (widths.width(part, SMALL) <= room) found.push(part);
    else return balanced(text, room, widths);
  }
  return found.length <= MOST ? found : balanced(text, room, widths);
}

/** As few lines as hold the text, each about as long. */
function balanced(text: string, room: number, widths: TextWidths): string[] {
  const wanted = widths.wrap(text, room, SMALL, MOST);
  let [low, high] = [room / 2, room];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    const lines = widths.wrap(text, middle, SMALL, MOST);
    const isWhole = lines.length === wanted.length && lines.join(" ") === wanted.join(" ");
    if (isWhole) high = middle;
    else low = middle;
  }
  return widths.wrap(text, high, SMALL, MOST);
}
