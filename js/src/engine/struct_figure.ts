import {
  type FigurePanel,
  type FigureRequest,
  LINE,
  MARGIN,
  paragraph,
  SMALL,
} from "../shared/drawing/figure.ts";
import { type Box, fieldTint, hex, Ink, sentBytes } from "./ink.ts";
import {
  bytesInRow,
  FRAME_STEP,
  ROW,
  type RowPlace,
  type StructFrame,
  type StructReply,
  TEXT_LINE,
} from "./struct_grid.ts";
import {
  arrange,
  bytesHeight,
  hoverOf,
  type Move,
  type NoteLine,
  type Panel,
  type PlacedSegment,
} from "./struct_panel.ts";

const HATCH = 7;
const CORNER = 8;
const PAD = 4;

function paintPanel(panel: Panel, dump: Uint8Array, ink: Ink): void {
  paintNotes(panel.head, panel.x, panel.top, ink);
  for (const { segments, rows, frames } of panel.sections) {
    for (const segment of segments) paintSegment(panel, segment, dump, ink);
    for (const frame of frames) paintFrame(panel, rows, frame, ink);
  }
  paintNotes(panel.notes, panel.x, panel.notesTop, ink);
}

function paintSegment(panel: Panel, segment: PlacedSegment, dump: Uint8Array, ink: Ink): void {
  const { theme } = ink;
  const { part, row, end, box } = segment;
  const fill = part.path ? fieldTint(theme, part.color) : theme.background;
  ink.fill(box, fill);
  if (!part.path) hatch(box, ink);
  if (part.problem) ink.frame(box, theme.error, 2);
  else if (part.mark) ink.frame(box, theme.accent, 1.5);
  else ink.frame(box, theme.muted, 0.75);
  paintBytes(panel, segment, dump, fill, ink);
  if (part.mark && end + row * ROW === part.offset + part.size) corner(box, ink);
  if (segment.isNamed) paintWords(segment, dump.length > 0, fill, ink);
}

function paintBytes(
  { x: left, cell }: Panel,
  { row, first, end, part, box }: PlacedSegment,
  dump: Uint8Array,
  fill: string,
  ink: Ink,
): void {
  const top = box.y;
  const hasDump = dump.length > 0;
  const put = (byte: number, text: string, y: number, color: string, size: number) => {
    const x = left + (byte + 0.5) * cell;
    const look = { color, align: "center", size, mono: size !== SMALL } as const;
    const wide = ink.width(text, look) + 3;
    if (!part.path) ink.fill({ x: x - wide / 2, y: y - 6, width: wide, height: 12 }, fill);
    ink.words(text, x, y, look);
  };
  for (let byte = first; byte < end; byte++) {
    const at = row * ROW + byte;
    put(byte, String(at), top + 7.5, ink.theme.muted, SMALL);
    const shown = at < dump.length ? hex(dump[at]!) : "··";
    if (hasDump) put(byte, shown, top + 21, ink.theme.text, 12);
  }
  const separators = Array.from({ length: end - first - 1 }, (_, at) => {
    const x = left + (first + 1 + at) * cell;
    return [[x, top + 2] as const, [x, top + bytesHeight(hasDump)] as const];
  });
  ink.lines(ink.theme.line, 0.75, ...separators);
}

function paintWords(
  { words, part, box }: PlacedSegment,
  hasDump: boolean,
  fill: string,
  ink: Ink,
): void {
  const { theme } = ink;
  let y = box.y + bytesHeight(hasDump) + TEXT_LINE / 2;
  const put = (...pieces: readonly { text: string; bold?: boolean; color: string }[]) => {
    const shown = pieces.filter(({ text }) => text);
    const widths = shown.map((piece) => ink.width(piece.text, piece));
    const total = widths.reduce((sum, width) => sum + width, 6 * (shown.length - 1));
    let x = box.x + box.width / 2 - total / 2;
    if (!part.path) ink.fill({ x: x - 2, y: y - 6.5, width: total + 4, height: 13 }, fill);
    shown.forEach((piece, at) => {
      ink.words(piece.text, x, y, piece);
      x += widths[at]! + 6;
    });
    y += TEXT_LINE;
  };
  const color = part.path ? theme.text : theme.muted;
  const name = { text: words.name, bold: words.isBold, color };
  put(name, { text: words.aside, color }, { text: words.mark, color: theme.text });
  if (words.type) put({ text: words.type, color });
  const held = part.problem ? theme.error : theme.text;
  if (words.value) put({ text: words.value, bold: true, color: held });
}

