import {
  LINE,
  MARGIN,
  type Note,
  type Part,
  SMALL,
  smallWriter,
} from "../../shared/drawing/figure_parts.ts";
import type { TextWidths } from "../../shared/drawing/text_widths.ts";
import { kindFill, type Theme } from "../../shared/drawing/theme.ts";
import { largest } from "../../shared/many.ts";
import type { Names } from "../data/names.ts";
import type { Slices } from "../data/slices.ts";
import { titleText } from "../data/titles.ts";

export interface TableData {
  notes: Note[];
  /** What stands before the name, the name, time, share, and what stands behind it ("": nothing). */
  heads: string[];
  rows: TableRow[];
  below: Note[];
}

export interface TableRow {
  /** A number of the row, or how many slices it is of. */
  lead: string;
  /** -1 where it is no node. */
  node: number;
  label: string;
  kind: string;
  aside: string;
  time: string;
  share: string;
  /** Share of the longest row. */
  bar: number;
  more: string;
}

const [LEAD, GAP, CHIP] = [46, 12, 16];
const BAR = 80;
/** Narrower tables have no bars, and below the next width nothing behind the share. */
const BARRED = 420;
const NARROW = 620;

/** What a row is called, and what its mark is filled with. */
export interface RowLooks {
  text: (row: Pick<TableRow, "node" | "label">) => string;
  fill: (theme: Theme, row: TableRow) => string;
}

/** As the table beside the flamechart calls and marks rows; `numbered`: ids stand before the names. */
export function rowLooks(
  slices: Slices,
  names: Names,
  codeOf: (name: string) => number,
  numbered: boolean,
): RowLooks {
  const isNode = ({ node }: Pick<TableRow, "node">) => node >= 0 && names.known;
  return {
    text({ node, label }) {
      const code = codeOf(label);
      const recorded = code < 0 ? label : slices.nameLabel(code);
      if (!isNode({ node })) return recorded;
      const title = names.titleOf(node, recorded);
      return titleText(numbered ? { ...title, id: "" } : title);
    },
    fill(theme, row) {
      if (isNode(row)) return names.fill(theme, row.node, -1);
      if (row.node >= 0) return kindFill(theme, row.kind);
      return names.colors.ofName(theme, codeOf(row.label), row.kind);
    },
  };
}

/** Rows of times: mark, name, time, share with a bar. */
export function table(
  { heads, rows }: TableData,
  looks: RowLooks,
  selected: readonly number[],
  width: number,
  text: TextWidths,
): Part {
  const room = width - 2 * MARGIN;
  const [lead = "", name = "", time = "", share = "", behind = ""] = heads;
  const widest = (head: string, texts: string[]) =>
    largest([head, ...texts].map((each) => text.width(each, SMALL)));
  const bar = width >= BARRED ? BAR : 0;
  const hasMore = behind !== "" && width >= NARROW;
  const column = (head: string, of: (row: TableRow) => string) => widest(head, rows.map(of)) + GAP;
  const moreWide = hasMore ? column(behind, (row) => row.more) : 0;
  const shareWide = column(share, (row) => row.share) + bar;
  const timeWide = Math.max(
    60,
    column("time", (row) => row.time),
  );
  const more = room - moreWide;
  const shareAt = more - shareWide;
  const timeAt = shareAt - timeWide;
  const timeHead = text.width(time, SMALL) <= timeWide - 6 ? time : "time";
  const nameRoom = timeAt - LEAD - CHIP - 8;
  const names = rows.map((row) => text.fit(looks.text(row), nameRoom, SMALL));
  const asides = rows.map((row, at) => {
    const left = nameRoom - text.width(names[at]!, SMALL) - 8;
    return left > 60 && !names[at]!.includes(" · ") ? text.fit(row.aside, left, SMALL) : "";
  });
  return {
    height: (rows.length + 1) * LINE + 6,
    paint(pen, theme, top) {
      const put = smallWriter(pen, theme);
      const head = top + LINE / 2;
      put(lead, 0, head, theme.muted);
      put(name, LEAD, head, theme.muted);
      put(timeHead, timeAt, head, theme.muted);
      put(share, shareAt, head, theme.muted);
      if (hasMore) put(behind, more + GAP, head, theme.muted);
      pen.fillStyle = theme.line;
      pen.fillRect(MARGIN, top + LINE, room, 1);
      const y = (at: number) => top + (at + 1.5) * LINE + 2;
      // Column by column: marks of one look share it in a document.
      const column = (x: number, color: string, of: (row: TableRow, at: number) => string) => {
        rows.forEach((row, at) => {
          put(of(row, at), x, y(at), color);
        });
      };
      rows.forEach((row, at) => {
        if (row.node < 0 || !selected.includes(row.node)) return;
        pen.fillStyle = theme.surface;
        pen.fillRect(MARGIN - 8, y(at) - 8, room + 8, LINE);
        pen.fillStyle = theme.accent;
        pen.fillRect(MARGIN - 12, y(at) - 7, 4, 14);
      });
      column(0, theme.muted, (row) => row.lead);
      rows.forEach((row, at) => {
        pen.fillStyle = looks.fill(theme, row);
        pen.fillRect(MARGIN + LEAD, y(at) - 5, 10, 10);
      });
      if (bar) pen.globalAlpha = 0.75;
      rows.forEach((row, at) => {
        pen.fillStyle = looks.fill(theme, row);
        if (bar && row.bar > 0) pen.fillRect(MARGIN + shareAt, y(at) - 5, bar * row.bar, 10);
      });
      pen.globalAlpha = 1;
      column(LEAD + CHIP, theme.text, (_, at) => names[at]!);
      column(timeAt, theme.text, (row) => row.time);
      column(shareAt + bar + (bar ? 6 : 0), theme.text, (row) => row.share);
      rows.forEach((_, at) => {
        const x = LEAD + CHIP + text.width(names[at]!, SMALL) + 8;
        put(asides[at]!, x, y(at), theme.muted);
      });
      if (hasMore) column(more + GAP, theme.muted, (row) => row.more);
    },
  };
}
