import { type HoverText, LINE, SMALL } from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { counted } from "../shared/format.ts";
import { append, largest } from "../shared/many.ts";
import {
  FRAME_STEP,
  joined,
  type LayoutInfo,
  levelsOf,
  placeRows,
  ROW,
  type RowPlace,
  type RowSpace,
  rowSpaces,
  type Segment,
  type StructPart,
  segmentsOf,
} from "./struct_grid.ts";

const LEAST_CELL = 38;
const MOST_CELL = 64;
export const BETWEEN = 34;
const OFFSET_LINE = 13;
const HEX_LINE = 15;
const SECTION_GAP = 10;
const NOTES = 12;
export const SIGN = 14;

/** A line below or above a grid; the first of a note has a sign. */
export interface NoteLine {
  text: string;
  sign: "problem" | "change" | "yes" | "";
  isFault: boolean;
  bold: boolean;
  indent: number;
}

export interface Panel {
  info: LayoutInfo;
  x: number;
  top: number;
  width: number;
  cell: number;
  inset: number;
  head: readonly NoteLine[];
  sections: readonly PlacedSection[];
  notes: readonly NoteLine[];
  notesTop: number;
}

export interface PlacedSection {
  top: number;
  rows: readonly RowPlace[];
  segments: readonly Segment[];
  index: number;
}

export interface Move {
  from: [x: number, y: number];
  to: [x: number, y: number];
  part: StructPart;
}

export interface PanelArrangement {
  panels: readonly Panel[];
  moves: readonly Move[];
  bottom: number;
}

export function bytesHeight(hasDump: boolean): number {
  return OFFSET_LINE + (hasDump ? HEX_LINE : 0);
}

export function arrange(
  layouts: readonly LayoutInfo[],
  hasDump: boolean,
  { left, top, room }: { left: number; top: number; room: number },
  text: TextWidths,
): PanelArrangement {
  const fitting = Math.floor((room + BETWEEN) / (LEAST_CELL * ROW + BETWEEN));
  const beside = Math.max(1, Math.min(layouts.length, fitting));
  const width = (room - BETWEEN * (beside - 1)) / beside;
  const panels: Panel[] = [];
  const moves: Move[] = [];
  let bottom = top;
  for (let at = 0; at < layouts.length; at += beside) {
    const band = layouts.slice(at, at + beside);
    const placed = placeBand(band, hasDump, { left, top: bottom, width }, text);
    append(panels, placed.panels);
    if (at === 0) append(moves, movesOf(placed.panels));
    bottom = placed.bottom + SECTION_GAP;
  }
  return { panels, moves, bottom: bottom - SECTION_GAP };
}

function placeBand(
  band: readonly LayoutInfo[],
  hasDump: boolean,
  { left, top, width }: { left: number; top: number; width: number },
  text: TextWidths,
): { panels: Panel[]; bottom: number } {
  const cell = Math.min(MOST_CELL, width / ROW);
  const drafts = band.map((info) => {
    const inset = 2 + FRAME_STEP * levelsOf(info.sections);
    const sections = info.sections.map((section) => segmentsOf(section, cell, inset, text));
    return {
      info,
      inset,
      sections,
      head: headOf(info, width, text),
      notes: notesOf(info, sections, width, text),
    };
  });
  const headHeight = largest(drafts.map(({ head }) => head.length)) * LINE + 4;
  const numSections = largest(band.map(({ sections }) => sections.length));
  const places: { top: number; rows: RowPlace[] }[] = [];
  let y = top + headHeight;
  for (let index = 0; index < numSections; index++) {
    const spaces = drafts
      .filter(({ sections }) => sections[index])
      .map(({ info, sections }) => rowSpaces(info.sections[index]!, sections[index]!))
      .reduce(joined, [] as RowSpace[]);
    const rows = placeRows(spaces, bytesHeight(hasDump));
    places.push({ top: y, rows });
    y += rows.at(-1)!.bottom + SECTION_GAP;
  }
  const panels = drafts.map(({ info, inset, sections, head, notes }, at) => ({
    info,
    x: left + at * (width + BETWEEN),
    top,
    width,
    cell,
    inset,
    head,
    sections: sections.map((segments, index) => ({ ...places[index]!, segments, index })),
    notes,
    notesTop: y,
  }));
  return { panels, bottom: y + largest(drafts.map(({ notes }) => notes.length)) * LINE };
}

