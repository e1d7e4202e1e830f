import {
  LINE,
  MARGIN,
  type Note,
  type Part,
  SMALL,
  smallWriter,
} from "../../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";
import { kindFill } from "../../shared/drawing/theme.ts";

/** What differs most between two runs. */
export interface ChangesData {
  rows: ChangeRow[];
  below: Note[];
}

export interface ChangeRow {
  sign: string;
  color: "error" | "accent";
  /** Whether there is a difference, as far as is known. */
  certain: boolean;
  /** Of the first run. */
  nodes: number[];
  label: string;
  /** `#12 | #14`, and the last of them. */
  ids: string;
  id: string;
  mark: string;
  shape: string;
  kind: string;
  a: string;
  b: string;
  change: string;
  ratio: string;
  verdict: string;
  /** Difference over the greatest one. */
  bar: number;
}

const NARROW = 620;
/** How far the bar of the greatest difference reaches, px. */
const BAR = 26;
const LABEL = 32;

/** Operator, both times, the difference with a bar to either side, and the verdict. */
export function changesTable(
  rows: readonly ChangeRow[],
  selected: readonly number[],
  width: number,
  text: TextWidths,
): Part {
  const room = width - 2 * MARGIN;
  const isWide = width >= NARROW;
  const verdict = room - (isWide ? 120 : 16);
  const ratio = verdict - 62;
  const change = ratio - 72;
  const bar = change - (isWide ? 2 * BAR + 12 : 8);
  const second = bar - 62;
  const first = second - 62;
  const names = rows.map((row) => {
    const ids = ` ${isWide ? row.ids : row.id}${row.mark}`;
    const left = first - LABEL - 8;
    const said = text.fit(row.label, left - text.width(ids, SMALL), SMALL) + ids;
    const shaped = `${said} ${row.shape}`;
    return isWide && text.width(shaped, SMALL) <= left ? shaped : said;
  });
  return {
    height: (rows.length + 1) * LINE + 10,
    paint(pen, theme, top) {
      const put = smallWriter(pen, theme);
      const heads: [number, string][] = [
        [LABEL - 16, "operator"],
        [first, "A"],
        [second, "B"],
        [change, "B − A"],
        [ratio, "Δ %"],
      ];
      if (isWide) heads.push([verdict, "verdict, corrected p"]);
      for (const [x, said] of heads) put(said, x, top + 4 + LINE / 2, theme.muted);
      pen.fillStyle = theme.line;
      pen.fillRect(MARGIN, top + 4 + LINE, room, 1);
      rows.forEach((row, at) => {
        const y = top + 6 + (at + 1.5) * LINE;
        const ink = row.certain ? theme.text : theme.muted;
        const sign = row.certain ? theme[row.color] : theme.muted;
        if (row.nodes.some((node) => selected.includes(node))) {
          pen.fillStyle = theme.accent;
          pen.fillRect(MARGIN - 12, y - 7, 4, 14);
        }
        put(row.sign, 0, y, sign);
        pen.fillStyle = kindFill(theme, row.kind);
        pen.fillRect(MARGIN + LABEL - 16, y - 5, 10, 10);
        put(names[at]!, LABEL, y, ink);
        put(row.a, first, y, ink);
        put(row.b, second, y, ink);
        if (isWide && row.bar) {
          const size = BAR * Math.abs(row.bar);
          const middle = MARGIN + bar + BAR;
          pen.globalAlpha = 0.6;
          pen.fillStyle = sign;
          pen.fillRect(row.bar > 0 ? middle : middle - size, y - 5, size, 10);
          pen.globalAlpha = 1;
        }
        put(row.change, change, y, ink);
        put(row.ratio, ratio, y, ink);
        if (isWide) put(row.verdict, verdict, y, theme.muted);
      });
    },
  };
}
