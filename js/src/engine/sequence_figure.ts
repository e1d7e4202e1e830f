import {
  type Drawing,
  type FigurePart,
  type FigureRequest,
  heightOf,
  type Ink,
  LINE,
  MARGIN,
  paintParts,
  panelDrawing,
  paragraph,
  SMALL,
} from "../shared/drawing/figure.ts";
import type { SvgContext } from "../shared/drawing/svg_context.ts";
import { ramp } from "../shared/drawing/theme.ts";
import {
  BAR,
  barLeft,
  hoverOf,
  isBand,
  layoutSequence,
  type MessageRow,
  otherSide,
  type PlacedRow,
  type SequenceData,
  type SequenceLayout,
  SHORT,
  TIME,
  touch,
} from "./sequence_layout.ts";

const ARROW = 7;
const DASH = [5, 3];
const TINT = 0.16;

function paintSequence(data: SequenceData, layout: SequenceLayout, ink: Ink): void {
  const { pen, theme } = ink;
  pen.textBaseline = "middle";
  paintLifelines(layout, ink);
  if (data.timed) {
    pen.font = `${SMALL}px ${theme.font}`;
    pen.fillStyle = theme.muted;
    pen.textAlign = "right";
    pen.fillText(TIME, layout.timeRight, 12);
  }
  paintLoops(layout, ink);
  paintBars(layout, ink);
  paintPauses(layout, ink);
  layout.rows.forEach((place, at) => {
    const row = data.rows[at]!;
    if (row.kind === "left out") paintLeftOut(place, layout, ink);
    else if (isBand(row)) paintBand(row, place, layout, ink);
    else paintMessage(row, place, layout, ink);
    if (row.kind === "message") paintNumbers(row, place, layout, ink);
  });
}

function paintLifelines({ lifelines, height }: SequenceLayout, { pen, theme }: Ink): void {
  pen.lineWidth = 1;
  for (const side of ["client", "server"] as const) {
    const x = lifelines[side];
    pen.strokeStyle = theme.muted;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(x, 24);
    pen.lineTo(x, height - 4);
    pen.stroke();
    pen.setLineDash([]);
    pen.font = `600 ${SMALL}px ${theme.font}`;
    const wide = pen.measureText(side).width + 16;
    pen.fillStyle = theme.surface;
    pen.fillRect(x - wide / 2, 2, wide, 20);
    pen.strokeRect(x - wide / 2, 2, wide, 20);
    pen.fillStyle = theme.text;
    pen.textAlign = "center";
    pen.fillText(side, x, 12);
  }
}

function paintLoops({ loops, lifelines }: SequenceLayout, { pen, theme }: Ink): void {
  pen.font = `${SMALL}px ${theme.font}`;
  pen.textAlign = "left";
  pen.lineWidth = 1.25;
  for (const { top, bottom, text } of loops) {
    const left = lifelines.client - 14;
    const wide = lifelines.server + 14 - left;
    pen.strokeStyle = theme.accent;
    pen.strokeRect(left, top, wide, bottom - top);
    const tag = pen.measureText(text).width + 12;
    pen.fillStyle = theme.surface;
    pen.fillRect(left, top, tag, LINE);
    pen.strokeRect(left, top, tag, LINE);
    pen.fillStyle = theme.text;
    pen.fillText(text, left + 6, top + LINE / 2);
  }
}

function paintBars(layout: SequenceLayout, { pen, theme }: Ink): void {
  pen.lineWidth = 0.75;
  for (const bar of layout.bars) {
    const [from, to] = [layout.rows[bar.from]!.y, layout.rows[bar.to]!.y];
    const left = barLeft(layout, bar);
    pen.fillStyle = theme.surface;
    pen.fillRect(left, from, BAR, to - from);
    pen.strokeStyle = theme.muted;
    pen.strokeRect(left, from, BAR, to - from);
  }
}

function paintPauses({ pauses, lifelines }: SequenceLayout, { pen, theme }: Ink): void {
  pen.font = `${SMALL}px ${theme.font}`;
  pen.textAlign = "center";
  for (const { y, text } of pauses) {
    for (const x of [lifelines.client, lifelines.server]) {
      pen.fillStyle = theme.background;
      pen.fillRect(x - 9, y - 4, 18, 8);
      pen.strokeStyle = theme.text;
      pen.lineWidth = 1.25;
      for (const shift of [-3, 3]) {
        pen.beginPath();
        pen.moveTo(x - 8, y + shift + 2);
        for (const [at, dx] of [-4, 0, 4, 8].entries())
          pen.lineTo(x + dx, y + shift + (at % 2 ? 2 : -2));
        pen.stroke();
      }
    }
    pen.fillStyle = theme.muted;
    pen.fillText(text, (lifelines.client + lifelines.server) / 2, y);
  }
}

