import { LINE, MARGIN, type Part, SMALL, smallWriter } from "../../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";
import type { Theme } from "../../shared/drawing/theme.ts";

const NAMES = 76;

/** Name, exact text, and what stands beside it or below. */
export type StatisticRow = [name: string, text: string, place: string];

interface Line {
  name: string;
  text: string;
  beside: string;
}

/** The statistics as a table; the texts are exact. */
export function statisticsPart(
  rows: readonly StatisticRow[],
  finiteOnly: boolean,
  room: number,
  text: TextWidths,
): Part {
  const lines: (Line | { below: string })[] = [];
  for (const [name, exact, place] of rows) {
    const end = room - NAMES;
    const isBeside = text.width(exact, SMALL) + 8 + text.width(place, SMALL) <= end;
    lines.push({ name, text: text.fit(exact, end, SMALL), beside: isBeside ? place : "" });
    if (isBeside) continue;
    for (const below of text.wrap(place, end, SMALL, 3)) lines.push({ below });
  }
  const last = finiteOnly ? 1 : 0;
  return {
    height: (lines.length + last) * LINE,
    paint(pen, theme, top) {
      const write = smallWriter(pen, theme);
      const put = (said: string, x: number, at: number, color: string) =>
        write(said, x, top + (at + 0.5) * LINE, color);
      lines.forEach((line, at) => {
        if ("below" in line) {
          put(line.below, NAMES, at, theme.muted);
          return;
        }
        put(line.name, 0, at, theme.muted);
        put(line.text, NAMES, at, theme.text);
        put(line.beside, NAMES + text.width(line.text, SMALL) + 8, at, theme.muted);
      });
      if (finiteOnly) put("finite values only", 0, lines.length, theme.muted);
    },
  };
}

export interface Verdict {
  text: string;
  /** Whether some values are not finite. */
  bad: boolean;
  /** Counts of what is not finite. */
  faults: string[];
  rest: string[];
}

/** The verdict, and the counts in as many lines as they need. */
export function verdictPart(verdict: Verdict, room: number, text: TextWidths): Part {
  const { bad, faults, rest } = verdict;
  const loud = faults.join(" · ");
  const loudAt = text.width(verdict.text, SMALL, true) + 10;
  const first = loudAt + (loud ? text.width(loud, SMALL, true) + 10 : 0);
  const lines: string[] = rest.length ? [""] : [];
  for (const part of rest) {
    const last = lines.at(-1)!;
    const joined = last ? `${last} · ${part}` : part;
    const start = lines.length === 1 ? first : 0;
    if (start + text.width(joined, SMALL) <= room) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return {
    height: Math.max(1, lines.length) * LINE + 2,
    paint(pen, theme, top) {
      pen.textBaseline = "middle";
      pen.textAlign = "left";
      const put = (said: string, x: number, at: number, color: string, weight = "") => {
        pen.font = `${weight}${SMALL}px ${theme.font}`;
        pen.fillStyle = color;
        pen.fillText(said, MARGIN + x, top + (at + 0.5) * LINE);
      };
      put(verdict.text, 0, 0, bad ? theme.error : theme.text, "600 ");
      put(loud, loudAt, 0, theme.error, "600 ");
      lines.forEach((line, at) => {
        put(line, at ? 0 : first, at, theme.muted);
      });
    },
  };
}

/** Parts beside each other: those at the right begin at `x`. */
export function besideEachOther(left: readonly Part[], right: readonly Part[], x: number): Part {
  const tall = (parts: readonly Part[]) => parts.reduce((sum, { height }) => sum + height, 0);
  return {
    height: Math.max(tall(left), tall(right)),
    paint(pen, theme: Theme, top) {
      const paint = (parts: readonly Part[]) => {
        let y = top;
        for (const part of parts) {
          part.paint(pen, theme, y);
          y += part.height;
        }
      };
      paint(left);
      pen.save();
      pen.translate(x - MARGIN, 0);
      paint(right);
      pen.restore();
    },
  };
}
