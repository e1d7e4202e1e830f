import { type HoverText, LINE, MARGIN, SMALL } from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { largest } from "../shared/many.ts";

/** A conversation, as in `figures/rpc.py`. */
export interface SequenceData {
  title: string;
  summary: string;
  notes: readonly string[];
  text: string;
  rows: readonly SequenceRow[];
  loops: readonly { first: number; end: number; words: string }[];
  pauses: readonly { row: number; words: string }[];
  timed: boolean;
}

export type SequenceRow = MessageRow | { kind: "left out"; label: string };

export interface MessageRow {
  kind: "message";
  side: Peer;
  label: string;
  bytes: string;
  time: string;
  status: "ok" | "exception" | "damaged" | "desynchronised" | "incomplete";
  replyTo: number;
  folded: number;
  hover: string;
}

export type Peer = "client" | "server";

export function otherSide(side: Peer): Peer {
  return side === "client" ? "server" : "client";
}

const ROW = 20;
const HEAD = 26;
const BAND = 8;
const BAND_LINES = 4;
export const BAR = 8;
const NEST = 4;
export const TIME = "time, s";
/** Share of the way of an incomplete message. */
export const SHORT = 0.8;
/** Space between neighbors. */
const GAP = 10;
/** Least visible length of an arrow on both sides of its label. */
const LEAST_ARROW = 22;

export interface PlacedRow {
  top: number;
  height: number;
  y: number;
  lines: readonly string[];
  depth: Record<Peer, number>;
}

export interface BusyBar {
  side: Peer;
  from: number;
  to: number;
  depth: number;
}

export interface Words {
  y: number;
  text: string;
}

export interface SequenceLayout {
  height: number;
  timeRight: number;
  bytesRight: number;
  lifelines: Record<Peer, number>;
  rows: readonly PlacedRow[];
  bars: readonly BusyBar[];
  loops: readonly { top: number; bottom: number; text: string }[];
  pauses: readonly Words[];
}

export function isBand({ status }: MessageRow): boolean {
  return status === "damaged" || status === "desynchronised";
}

export function layoutSequence(data: SequenceData, room: number, text: TextWidths): SequenceLayout {
  const messages = data.rows.filter((row) => row.kind === "message");
  const widest = (words: readonly string[]) =>
    largest(
      words.map((word) => text.width(word, SMALL)),
      0,
    );
  const timeWide = data.timed ? widest([TIME, ...messages.map(({ time }) => time)]) : 0;
  const bytesWide = widest(messages.map(({ bytes }) => bytes));
  const headWide = text.width("server", SMALL, true) / 2 + 8;
  const timeRight = MARGIN + timeWide;
  const bytesRight = MARGIN + room;
  const lifelines = {
    client: timeRight + (timeWide ? GAP : 0) + Math.max(headWide, 2 * GAP),
    server: bytesRight - bytesWide - GAP - Math.max(headWide, 2 * GAP),
  };
  const bars = barsOf(data);
  const loopAt = new Map(data.loops.map((loop) => [loop.first, loop]));
  const pauseAt = new Map(data.pauses.map(({ row, words }) => [row, words]));
  const ends = new Set(data.loops.map(({ end }) => end - 1));
  const span = lifelines.server - lifelines.client;
  const rows: PlacedRow[] = [];
  const pauses: Words[] = [];
  const tops = new Map<number, number>();
  const bottoms = new Map<number, number>();
  let y = HEAD + 4;
  data.rows.forEach((row, at) => {
    const pause = pauseAt.get(at);
    if (pause) {
      pauses.push({ y: y + ROW / 2, text: text.fit(pause, span - 2 * LEAST_ARROW, SMALL) });
      y += ROW;
    }
    if (loopAt.has(at)) {
      tops.set(at, y + 2);
      y += LINE + 2;
    }
    const band = row.kind === "message" && isBand(row);
    const lines = band
      ? text.wrap(
          `${row.side} → ${otherSide(row.side)}, ${row.status}: ${row.label}`,
          span - 4 * GAP,
          SMALL,
          BAND_LINES,
        )
      : [text.fit(labelOf(row), labelRoom(row, span), SMALL)];
    const height = band ? lines.length * LINE + 2 * BAND : ROW;
    const depth = { client: depthAt(bars, "client", at), server: depthAt(bars, "server", at) };
    rows.push({ top: y, height, y: y + height / 2, lines, depth });
    y += height;
    if (ends.has(at)) {
      bottoms.set(at, y + 2);
      y += 6;
    }
  });
  const loopWide = span + 2 * GAP - 16;
  return {
    height: y + 8,
    timeRight,
    bytesRight,
    lifelines,
    rows,
    bars,
    loops: data.loops.map(({ first, end, words }) => ({
      top: tops.get(first)!,
      bottom: bottoms.get(end - 1)!,
      text: text.fit(words, loopWide, SMALL),
    })),
    pauses,
  };
}

function labelRoom(row: SequenceData["rows"][number], span: number): number {
  const room = span - 2 * LEAST_ARROW - 3 * BAR;
  const isShort = row.kind === "message" && row.status === "incomplete";
  return isShort ? room - 2 * (1 - SHORT) * span + LEAST_ARROW : room;
}

function labelOf(row: SequenceData["rows"][number]): string {
  if (row.kind === "left out") return row.label;
  if (row.status === "exception") return `exception: ${row.label}`;
  return row.status === "incomplete" ? `incomplete: ${row.label}` : row.label;
}

function barsOf({ rows }: SequenceData): BusyBar[] {
  const bars: BusyBar[] = [];
  rows.forEach((row, to) => {
    const call = row.kind === "message" ? rows[row.replyTo] : undefined;
    if (row.kind !== "message" || call?.kind !== "message") return;
    bars.push({ side: otherSide(call.side), from: row.replyTo, to, depth: 0 });
  });
  bars.sort((a, b) => a.from - b.from || b.to - a.to);
  bars.forEach((bar, at) => {
    bar.depth = bars
      .slice(0, at)
      .filter(({ side, to }) => side === bar.side && to > bar.from).length;
  });
  return bars;
}

function depthAt(bars: readonly BusyBar[], side: Peer, row: number): number {
  return bars.filter((bar) => bar.side === side && bar.from <= row && row <= bar.to).length;
}

export function barLeft({ lifelines }: SequenceLayout, { side, depth }: BusyBar): number {
  return lifelines[side] - BAR / 2 + NEST * depth;
}

export function touch({ lifelines }: SequenceLayout, { depth }: PlacedRow, side: Peer): number {
  const bars = depth[side];
  if (!bars) return lifelines[side];
  const left = lifelines[side] - BAR / 2;
  return side === "server" ? left : left + BAR + NEST * (bars - 1);
}

export function hoverOf(
  data: SequenceData,
  { rows }: SequenceLayout,
  left: number,
  top: number,
  width: number,
): HoverText[] {
  return rows.flatMap((place, at) => {
    const row = data.rows[at]!;
    if (row.kind !== "message") return [];
    return [{ x: left, y: top + place.top, width, height: place.height, text: row.hover }];
  });
}
