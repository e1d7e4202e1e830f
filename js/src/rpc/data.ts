/** A conversation, as `figures/rpc.py` describes it. */
export interface SequenceData {
  title: string;
  summary: string;
  notes: readonly string[];
  text: string;
  rows: readonly Row[];
  /** Rows that stand for messages which repeat. */
  loops: readonly { first: number; end: number; words: string }[];
  /** Time without a message before a row. */
  pauses: readonly { row: number; words: string }[];
  timed: boolean;
}

export type Row = MessageRow | { kind: "left out"; label: string };

export interface MessageRow {
  kind: "message";
  /** Who sends it. */
  side: Side;
  label: string;
  bytes: string;
  time: string;
  status: "ok" | "exception" | "damaged" | "desynchronised" | "incomplete";
  /** Row of the message that it answers, or -1. */
  replyTo: number;
  folded: number;
  hover: string;
}

export type Side = "client" | "server";

export function otherSide(side: Side): Side {
  return side === "client" ? "server" : "client";
}