const PLAIN = { sign: "", isFault: false, bold: false, indent: 0 } as const;

function headOf(info: LayoutInfo, width: number, text: TextWidths): NoteLine[] {
  const sign = info.sense === "no" ? "problem" : info.sense;
  return [
    { text: text.fit(info.label, width, 12, true), ...PLAIN, bold: true },
    { text: text.fit(info.facts, width, SMALL), ...PLAIN },
    ...(info.verdict ? note(info.verdict, sign, width, text, 3) : []),
  ];
}

function notesOf(
  info: LayoutInfo,
  sections: readonly Segment[][],
  width: number,
  text: TextWidths,
): NoteLine[] {
  const cut = sections.flat().filter(({ part, words }) => words.isCut && !part.problem);
  const heading = info.changes.length
    ? note(`Against ${info.against}`, "", width, text, 1, true)
    : [];
  const lines = [
    ...info.problems.flatMap((problem) => note(problem, "problem", width, text, 3)),
    ...cut.flatMap(({ part }) => note(`${part.path} is ${part.value}`, "", width, text, 3)),
    ...heading,
    ...info.changes.flatMap((change) => note(change, "change", width, text, 3)),
  ];
  const left = lines.length - NOTES;
  return left > 1
    ? [...lines.slice(0, NOTES), ...note(`and ${counted(left, "more line")}`, "", width, text, 1)]
    : lines;
}

function note(
  words: string,
  sign: NoteLine["sign"],
  width: number,
  text: TextWidths,
  most: number,
  bold = false,
): NoteLine[] {
  const indent = sign ? SIGN : 0;
  return text.wrap(words, width - indent, SMALL, most, bold).map((line, at) => ({
    text: line,
    sign: at ? "" : sign,
    isFault: sign === "problem",
    bold,
    indent,
  }));
}

export function boxOf(panel: Panel, section: PlacedSection, { row, first, end, part }: Segment) {
  const { bytes, bottom } = section.rows[row]!;
  const start = row * ROW + first === part.offset ? panel.inset : 0;
  const stop = row * ROW + end === part.offset + part.size ? panel.inset : 0;
  const left = panel.x + first * panel.cell + start;
  return {
    x: left,
    y: section.top + bytes,
    width: panel.x + end * panel.cell - stop - left,
    height: bottom - bytes,
  };
}

/** Lines from rows of values in the first layout to their place in the second. */
function movesOf([first, second]: readonly Panel[]): Move[] {
  if (!first || !second) return [];
  const moves: Move[] = [];
  for (const section of second.sections) {
    for (const segment of section.segments) {
      const { part, isNamed } = segment;
      if (!isNamed || !part.mark || segment.first > 0) continue;
      const before = first.sections[section.index];
      const was = before?.segments.find(
        (segment) => segment.isNamed && segment.part.path === part.path,
      );
      if (!before || !was || was.end < ROW || was.part.offset === part.offset) continue;
      const [a, b] = [boxOf(first, before, was), boxOf(second, section, segment)];
      moves.push({
        from: [a.x + a.width, a.y + a.height / 2],
        to: [b.x, b.y + b.height / 2],
        part,
      });
    }
  }
  return moves;
}

export function hoverOf(panel: Panel): HoverText[] {
  return panel.sections.flatMap((section) =>
    section.segments.map((segment) => {
      const { part } = segment;
      const head = part.path ? `${part.path}: ${part.type}` : `padding: ${part.type}`;
      const lines = [`${head}, bytes ${part.offset} to ${part.offset + part.size - 1}`];
      if (part.value) lines.push(`holds ${part.value}`);
      if (part.problem) lines.push(`impossible: ${part.problem}`);
      if (part.mark) lines.push(`against ${panel.info.against}: ${part.mark}`);
      return { ...boxOf(panel, section, segment), text: lines.join("\n") };
    }),
  );
}
