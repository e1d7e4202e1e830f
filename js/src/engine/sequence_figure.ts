import {
  type FigurePanel,
  type FigurePart,
  type FigureRequest,
  heightOf,
  LINE,
  MARGIN,
  paintParts,
  paragraph,
} from "../shared/drawing/figure.ts";
import { ramp } from "../shared/drawing/theme.ts";
import { Ink } from "./ink.ts";
import {
  BAR,
  barLeft,
  layoutSequence,
  type PlacedMessage,
  type PlacedRow,
  type SequenceLayout,
  type SequenceReply,
  SHORT,
  TIME,
  touch,
} from "./sequence_layout.ts";

const ARROW = 7;
const DASH = [5, 3];
const TINT = 0.16;
/** Space between a lifeline and the frames around it. */
const BESIDE = 14;

function paintSequence(layout: SequenceLayout, ink: Ink): void {
  const { muted: color } = ink.theme;
  paintLifelines(layout, ink);
  if (layout.timed) ink.words(TIME, layout.timeRight, 12, { color, align: "right" });
  paintLoops(layout, ink);
  for (const bar of layout.bars) {
    const [y, end] = [layout.rows[bar.from]!.y, layout.rows[bar.to]!.y];
    const box = { x: barLeft(layout, bar), y, width: BAR, height: end - y };
    ink.fill(box, ink.theme.surface);
    ink.frame(box, color, 0.75);
  }
  paintPauses(layout, ink);
  for (const row of layout.rows) {
    if (row.kind === "left out") paintLeftOut(row, layout, ink);
    else {
      if (row.isBand) paintBand(row, layout, ink);
      else paintMessage(row, layout, ink);
      ink.words(row.time, layout.timeRight, row.y, { color, align: "right" });
      ink.words(row.bytes, layout.bytesRight, row.y, { color, align: "right" });
    }
  }
}

function paintLifelines({ lifelines, height }: SequenceLayout, ink: Ink): void {
  const { muted, surface } = ink.theme;
  for (const [side, x] of Object.entries(lifelines)) {
    ink.pen.setLineDash([3, 3]);
    ink.lines(muted, 1, [
      [x, 24],
      [x, height - 4],
    ]);
    ink.pen.setLineDash([]);
    const width = ink.width(side, { bold: true }) + 16;
    const box = { x: x - width / 2, y: 2, width, height: 20 };
    ink.fill(box, surface);
    ink.frame(box, muted, 1);
    ink.words(side, x, 12, { bold: true, align: "center" });
  }
}

function paintLoops({ loops, lifelines }: SequenceLayout, ink: Ink): void {
  const { accent, surface } = ink.theme;
  const x = lifelines.client - BESIDE;
  for (const { top: y, bottom, text } of loops) {
    ink.frame({ x, y, width: lifelines.server + BESIDE - x, height: bottom - y }, accent, 1.25);
    const tag = { x, y, width: ink.width(text) + 12, height: LINE };
    ink.fill(tag, surface);
    ink.frame(tag, accent, 1.25);
    ink.words(text, x + 6, y + LINE / 2);
  }
}

function paintPauses({ pauses, lifelines, middle }: SequenceLayout, ink: Ink): void {
  const { background, text: color, muted } = ink.theme;
  for (const { y, text } of pauses) {
    for (const x of [lifelines.client, lifelines.server]) {
      ink.fill({ x: x - 9, y: y - 4, width: 18, height: 8 }, background);
      for (const shift of [-3, 3]) {
        const wave = [-8, -4, 0, 4, 8].map(
          (dx, at) => [x + dx, y + shift + (at % 2 ? -2 : 2)] as const,
        );
        ink.lines(color, 1.25, wave);
      }
    }
    ink.words(text, middle, y, { color: muted, align: "center" });
  }
}