function paintLeftOut(place: PlacedRow, { lifelines }: SequenceLayout, { pen, theme }: Ink): void {
  pen.font = `${SMALL}px ${theme.font}`;
  pen.textAlign = "center";
  pen.fillStyle = theme.muted;
  for (const x of [lifelines.client, lifelines.server]) {
    for (const dy of [-5, 0, 5]) pen.fillRect(x - 1.5, place.y + dy - 1.5, 3, 3);
  }
  pen.fillText(place.lines[0]!, (lifelines.client + lifelines.server) / 2, place.y);
}

function paintBand(
  row: MessageRow,
  place: PlacedRow,
  { lifelines }: SequenceLayout,
  { pen, theme }: Ink,
): void {
  const color = row.status === "damaged" ? theme.warning : theme.error;
  const left = lifelines.client - 14;
  const box = [left, place.top + 2, lifelines.server + 14 - left, place.height - 4] as const;
  pen.fillStyle = ramp([theme.background, color], TINT);
  pen.fillRect(...box);
  pen.strokeStyle = color;
  pen.lineWidth = 1.5;
  pen.strokeRect(...box);
  cross(left + 14, place.y, color, pen);
  pen.font = `${SMALL}px ${theme.font}`;
  pen.fillStyle = theme.text;
  pen.textAlign = "left";
  place.lines.forEach((line, at) => {
    pen.fillText(line, left + 28, place.top + 8 + (at + 0.5) * LINE);
  });
}

function paintMessage(
  row: MessageRow,
  place: PlacedRow,
  layout: SequenceLayout,
  { pen, theme }: Ink,
): void {
  const from = touch(layout, place, row.side);
  const to = touch(layout, place, otherSide(row.side));
  const end = row.status === "incomplete" ? from + SHORT * (to - from) : to;
  const color = row.status === "exception" ? theme.error : theme.text;
  const { y } = place;
  const ahead = to > from ? 1 : -1;
  pen.strokeStyle = color;
  pen.fillStyle = color;
  pen.lineWidth = 1.25;
  const isAnswer = row.replyTo >= 0;
  if (isAnswer) pen.setLineDash(DASH);
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(end - (row.status === "incomplete" ? 0 : ahead * 2), y);
  pen.stroke();
  pen.setLineDash([]);
  pen.beginPath();
  if (row.status === "incomplete") {
    pen.moveTo(end, y - 6);
    pen.lineTo(end, y + 6);
    pen.stroke();
  } else {
    pen.moveTo(end - ahead * ARROW, y - 4);
    pen.lineTo(end, y);
    pen.lineTo(end - ahead * ARROW, y + 4);
    if (isAnswer) pen.stroke();
    else {
      pen.closePath();
      pen.fill();
    }
  }
  const words = place.lines[0] ?? "";
  pen.font = `${SMALL}px ${theme.font}`;
  const wide = pen.measureText(words).width;
  const middle = (layout.lifelines.client + layout.lifelines.server) / 2;
  const isFault = row.status === "exception";
  pen.fillStyle = theme.background;
  pen.fillRect(middle - wide / 2 - (isFault ? 18 : 4), y - 7, wide + (isFault ? 22 : 8), 14);
  if (isFault) cross(middle - wide / 2 - 10, y, color, pen);
  pen.fillStyle = color;
  pen.textAlign = "center";
  pen.fillText(words, middle, y);
}

function paintNumbers(
  row: MessageRow,
  { y }: PlacedRow,
  { timeRight, bytesRight }: SequenceLayout,
  { pen, theme }: Ink,
): void {
  pen.font = `${SMALL}px ${theme.font}`;
  pen.fillStyle = theme.muted;
  pen.textAlign = "right";
  pen.fillText(row.time, timeRight, y);
  pen.fillText(row.bytes, bytesRight, y);
}

function cross(x: number, y: number, color: string, pen: SvgContext): void {
  pen.strokeStyle = color;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.moveTo(x - 4, y - 4);
  pen.lineTo(x + 4, y + 4);
  pen.moveTo(x + 4, y - 4);
  pen.lineTo(x - 4, y + 4);
  pen.stroke();
}

export function sequenceFigure(
  request: FigureRequest<SequenceData, Record<string, never>>,
): Drawing {
  const { data, width, text } = request;
  const room = width - 2 * MARGIN;
  const head = [
    paragraph({ text: data.title, bold: true }, room, text),
    paragraph({ text: data.summary, color: "muted" }, room, text),
    ...data.notes.map((note) => paragraph({ text: note }, room, text)),
  ];
  const layout = layoutSequence(data, room, text);
  const diagram: FigurePart = {
    height: layout.height,
    paint(pen, theme, top) {
      pen.save();
      pen.translate(0, top);
      paintSequence(data, layout, { pen, theme });
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
