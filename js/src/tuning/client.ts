import type { ColumnsReply } from "../shared/client/answers.ts";
import type { Client } from "../shared/client/client.ts";
import { NewestWins } from "../shared/client/request.ts";
import type { Columns } from "../shared/client/wire.ts";
import type { ErrorsBy, ErrorTableInfo, TrialScope, TuningColumns, TuningInfo } from "./data.ts";

/** A line of a loop nest, as in `answers/schedules.py`. */
export interface NestLineInfo {
  kind: "placeholders" | "attribute" | "loop" | "compute" | "note";
  depth: number;
  /** Text in `print(state)`. */
  text: string;
  /** Keyword of a loop: `for`, `parallel`, `blockIdx.x`; empty for other lines. */
  word: string;
  /** The split factor if the extent is unknown. */
  factor: number | null;
  /** Steps that made it. */
  steps: number[];
  /** Buffers used inside: `A: 64 elements`. */
  touches: string[];
}

export interface TileInfo {
  stage: string;
  axis: string;
  extent: number | null;
  /** From the outermost; null if unknown. */
  factors: (number | null)[];
  words: string[];
}

export interface ScheduleInfo {
  trial: number;
  title: string;
  /** Costs of all runs, error, build and run seconds, version, position in the file. */
  facts: [name: string, value: string][];
  lines: NestLineInfo[];
  steps: { code: string; text: string }[];
  tiles: TileInfo[];
  /** Origin of the loops, assumptions, and errors that TVM would report. */
  notes: string[];
  python: string;
}

/** Two schedules: rows of steps and of loops side by side. */
export interface ScheduleChange {
  titles: [string, string];
  steps: ScheduleChangeRow[];
  lines: ScheduleChangeRow[];
}

export interface ScheduleChangeRow {
  change: "same" | "changed" | "only A" | "only B";
  a: string;
  b: string;
}

/** Number shown after a line of unknown extent. */
export function factorText({ factor, text }: NestLineInfo): string {
  return factor !== null && text.endsWith("?)") ? ` factor ${factor}` : "";
}

/** Buffers used inside a loop, unless they equal those of the line above. */
export function newTouches(lines: readonly NestLineInfo[], at: number): string {
  const text = lines[at]!.touches.join(" · ");
  return text === lines[at - 1]?.touches.join(" · ") ? "" : text;
}

/** Keyword of a loop, and the rest of its line. */
export function lineParts({ word, text }: NestLineInfo): [word: string, rest: string] {
  return word && text.startsWith(word) ? [word, text.slice(word.length)] : ["", text];
}

/** Tile sizes of the trials of one task, for parallel coordinates. */
interface TilesInfo {
  /** Names of the axes: `i.1`, `unroll`. */
  axes: string[];
  /** Names the shown trials: those with the most common sequence of steps. */
  note: string;
}

export type TileColumns = Columns<"tuningTiles"> & { info: TilesInfo };

/** Replies of a tuning log as they travel; see `RunAnswers`. */
export interface TuningAnswers {
  /** In the first buffer. */
  code: null;
  tuning: ColumnsReply<TuningInfo>;
  schedule: ScheduleInfo;
  change: ScheduleChange;
  tiles: ColumnsReply<TilesInfo>;
  errors: ErrorTableInfo;
  select: ColumnsReply<{ caption: string }>;
}

export interface TuningReplies extends Pick<TuningAnswers, "schedule" | "change" | "errors"> {
  tuning: TuningColumns;
  tiles: TileColumns;
  /** The trials that a query finds, one byte each. */
  select: Columns<"tuningSelect"> & { info: { caption: string } };
}

export interface TuningQuestions {
  schedule: { trial: number };
  change: { a: number; b: number };
  errors: TrialScope & { by: ErrorsBy };
  tiles: { task: number };
  select: { query: string };
}

export type TuningClient = Client<TuningReplies, TuningQuestions>;

/** Asks for schedules, each once; of those asked for in quick succession only the newest is made. */
export function schedules(client: TuningClient): (trial: number) => Promise<ScheduleInfo> {
  const newest = new NewestWins();
  return (trial) =>
    client.once(`schedule ${trial}`, () => newest.ask(() => client.ask("schedule", { trial })));
}
