import type { TableAnswer, TableRow } from "../shared/client/answers.ts";
import { type FigurePart, LINE, MARGIN, SMALL, smallWriter } from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { kindFill, type Theme } from "../shared/drawing/theme.ts";
import { largest } from "../shared/many.ts";
import {
  type Change,
  changeFills,
  changeText,
  endsText,
  fillOfChange,
  pText,
  ratioText,
  Verdict,
  verdictSign,
} from "./data/change.ts";
import { codesOf } from "./data/item_names.ts";
import { type Names, titleText } from "./data/names.ts";
import type { Slices } from "./data/slices.ts";

const NARROW = 620;
/** Length of the bar of the largest difference, px. */
const CHANGE_BAR = 26;
const LABEL = 32;

/** Operator, both times, the difference with a bar to either side, and the verdict. */
export function changesTable(
  change: Change,
  listed: number,
  selected: readonly number[],
  width: number,
  text: TextWidths,
): FigurePart {
  const rows = change
    .rows("change")
    .slice(0, listed)
    .map((row) => changeRow(change, row));
  const most = Math.abs(change.of(0)) || 0;
  const room = width - 2 * MARGIN;
  const isWide = width >= NARROW;
  const verdict = room - (isWide ? 120 : 16);
  const ratio = verdict - 88;
  const changeAt = ratio - 72;
  const bar = changeAt - (isWide ? 2 * CHANGE_BAR + 12 : 8);
  const second = bar - 62;
  const first = second - 62;
  const names = rows.map((row) => {
    const ids = ` ${isWide ? row.ids : row.id}${row.mark}`;
    const left = first - LABEL - 8;
    const label = text.fit(row.label, left - text.width(ids, SMALL), SMALL) + ids;
    const shaped = `${label} ${row.shape}`;
    return isWide && text.width(shaped, SMALL) <= left ? shaped : label;
  });
  return {
    height: (rows.length + 1) * LINE + 10,
    paint(pen, theme, top) {
      const put = smallWriter(pen, theme);
      const heads: [number, string][] = [
        [LABEL - 16, "operator"],
        [first, "A"],
        [second, "B"],
        [changeAt, "B − A"],
        [ratio, "speed"],
      ];
      if (isWide) heads.push([verdict, "verdict, corrected p"]);
      for (const [x, text] of heads) put(text, x, top + 4 + LINE / 2, theme.muted);
      pen.fillStyle = theme.line;
      pen.fillRect(MARGIN, top + 4 + LINE, room, 1);
      rows.forEach((row, at) => {
        const y = top + 6 + (at + 1.5) * LINE;
        const ink = row.certain ? theme.text : theme.muted;
        const sign = row.certain ? theme[row.color] : theme.muted;
        if (selected.some((node) => row.nodes.includes(node))) {
          pen.fillStyle = theme.accent;
          pen.fillRect(MARGIN - 12, y - 7, 4, 14);
        }
        put(row.sign, 0, y, sign);
        pen.fillStyle = change.colored ? changeFills(theme)[row.fill]! : kindFill(theme, row.kind);
        pen.fillRect(MARGIN + LABEL - 16, y - 5, 10, 10);
        put(names[at]!, LABEL, y, ink);
        put(row.a, first, y, ink);
        put(row.b, second, y, ink);
        if (isWide && row.ns && most) {
          const size = (CHANGE_BAR * Math.abs(row.ns)) / most;
          const middle = MARGIN + bar + CHANGE_BAR;
          pen.globalAlpha = 0.6;
          pen.fillStyle = sign;
          pen.fillRect(row.ns > 0 ? middle : middle - size, y - 5, size, 10);
          pen.globalAlpha = 1;
        }
        put(row.change, changeAt, y, ink);
        put(row.ratio, ratio, y, ink);
        if (isWide) put(row.verdict, verdict, y, theme.muted);
      });
    },
  };
}

function changeRow(change: Change, row: number) {
  const { columns, byNode } = change;
  const verdict = byNode.verdict[row]!;
  const [a, b] = [change.nodesA(row), change.nodesB(row)];
  const q = byNode.q[row]!;
  const label = change.verdictLabel(verdict);
  const isLoss = verdict === Verdict.SLOWER || verdict === Verdict.ONLY_B;
  return {
    sign: verdictSign(verdict),
    color: isLoss ? ("warning" as const) : ("accent" as const),
    /** True if the verdict is certain enough for a color. */
    certain: change.isSignificant(row),
    nodes: a,
    label: byNode.label.at(row),
    ids: change.nodesText(row, endsText),
    id: `#${(a.length ? a : b).at(-1)}`,
    mark: change.matchLabel(row) === "possible" ? " (match?)" : "",
    shape: columns.shape.at(row),
    kind: columns.kind.at(row),
    fill: fillOfChange(change, row),
    a: a.length ? change.timeText(byNode.nsA[row]!, 0) : "–",
    b: b.length ? change.timeText(byNode.nsB[row]!, 1) : "–",
    ns: change.of(row) || 0,
    change: changeText(change.of(row)),
    ratio: a.length && b.length ? ratioText(row, byNode) : "–",
    verdict: Number.isNaN(q) ? label : `${label} ${pText(q)}`,
  };
}

/** A difference in a figure's description. */
export function changeFacts(change: Change, row: number): Record<string, unknown> {
  const { byNode } = change;
  return {
    label: byNode.label.at(row),
    nodes: change.nodesText(row),
    a: change.timeText(byNode.nsA[row]!, 0),
    b: change.timeText(byNode.nsB[row]!, 1),
    change: changeText(change.of(row)),
    ratio: ratioText(row, byNode),
    verdict: change.verdictLabel(byNode.verdict[row]!),
    why: byNode.why.at(row),
  };
}

const [LEAD, GAP, CHIP] = [46, 12, 16];
const BAR = 80;
/** Widths below which tables have no bars, and nothing after the share. */
const BARRED = 420;

interface RowLooks {
  text: (row: Pick<TableRow, "node" | "label">) => string;
  fill: (theme: Theme, row: TableRow) => string;
}

/** Rows with titles and marks as in the table beside the flamechart; `numbered`: ids come first. */
export function rowLooks(slices: Slices, names: Names, numbered: boolean): RowLooks {
  const codes = codesOf(slices);
  const codeOf = (name: string) => codes.get(name) ?? -1;
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
  { heads, rows }: TableAnswer,
  looks: RowLooks,
  selected: readonly number[],
  width: number,
  text: TextWidths,
): FigurePart {
  const room = width - 2 * MARGIN;
  const [lead = "", name = "", time = "", share = "", behind = ""] = heads;
  const widest = (head: string, texts: string[]) =>
    largest([head, ...texts].map((cell) => text.width(cell, SMALL)));
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
      // Column by column: consecutive marks of one style share it in a document.
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
