import { SMALL } from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { largest } from "../shared/many.ts";

/** A struct in several layouts; see `tvmdbg_widgets/figures/struct.py`. */
export interface StructReply {
  text: string;
  layouts: readonly LayoutInfo[];
  /** Values of the struct in a dump. */
  bytes?: DataView;
}

export interface LayoutInfo {
  label: string;
  facts: string;
  size: number;
  align: number;
  verdict: string;
  /** Whether the dump makes sense in this layout; empty if unknown. */
  sense: "yes" | "no" | "";
  against: string;
  changes: readonly string[];
  problems: readonly string[];
  sections: readonly Section[];
}

export interface Section {
  size: number;
  parts: readonly StructPart[];
  frames: readonly StructFrame[];
}

export interface StructPart {
  name: string;
  path: string;
  type: string;
  short: string;
  offset: number;
  size: number;
  color: number;
  /** Difference from the first layout, in a few letters. */
  mark: string;
  value: string;
  problem: string;
}

export interface StructFrame {
  name: string;
  type: string;
  offset: number;
  size: number;
  depth: number;
}

/** Bytes of a row: the size of a pointer. */
export const ROW = 8;
export const TEXT_LINE = 14;
export const FRAME_STEP = 1.5;
const GAP = 5;
const PAD = 4;
const AIR = 2;

export interface Segment {
  part: StructPart;
  row: number;
  /** Bytes of the row, 0 … 7: the first, and one after the last. */
  first: number;
  end: number;
  isNamed: boolean;
  words: BlockWords;
}

export interface BlockWords {
  name: string;
  isBold: boolean;
  aside: string;
  type: string;
  value: string;
  isCut: boolean;
  mark: string;
}

/** Structure of a section's rows, common to layouts side by side. */
export interface RowSpace {
  /** Lines above the bytes: the names of structs that begin in the row. */
  frames: number;
  words: number;
}

const NO_WORDS: BlockWords = {
  ...{ name: "", aside: "", type: "", value: "", mark: "" },
  isBold: false,
  isCut: false,
};

export function levelsOf(sections: readonly Section[]): number {
  return largest(
    sections.flatMap(({ frames }) => frames.map(({ depth }) => depth + 1)),
    0,
  );
}

/**
 * The parts of a section in rows of eight bytes.
 *
 * @param cell   Width of a byte, px.
 * @param inset  Space between the edge of a part's first byte and its block.
 */
export function segmentsOf(
  section: Section,
  cell: number,
  inset: number,
  text: TextWidths,
): Segment[] {
  return section.parts.flatMap((part) => {
    const segments: Segment[] = [];
    for (let at = part.offset; at < part.offset + part.size; ) {
      const row = Math.floor(at / ROW);
      const stop = Math.min(part.offset + part.size, (row + 1) * ROW);
      const place = { first: at - row * ROW, end: stop - row * ROW };
      segments.push({ part, row, ...place, isNamed: false, words: NO_WORDS });
      at = stop;
    }
    const widest = largest(segments.map(({ first, end }) => end - first));
    const named = segments.find(({ first, end }) => end - first === widest)!;
    named.isNamed = true;
    named.words = wordsOf(part, widest * cell - 2 * (inset + AIR), text);
    return segments;
  });
}

function wordsOf(part: StructPart, room: number, text: TextWidths): BlockWords {
  const wide = (words: string, bold = false) => text.width(words, SMALL, bold);
  const full = !part.path && wide(part.name) > room ? "pad" : part.name;
  const isBold = wide(full, true) <= room;
  const name = text.fit(full, room, SMALL, isBold);
  const isCut = wide(part.value, true) > room;
  // The number itself comes before its meaning.
  const value = isCut ? text.fit(part.value.split(" ")[0]!, room, SMALL, true) : part.value;
  const left = room - wide(name, isBold) - 6;
  const mark = part.mark && wide(part.mark) <= left ? part.mark : "";
  const head = { name, isBold, value, isCut, mark };
  if (wide(part.type) <= left - (mark ? wide(mark) + 6 : 0)) {
    return { ...head, aside: part.type, type: "" };
  }
  const type = wide(part.type) <= room ? part.type : part.short || text.fit(part.type, room, SMALL);
  return { ...head, aside: "", type };
}

export function rowSpaces(section: Section, segments: readonly Segment[]): RowSpace[] {
  return Array.from({ length: Math.max(1, Math.ceil(section.size / ROW)) }, (_, row) => {
    const here = segments.filter((segment) => segment.row === row);
    const frames = section.frames.filter(({ offset }) => Math.floor(offset / ROW) === row);
    return {
      frames: new Set(frames.map(({ depth }) => depth)).size,
      words: largest(
        here.map(({ words }) => 1 + Number(!!words.type) + Number(!!words.value)),
        1,
      ),
    };
  });
}

export function joined(a: readonly RowSpace[], b: readonly RowSpace[]): RowSpace[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, row) => ({
    frames: Math.max(a[row]?.frames ?? 0, b[row]?.frames ?? 0),
    words: Math.max(a[row]?.words ?? 0, b[row]?.words ?? 0),
  }));
}

export interface RowPlace {
  top: number;
  bytes: number;
  bottom: number;
}

/** @param height Of offsets, and of the dump if there is one, px. */
export function placeRows(spaces: readonly RowSpace[], height: number, start = 0): RowPlace[] {
  let top = start;
  return spaces.map(({ frames, words }) => {
    const bytes = top + frames * TEXT_LINE;
    const place = { top, bytes, bottom: bytes + height + words * TEXT_LINE + PAD };
    top = place.bottom + GAP;
    return place;
  });
}

/** The bytes [first, end) of a struct in a row, or null. */
export function bytesInRow(frame: StructFrame, row: number): [first: number, end: number] | null {
  const first = Math.max(frame.offset, row * ROW);
  const end = Math.min(frame.offset + frame.size, (row + 1) * ROW);
  return first < end ? [first - row * ROW, end - row * ROW] : null;
}