function paintLeftOut({ y, lines }: PlacedRow, layout: SequenceLayout, ink: Ink): void {
  const { muted: color } = ink.theme;
  for (const x of [layout.lifelines.client, layout.lifelines.server]) {
    for (const dy of [-5, 0, 5])
      ink.fill({ x: x - 1.5, y: y + dy - 1.5, width: 3, height: 3 }, color);
  }
  ink.words(lines[0]!, layout.middle, y, { color, align: "center" });
}

function paintBand(row: PlacedMessage, { lifelines }: SequenceLayout, ink: Ink): void {
  const { warning, error, background } = ink.theme;
  const color = row.status === "damaged" ? warning : error;
  const x = lifelines.client - BESIDE;
  const width = lifelines.server + BESIDE - x;
  const box = { x, y: row.top + 2, width, height: row.height - 4 };
  ink.fill(box, ramp([background, color], TINT));
  ink.frame(box, color, 1.5);
  ink.cross(x + 14, row.y, color);
  row.lines.forEach((line, at) => {
    ink.words(line, x + 28, row.top + 8 + (at + 0.5) * LINE);
  });
}

function paintMessage(row: PlacedMessage, layout: SequenceLayout, ink: Ink): void {
  const { pen, theme } = ink;
  const { y, status } = row;
  const [from, to] = [touch(layout, row, row.side), touch(layout, row, row.to)];
  const [isFault, isCut, isAnswer] = [
    status === "exception",
    status === "incomplete",
    row.replyTo >= 0,
  ];
  const end = isCut ? from + SHORT * (to - from) : to;
  const color = isFault ? theme.error : theme.text;
  const ahead = to > from ? 1 : -1;
  if (isAnswer) pen.setLineDash(DASH);
  ink.lines(color, 1.25, [
    [from, y],
    [end - (isCut ? 0 : ahead * 2), y],
  ]);
  pen.setLineDash([]);
  const back = end - ahead * ARROW;
  const head = [[back, y - 4] as const, [end, y] as const, [back, y + 4] as const];
  const stop = [[end, y - 6] as const, [end, y + 6] as const];
  if (isCut || isAnswer) ink.lines(color, 1.25, isCut ? stop : head);
  else ink.area(color, ...head);
  const words = row.lines[0] ?? "";
  const wide = ink.width(words);
  const { middle } = layout;
  const left = middle - wide / 2 - (isFault ? 18 : 4);
  const behind = { x: left, y: y - 7, width: wide + (isFault ? 22 : 8), height: 14 };
  ink.fill(behind, theme.background);
  if (isFault) ink.cross(middle - wide / 2 - 10, y, color);
  ink.words(words, middle, y, { color, align: "center" });
}

type SequenceRequest = FigureRequest<unknown, { sequence: SequenceReply }>;

export async function sequenceFigure(request: SequenceRequest): Promise<FigurePanel> {
  const { title, width, text: widths, client } = request;
  const reply = await client.ask("sequence");
  const { text, summary, notes, rows, loops, pauses } = reply;
  const room = width - 2 * MARGIN;
  const head = [
    paragraph({ text: title, bold: true }, room, widths),
    paragraph({ text: summary, color: "muted" }, room, widths),
    ...notes.map((note) => paragraph({ text: note }, room, widths)),
  ];
  const layout = layoutSequence(reply, room, widths);
  const diagram: FigurePart = {
    height: layout.height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(0, top);
      paintSequence(layout, new Ink(pen, theme));
      pen.restore();
    },
  };
  const parts = rows.length ? [...head, diagram] : head;
  const top = heightOf(head) - MARGIN;
  const messages = layout.rows.filter((row) => row.kind === "message");
  return {
    height: heightOf(parts),
    title,
    words: text,
    text,
    description: { title, summary, notes, rows, loops, pauses, bars: layout.bars },
    hover: messages.map(({ top: y, height, hover }) => {
      return { x: MARGIN, y: top + y, width: room, height, text: hover };
    }),
    paint: (pen, theme) => paintParts(parts, pen, theme),
  };
}
