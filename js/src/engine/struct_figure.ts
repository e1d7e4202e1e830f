import {
  type Drawing,
  type FigureRequest,
  fieldTint,
  type Ink,
  LINE,
  MARGIN,
  MONO,
  paragraph,
  SMALL,
  shares,
  svgDocument,
} from "../shared/drawing/figure.ts";
import type { SvgContext } from "../shared/drawing/svg_context.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import {
  bytesInRow,
  FRAME_STEP,
  ROW,
  type Segment,
  type StructData,
  type StructFrame,
  TEXT_LINE,
} from "./struct_grid.ts";
import {
  arrange,
  boxOf,
  hoverOf,
  type Move,
  type NoteLine,
  type Panel,
  type PanelArrangement,
  type PlacedSection,
} from "./struct_panel.ts";

const HATCH = 7;
const CORNER = 8;
const PAD = 4;

function paintStructs({ panels, moves }: PanelArrangement, dump: Uint8Array, ink: Ink): void {
  for (const panel of panels) {
    paintNotes(panel.head, panel.x, panel.top, ink);
    for (const section of panel.sections) paintSection(panel, section, dump, ink);
    paintNotes(panel.notes, panel.x, panel.notesTop, ink);
  }
  for (const move of moves) paintMove(move, ink);
}

function paintSection(panel: Panel, section: PlacedSection, dump: Uint8Array, ink: Ink): void {
  const { frames } = panel.info.sections[section.index]!;
  for (const segment of section.segments) paintBlock(panel, section, segment, dump, ink);
  for (const frame of frames) paintFrame(panel, section, frame, ink);
}

function paintBlock(
  panel: Panel,
  section: PlacedSection,
  segment: Segment,
  dump: Uint8Array,
  ink: Ink,
): void {
  const { pen, theme } = ink;
  const { part, row, end } = segment;
  const box = boxOf(panel, section, segment);
  const isPadding = !part.path;
  const fill = isPadding ? theme.background : fieldTint(theme, part.color);
  pen.fillStyle = fill;
  pen.fillRect(box.x, box.y, box.width, box.height);
  if (isPadding) hatch(box, ink);
  pen.strokeStyle = part.problem ? theme.error : part.mark ? theme.accent : theme.muted;
  pen.lineWidth = part.problem ? 2 : part.mark ? 1.5 : 0.75;
  pen.strokeRect(box.x, box.y, box.width, box.height);
  paintBytes(panel, section, segment, dump, fill, ink);
  if (part.mark && end + row * ROW === part.offset + part.size) corner(box, pen, theme.accent);
  if (segment.isNamed) paintWords(segment, box, dump.length > 0, fill, ink);
}

function paintBytes(
  panel: Panel,
  section: PlacedSection,
  { row, first, end, part }: Segment,
  dump: Uint8Array,
  fill: string,
  { pen, theme }: Ink,
): void {
  const top = section.top + section.rows[row]!.bytes;
  const hasDump = dump.length > 0;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const center = (byte: number, text: string, y: number) => {
    const x = panel.x + (byte + 0.5) * panel.cell;
    if (!part.path) {
      const wide = pen.measureText(text).width + 3;
      pen.fillStyle = fill;
      pen.fillRect(x - wide / 2, y - 6, wide, 12);
    }
    pen.fillStyle = hasDump && y > top + 13 ? theme.text : theme.muted;
    pen.fillText(text, x, y);
  };
  for (let byte = first; byte < end; byte++) {
    const at = row * ROW + byte;
    pen.font = `${SMALL}px ${theme.font}`;
    center(byte, String(at), top + 7.5);
    if (!hasDump) continue;
    pen.font = `12px ${MONO}`;
    center(byte, at < dump.length ? dump[at]!.toString(16).padStart(2, "0") : "··", top + 21);
  }
  pen.strokeStyle = theme.line;
  pen.lineWidth = 0.75;
  pen.beginPath();
  for (let byte = first + 1; byte < end; byte++) {
    const x = panel.x + byte * panel.cell;
    pen.moveTo(x, top + 2);
    pen.lineTo(x, top + (hasDump ? 28 : 13));
  }
  pen.stroke();
}