function paintFrame(panel: Panel, rows: readonly RowPlace[], frame: StructFrame, ink: Ink): void {
  const begin = Math.floor(frame.offset / ROW);
  const stop = Math.ceil((frame.offset + frame.size) / ROW);
  const inset = 0.5 + FRAME_STEP * frame.depth;
  const sides = (row: number): [left: number, right: number] => {
    const [first, end] = bytesInRow(frame, row)!;
    return [panel.x + first * panel.cell + inset, panel.x + end * panel.cell - inset];
  };
  const paths: (readonly [x: number, y: number])[][] = [];
  const put = (x0: number, y0: number, x1: number, y1: number) => {
    paths.push([
      [x0, y0],
      [x1, y1],
    ]);
  };
  for (let row = begin; row < stop; row++) {
    const [left, right] = sides(row);
    const { top, bytes, bottom } = rows[row]!;
    const [isFirst, isLast] = [row === begin, row + 1 === stop];
    const y0 = isFirst ? bytes - TEXT_LINE + 1.5 : top - 2.5;
    const y1 = bottom + 2.5 - (isLast ? inset : 0);
    put(left, y0, left, y1);
    put(right, y0, right, y1);
    const from = isFirst ? right : Math.min(sides(row - 1)[0], right);
    if (from > left) put(left, y0, from, y0);
    const to = isLast ? left : Math.max(sides(row + 1)[1], left);
    if (to < right) put(to, y1, right, y1);
  }
  ink.lines(ink.theme.muted, 1.25, ...paths);
  const [first, end] = bytesInRow(frame, begin)!;
  const words = `${frame.name}: ${frame.type}`;
  const fits = ink.width(words) <= panel.cell * (end - first) - 2 * PAD;
  const y = rows[begin]!.bytes - TEXT_LINE / 2 + 1;
  ink.words(fits ? words : frame.name, sides(begin)[0] + PAD, y, { color: ink.theme.muted });
}

function hatch({ x, y, width, height }: Box, ink: Ink): void {
  const count = Math.ceil((width + height) / HATCH) - 1;
  const strokes = Array.from({ length: count }, (_, row) => {
    const at = (row + 1) * HATCH;
    const from = [x + Math.max(0, at - height), y + Math.min(at, height)] as const;
    return [from, [x + Math.min(at, width), y + Math.max(0, at - width)] as const];
  });
  ink.lines(ink.theme.line, 1, ...strokes);
}

/** A triangle in the upper right corner: this value differs from the first layout. */
function corner({ x, y, width }: Omit<Box, "height">, ink: Ink): void {
  const right = x + width;
  ink.area(ink.theme.accent, [right - CORNER, y], [right, y], [right, y + CORNER]);
}

function paintMove({ from, to }: Move, ink: Ink): void {
  const { accent } = ink.theme;
  const [x0, y0] = [from[0] + 1, from[1]];
  const [x1, y1] = [to[0] - 2, to[1]];
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const end = [x1 - 5 * Math.cos(angle), y1 - 5 * Math.sin(angle)] as const;
  ink.lines(accent, 1.5, [[x0, y0], end]);
  const tips = [2.7, -2.7].map(
    (turn) => [x1 + 8 * Math.cos(angle + turn), y1 + 8 * Math.sin(angle + turn)] as const,
  );
  ink.area(accent, [x1, y1], ...tips);
}

function paintNotes(notes: readonly NoteLine[], x: number, top: number, ink: Ink): void {
  const { theme } = ink;
  notes.forEach(({ text, sign, isFault, bold, indent }, at) => {
    const y = top + (at + 0.5) * LINE;
    const middle = x + 5;
    if (sign === "change") corner({ x: x + 1, y: y - CORNER / 2, width: CORNER }, ink);
    else if (sign === "problem") ink.cross(middle, y, theme.error);
    else if (sign) {
      ink.lines(theme.accent, 2, [
        [middle - 4, y],
        [middle - 1, y + 4],
        [middle + 5, y - 4],
      ]);
    }
    const color = isFault ? theme.error : theme.text;
    ink.words(text, x + indent, y, { color, bold, size: bold ? 12 : SMALL });
  });
}

type StructRequest = FigureRequest<unknown, { struct: StructReply }>;

export async function structFigure(request: StructRequest): Promise<FigurePanel> {
  const { title, width, text, client } = request;
  const { layouts, text: told, bytes } = await client.ask("struct");
  const dump = sentBytes(bytes);
  const room = width - 2 * MARGIN;
  const heading = paragraph({ text: title, bold: true }, room, text);
  const place = { left: MARGIN, top: MARGIN + heading.height + 4, room };
  const { panels, moves, bottom } = arrange(layouts, dump.length > 0, place, text);
  return {
    height: bottom + MARGIN,
    title,
    words: told,
    text: told,
    description: {
      title,
      dump: dump.length,
      beside: new Set(panels.map(({ x }) => x)).size,
      layouts: layouts.map(({ facts, against, ...layout }) => layout),
      moves: moves.map(({ part }) => part.path),
    },
    hover: panels.flatMap(hoverOf),
    paint(pen, theme) {
      heading.paint(pen, theme, MARGIN);
      const ink = new Ink(pen, theme);
      for (const panel of panels) paintPanel(panel, dump, ink);
      for (const move of moves) paintMove(move, ink);
    },
  };
}
