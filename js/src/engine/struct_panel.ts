import { type HoverText, LINE, SMALL } from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { counted } from "../shared/format.ts";
import { append, largest } from "../shared/many.ts";
import type { Box, InkPoint } from "./ink.ts";
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
  type StructFrame,
  type StructPart,
  segmentsOf,
} from "./struct_grid.ts";

const LEAST_CELL = 38;
const MOST_CELL = 64;
const BETWEEN = 34;
const OFFSET_LINE = 13;
const HEX_LINE = 15;
const SECTION_GAP = 10;
const NOTES = 12;
const SIGN = 14;

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
  cell: number;
  head: readonly NoteLine[];
  sections: readonly PlacedSection[];
  notes: readonly NoteLine[];
  notesTop: number;
}

interface PlacedSection {
  rows: readonly RowPlace[];
  segments: readonly PlacedSegment[];
  frames: readonly StructFrame[];
}

export interface PlacedSegment extends Segment {
  box: Box;
}

export interface Move {
  from: InkPoint;
  to: InkPoint;
  part: StructPart;
}

interface PanelArrangement {
  panels: readonly Panel[];
  moves: readonly Move[];
  bottom: number;
}

/** Height of a row's bytes in words. */
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
  let bottom = top - SECTION_GAP;
  for (let at = 0; at < layouts.length; at += beside) {
    const place = { left, top: bottom + SECTION_GAP, width };
    const band = placeBand(layouts.slice(at, at + beside), hasDump, place, text);
    append(panels, band);
    bottom = band[0]!.notesTop + largest(band.map(({ notes }) => notes.length)) * LINE;
  }
  return { panels, moves: movesOf(panels.slice(0, beside)), bottom };
}

function placeBand(
  band: readonly LayoutInfo[],
  hasDump: boolean,
  { left, top, width }: { left: number; top: number; width: number },
  text: TextWidths,
): Panel[] {
  const cell = Math.min(MOST_CELL, width / ROW);
  const drafts = band.map((info) => {
    const inset = 2 + FRAME_STEP * levelsOf(info.sections);
    const sections = info.sections.map((section) => segmentsOf(section, cell, inset, text));
    const [head, notes] = [headOf(info, width, text), notesOf(info, sections, width, text)];
    return { info, inset, sections, head, notes };
  });
  const rows: RowPlace[][] = [];
  let notesTop = top + largest(drafts.map(({ head }) => head.length)) * LINE + 4;
  for (let at = 0; at < largest(band.map(({ sections }) => sections.length)); at++) {
    const spaces = drafts
      .filter(({ sections }) => sections[at])
      .map(({ info, sections }) => rowSpaces(info.sections[at]!, sections[at]!))
      .reduce(joined, [] as RowSpace[]);
    rows.push(placeRows(spaces, bytesHeight(hasDump), notesTop));
    notesTop = rows[at]!.at(-1)!.bottom + SECTION_GAP;
  }
  return drafts.map(({ inset, sections, ...draft }, at) => {
    const x = left + at * (width + BETWEEN);
    const placed = sections.map((segments, index) => ({
      rows: rows[index]!,
      segments: segments.map((segment) => {
        return { ...segment, box: boxOf(segment, rows[index]![segment.row]!, x, cell, inset) };
      }),
      frames: draft.info.sections[index]!.frames,
    }));
    return { ...draft, x, top, cell, sections: placed, notesTop };
  });
}

function boxOf(
  { row, first, end, part }: Segment,
  { bytes, bottom }: RowPlace,
  left: number,
  cell: number,
  inset: number,
): Box {
  const start = row * ROW + first === part.offset ? inset : 0;
  const stop = row * ROW + end === part.offset + part.size ? inset : 0;
  const x = left + first * cell + start;
  return { x, y: bytes, width: left + end * cell - stop - x, height: bottom - bytes };
}

function headOf(info: LayoutInfo, width: number, text: TextWidths): NoteLine[] {
  const plain = { sign: "", isFault: false, indent: 0 } as const;
  return [
    { text: text.fit(info.label, width, 12, true), ...plain, bold: true },
    { text: text.fit(info.facts, width, SMALL), ...plain, bold: false },
    ...note(info.verdict, info.sense === "no" ? "problem" : info.sense, width, text),
  ];
}

function notesOf(
  info: LayoutInfo,
  sections: readonly Segment[][],
  width: number,
  text: TextWidths,
): NoteLine[] {
  const cut = sections.flat().filter(({ part, words }) => words.isCut && !part.problem);
  const heading = info.changes.length ? `Against ${info.against}` : "";
  const lines = [
    ...info.problems.flatMap((problem) => note(problem, "problem", width, text)),
    ...cut.flatMap(({ part }) => note(`${part.path} is ${part.value}`, "", width, text)),
    ...note(heading, "", width, text, 1, true),
    ...info.changes.flatMap((change) => note(change, "change", width, text)),
  ];
  const left = lines.length - NOTES;
  return left > 1
    ? [...lines.slice(0, NOTES), ...note(`and ${counted(left, "more line")}`, "", width, text)]
    : lines;
}

function note(
  words: string,
  sign: NoteLine["sign"],
  width: number,
  text: TextWidths,
  most = 3,
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

/** Lines from rows of values in the first layout to their place in the second. */
function movesOf([first, second]: readonly Panel[]): Move[] {
  if (!first || !second) return [];
  return second.sections.flatMap(({ segments }, index) =>
    segments.flatMap(({ part, isNamed, first: start, box: to }): Move[] => {
      if (!isNamed || !part.mark || start > 0) return [];
      const was = first.sections[index]?.segments.find(
        (segment) => segment.isNamed && segment.part.path === part.path,
      );
      if (!was || was.end < ROW || was.part.offset === part.offset) return [];
      const { x, y, width, height } = was.box;
      return [{ from: [x + width, y + height / 2], to: [to.x, to.y + to.height / 2], part }];
    }),
  );
}

export function hoverOf({ info, sections }: Panel): HoverText[] {
  return sections.flatMap(({ segments }) =>
    segments.map(({ part, box }) => {
      const { path, type, offset, size, value, problem, mark } = part;
      const lines = [`${path || "padding"}: ${type}, bytes ${offset} to ${offset + size - 1}`];
      if (value) lines.push(`holds ${value}`);
      if (problem) lines.push(`impossible: ${problem}`);
      if (mark) lines.push(`against ${info.against}: ${mark}`);
      return { ...box, text: lines.join("\n") };
    }),
  );
}