function paintWords(
  { words, part }: Segment,
  box: { x: number; y: number; width: number },
  hasDump: boolean,
  fill: string,
  { pen, theme }: Ink,
): void {
  const middle = box.x + box.width / 2;
  let y = box.y + (hasDump ? 28 : 13) + TEXT_LINE / 2;
  const put = (pieces: readonly { text: string; bold?: boolean; color: string }[]) => {
    const shown = pieces.filter(({ text }) => text);
    const widths = shown.map(({ text, bold }) => {
      pen.font = fontOf(theme, bold);
      return pen.measureText(text).width;
    });
    const total = widths.reduce((sum, width) => sum + width, 6 * (shown.length - 1));
    let x = middle - total / 2;
    if (!part.path) {
      pen.fillStyle = fill;
      pen.fillRect(x - 2, y - 6.5, total + 4, 13);
    }
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    shown.forEach(({ text, bold, color }, at) => {
      pen.font = fontOf(theme, bold);
      pen.fillStyle = color;
      pen.fillText(text, x, y);
      x += widths[at]! + 6;
    });
    y += TEXT_LINE;
  };
  const quiet = part.path ? theme.text : theme.muted;
  put([
    { text: words.name, bold: words.isBold, color: quiet },
    { text: words.aside, color: quiet },
    { text: words.mark, color: theme.text },
  ]);
  if (words.type) put([{ text: words.type, color: quiet }]);
  if (words.value)
    put([{ text: words.value, bold: true, color: part.problem ? theme.error : theme.text }]);
}

function fontOf(theme: Theme, bold = false): string {
  return `${bold ? "600 " : ""}${SMALL}px ${theme.font}`;
}

function paintFrame(
  panel: Panel,
  section: PlacedSection,
  frame: StructFrame,
  { pen, theme }: Ink,
): void {
  const begin = Math.floor(frame.offset / ROW);
  const stop = Math.ceil((frame.offset + frame.size) / ROW);
  const inset = 0.5 + FRAME_STEP * frame.depth;
  pen.strokeStyle = theme.muted;
  pen.lineWidth = 1.25;
  pen.beginPath();
  for (let row = begin; row < stop; row++) {
    const [first, end] = bytesInRow(frame, row)!;
    const { top, bytes, bottom } = section.rows[row]!;
    const [left, right] = [
      panel.x + first * panel.cell + inset,
      panel.x + end * panel.cell - inset,
    ];
    const above = row === begin ? bytes - TEXT_LINE + 1.5 : top - 2.5;
    const below = row + 1 < stop ? bottom + 2.5 : bottom + 2.5 - inset;
    const [y0, y1] = [section.top + above, section.top + below];
    const next = row + 1 < stop ? bytesInRow(frame, row + 1)! : null;
    const last = row > begin ? bytesInRow(frame, row - 1)! : null;
    pen.moveTo(left, y0);
    pen.lineTo(left, y1);
    pen.moveTo(right, y0);
    pen.lineTo(right, y1);
    if (!last) line(pen, left, right, y0);
    else {
      const from = panel.x + last[0] * panel.cell + inset;
      if (from > left) line(pen, left, Math.min(from, right), y0);
    }
    if (!next) line(pen, left, right, y1);
    else {
      const to = panel.x + next[1] * panel.cell - inset;
      if (to < right) line(pen, Math.max(to, left), right, y1);
    }
  }
  pen.stroke();
  const { bytes } = section.rows[begin]!;
  const [first, end] = bytesInRow(frame, begin)!;
  pen.font = `${SMALL}px ${theme.font}`;
  pen.fillStyle = theme.muted;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  const x = panel.x + first * panel.cell + inset + PAD;
  const room = panel.cell * (end - first) - 2 * PAD;
  const words = `${frame.name}: ${frame.type}`;
  pen.fillText(
    pen.measureText(words).width <= room ? words : frame.name,
    x,
    section.top + bytes - TEXT_LINE / 2 + 1,
  );
}

function line(pen: SvgContext, left: number, right: number, y: number): void {
  pen.moveTo(left, y);
  pen.lineTo(right, y);
}

function hatch(
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  { pen, theme }: Ink,
): void {
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let at = HATCH; at < width + height; at += HATCH) {
    pen.moveTo(x + Math.max(0, at - height), y + Math.min(at, height));
    pen.lineTo(x + Math.min(at, width), y + Math.max(0, at - width));
  }
  pen.stroke();
}

