import { LINE, MARGIN, SMALL } from "../shared/drawing/figure.ts";
import type { TextWidths } from "../shared/drawing/text_widths.ts";
import { largest } from "../shared/many.ts";

/** A conversation; see `tvmdbg_widgets/figures/sequence.py`. */
export interface SequenceReply {
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
  status: "ok" | "exception" | "damaged" | "out of sync" | "incomplete";
  replyTo: number;
  folded: number;
  hover: string;
}

export type Peer = "client" | "server";

function otherSide(side: Peer): Peer {
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

interface Place {
  top: number;
  height: number;
  y: number;
  lines: readonly string[];
  depth: Record<Peer, number>;
}

/** A message; `isBand` if it fills the way between both sides. */
export interface PlacedMessage extends MessageRow, Place {
  to: Peer;
  isBand: boolean;
}

export type PlacedRow = PlacedMessage | ({ kind: "left out"; label: string } & Place);

interface BusyBar {
  side: Peer;
  from: number;
  to: number;
  depth: number;
}

export interface SequenceLayout {
  timed: boolean;
  height: number;
  timeRight: number;
  bytesRight: number;
  lifelines: Record<Peer, number>;
  middle: number;
  rows: readonly PlacedRow[];
  bars: readonly BusyBar[];
  loops: readonly { top: number; bottom: number; text: string }[];
  pauses: readonly { y: number; text: string }[];
}

export function layoutSequence(
  { rows: given, loops, pauses, timed }: SequenceReply,
  room: number,
  text: TextWidths,
): SequenceLayout {
  const messages = given.filter((row) => row.kind === "message");
  const widest = (words: readonly string[]) =>
    largest(
      words.map((word) => text.width(word, SMALL)),
      0,
    );
  const timeWide = timed ? widest([TIME, ...messages.map(({ time }) => time)]) : 0;
  const bytesWide = widest(messages.map(({ bytes }) => bytes));
  const headWide = Math.max(text.width("server", SMALL, true) / 2 + 8, 2 * GAP);
  const timeRight = MARGIN + timeWide;
  const bytesRight = MARGIN + room;
  const client = timeRight + (timeWide ? GAP : 0) + headWide;
  const server = bytesRight - bytesWide - GAP - headWide;
  const span = server - client;
  const bars = barsOf(given);
  const rows: PlacedRow[] = [];
  const placedPauses: { y: number; text: string }[] = [];
  const placedLoops = loops.map(({ words }) => ({
    ...{ top: 0, bottom: 0 },
    text: text.fit(words, span + 2 * GAP - 16, SMALL),
  }));
  let y = HEAD + 4;
  given.forEach((row, at) => {
    for (const { words } of pauses.filter((pause) => pause.row === at)) {
      placedPauses.push({ y: y + ROW / 2, text: text.fit(words, span - 2 * LEAST_ARROW, SMALL) });
      y += ROW;
    }
    const opens = loops.findIndex(({ first }) => first === at);
    if (opens >= 0) {
      placedLoops[opens]!.top = y + 2;
      y += LINE + 2;
    }
    rows.push(placedRow(row, y, bars, at, span, text));
    y += rows[at]!.height;
    const closes = loops.findIndex(({ end }) => end === at + 1);
    if (closes >= 0) {
      placedLoops[closes]!.bottom = y + 2;
      y += 6;
    }
  });
  return {
    ...{ timed, height: y + 8, timeRight, bytesRight },
    lifelines: { client, server },
    middle: (client + server) / 2,
    ...{ rows, bars, loops: placedLoops, pauses: placedPauses },
  };
}

function placedRow(
  row: SequenceRow,
  top: number,
  bars: readonly BusyBar[],
  at: number,
  span: number,
  text: TextWidths,
): PlacedRow {
  const count = (side: Peer) =>
    bars.filter((bar) => bar.side === side && bar.from <= at && at <= bar.to).length;
  const depth = { client: count("client"), server: count("server") };
  const place = { top, height: ROW, y: top + ROW / 2, depth };
  const most = span - 2 * LEAST_ARROW - 3 * BAR;
  if (row.kind === "left out")
    return { ...row, ...place, lines: [text.fit(row.label, most, SMALL)] };
  const { status, label, side } = row;
  const to = otherSide(side);
  if (status === "damaged" || status === "out of sync") {
    const words = `${side} → ${to}, ${status}: ${label}`;
    const lines = text.wrap(words, span - 4 * GAP, SMALL, BAND_LINES);
    const height = lines.length * LINE + 2 * BAND;
    return { ...row, ...place, to, isBand: true, height, y: top + height / 2, lines };
  }
  const left = status === "incomplete" ? most - 2 * (1 - SHORT) * span + LEAST_ARROW : most;
  const lines = [text.fit(status === "ok" ? label : `${status}: ${label}`, left, SMALL)];
  return { ...row, ...place, to, isBand: false, lines };
}

/** Bars from calls to their answers. */
function barsOf(rows: readonly SequenceRow[]): BusyBar[] {
  const bars: BusyBar[] = [];
  rows.forEach((row, to) => {
    const call = row.kind === "message" ? rows[row.replyTo] : undefined;
    if (row.kind !== "message" || call?.kind !== "message") return;
    bars.push({ side: otherSide(call.side), from: row.replyTo, to, depth: 0 });
  });
  bars.sort((a, b) => a.from - b.from || b.to - a.to);
  bars.forEach((bar, at) => {
    const around = bars.slice(0, at).filter(({ side, to }) => side === bar.side && to > bar.from);
    bar.depth = around.length;
  });
  return bars;
}

type BarPlace = Pick<BusyBar, "side" | "depth">;

export function barLeft({ lifelines }: SequenceLayout, { side, depth }: BarPlace): number {
  return lifelines[side] - BAR / 2 + NEST * depth;
}

/** Where an arrow meets a side, or the bars there. */
export function touch(layout: SequenceLayout, { depth }: Place, side: Peer): number {
  const bars = depth[side];
  if (!bars) return layout.lifelines[side];
  if (side === "server") return layout.lifelines[side] - BAR / 2;
  return barLeft(layout, { side, depth: bars - 1 }) + BAR;
}
