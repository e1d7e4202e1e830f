import { LINE, MARGIN, type Part, SMALL, smallWriter } from "../../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";

/** A node of one side: its name, and what follows that and is not cut. */
type Named = readonly [name: string, rest: string];

/** Differences of one kind and change. */
export interface DifferenceRow {
  kind: string;
  /** Whether the nodes are on one side alone. */
  alone: boolean;
  a: Named;
  b: Named;
  change: string;
}

const ROW = 17;
const HEADS = ["difference", "A", "B", "A → B"];
/** Where columns begin, in shares of the width. */
const STARTS = [0, 0.1, 0.38, 0.66, 1];
const GAP = 8;

/** What differs, at which nodes, and how. */
export function differences(rows: readonly DifferenceRow[], width: number, text: TextWidths): Part {
  const room = width - 2 * MARGIN;
  const fitted = (words: string, column: number, rest = "") => {
    const wide = (STARTS[column + 1]! - STARTS[column]!) * room - GAP;
    return text.fit(words, wide - text.width(rest, SMALL), SMALL) + rest;
  };
  return {
    height: rows.length ? LINE + rows.length * ROW + 4 : 0,
    paint(pen, theme, top) {
      if (!rows.length) return;
      const put = smallWriter(pen, theme);
      const line = (cells: readonly string[], y: number, colors: readonly string[]) => {
        for (const [at, cell] of cells.entries()) put(cell, STARTS[at]! * room, y, colors[at]!);
      };
      line(
        HEADS,
        top + LINE / 2,
        HEADS.map(() => theme.muted),
      );
      pen.fillStyle = theme.line;
      pen.fillRect(MARGIN, top + LINE, room, 1);
      for (const [at, { kind, alone, a, b, change }] of rows.entries()) {
        const cells = [
          fitted(kind, 0),
          fitted(a[0], 1, a[1]),
          fitted(b[0], 2, b[1]),
          fitted(change, 3),
        ];
        const colors = [alone ? theme.error : theme.text, theme.text, theme.text, theme.text];
        line(cells, top + LINE + (at + 0.5) * ROW + 2, colors);
      }
    },
  };
}