/** A triangle in the upper right corner: this value differs from the first layout. */
function corner(
  box: { x: number; y: number; width: number },
  pen: SvgContext,
  color: string,
): void {
  const right = box.x + box.width;
  pen.fillStyle = color;
  pen.beginPath();
  pen.moveTo(right - CORNER, box.y);
  pen.lineTo(right, box.y);
  pen.lineTo(right, box.y + CORNER);
  pen.closePath();
  pen.fill();
}

function paintMove({ from, to }: Move, { pen, theme }: Ink): void {
  const [x0, y0] = [from[0] + 1, from[1]];
  const [x1, y1] = [to[0] - 2, to[1]];
  const angle = Math.atan2(y1 - y0, x1 - x0);
  pen.strokeStyle = theme.accent;
  pen.fillStyle = theme.accent;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1 - 5 * Math.cos(angle), y1 - 5 * Math.sin(angle));
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x1, y1);
  for (const turn of [2.7, -2.7]) {
    pen.lineTo(x1 + 8 * Math.cos(angle + turn), y1 + 8 * Math.sin(angle + turn));
  }
  pen.closePath();
  pen.fill();
}

function paintNotes(notes: readonly NoteLine[], x: number, top: number, ink: Ink): void {
  const { pen, theme } = ink;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  notes.forEach(({ text, sign, isFault, bold, indent }, at) => {
    const y = top + (at + 0.5) * LINE;
    pen.font = bold ? `600 12px ${theme.font}` : `${SMALL}px ${theme.font}`;
    if (sign) paintSign(sign, x + 5, y, ink);
    pen.fillStyle = isFault ? theme.error : theme.text;
    pen.fillText(text, x + indent, y);
  });
}

function paintSign(sign: NoteLine["sign"], x: number, y: number, { pen, theme }: Ink): void {
  if (sign === "change") {
    corner({ x: x - CORNER / 2, y: y - CORNER / 2, width: CORNER }, pen, theme.accent);
    return;
  }
  pen.strokeStyle = sign === "problem" ? theme.error : theme.accent;
  pen.lineWidth = 2;
  pen.beginPath();
  const points = sign === "problem" ? CROSS : CHECK;
  for (const stroke of points) {
    stroke.forEach(([dx, dy], at) => {
      if (at) pen.lineTo(x + dx, y + dy);
      else pen.moveTo(x + dx, y + dy);
    });
  }
  pen.stroke();
}

type Stroke = readonly (readonly [dx: number, dy: number])[];

const CROSS: readonly Stroke[] = [
  [
    [-4, -4],
    [4, 4],
  ],
  [
    [4, -4],
    [-4, 4],
  ],
];
const CHECK: readonly Stroke[] = [
  [
    [-4, 0],
    [-1, 4],
    [5, -4],
  ],
];

export function structFigure(request: FigureRequest<StructData, Record<string, never>>): Drawing {
  const { data, columns, width, text } = request;
  const dump = columns.dump as Uint8Array;
  const room = width - 2 * MARGIN;
  const heading = paragraph({ text: data.title, bold: true }, room, text);
  const place = { left: MARGIN, top: MARGIN + heading.height + 4, room };
  const arranged = arrange(data.layouts, dump.length > 0, place, text);
  const height = arranged.bottom + MARGIN;
  const hover = arranged.panels.flatMap(hoverOf);
  const page = { height, title: data.title, words: data.text, hover };
  const svg = svgDocument(request, page, (pen, theme) => {
    heading.paint(pen, theme, MARGIN);
    paintStructs(arranged, dump, { pen, theme });
  });
  return {
    svg,
    text: data.text,
    description: describe(data, arranged, dump),
    hover: shares(hover, width, height),
  };
}

function describe(
  { title, layouts }: StructData,
  { panels, moves }: PanelArrangement,
  dump: Uint8Array,
): Drawing["description"] {
  return {
    title,
    dump: dump.length,
    beside: new Set(panels.map(({ x }) => x)).size,
    layouts: layouts.map(({ label, size, align, verdict, sense, changes, problems, sections }) => ({
      label,
      size,
      align,
      verdict,
      sense,
      changes,
      problems,
      sections,
    })),
    moves: moves.map(({ part }) => part.path),
  };
}
