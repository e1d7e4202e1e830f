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
  return factor !== null && text.endsWith("(None)") ? ` factor ${factor}` : "";
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

/** R trials with one number on A axes; a scale of powers of two. */
export class TuningTiles {
  readonly info: TilesInfo;
  readonly rows: Int32Array;
  readonly costs: Float64Array;
  readonly #values: Float32Array;
  readonly #most: Float32Array;
  readonly #levels: readonly number[][];

  constructor({ info, rows, values, costs }: TileColumns) {
    this.info = info;
    this.rows = rows;
    this.costs = costs;
    this.#values = values;
    this.#most = new Float32Array(info.axes.length).fill(2);
    values.forEach((value, at) => {
      const axis = at % info.axes.length;
      if (value > this.#most[axis]!) this.#most[axis] = value;
    });
    this.#levels = info.axes.map((_, axis) => {
      const values = new Set(rows.map((_row, at) => this.value(at, axis)));
      return [...values].sort((a, b) => a - b);
    });
  }

  value(at: number, axis: number): number {
    return this.#values[at * this.info.axes.length + axis]!;
  }

  /** Distinct values of an axis, ascending. */
  levels(axis: number): readonly number[] {
    return this.#levels[axis]!;
  }

  /** Position of a value on an axis, 0 at the bottom, 1 at the top; zero lies below one. */
  share(value: number, axis: number): number {
    return Math.log2(1 + value) / Math.log2(1 + this.#most[axis]!);
  }
}

/** Distance of failed trials below the axis of costs, px. */
const FAILED_BELOW = 14;

export class TilesScene {
  width = 0;
  height = 0;
  /** Hovered row, or -1. */
  hovered = -1;
  readonly #low: number;
  readonly #high: number;
  readonly #ranks: Float64Array;

  constructor(readonly tiles: TuningTiles) {
    const valid = [...tiles.costs.keys()].filter((at) => tiles.costs[at]! > 0);
    valid.sort((a, b) => tiles.costs[a]! - tiles.costs[b]!);
    this.#ranks = new Float64Array(tiles.costs.length).fill(Number.NaN);
    for (const [rank, at] of valid.entries()) {
      this.#ranks[at] = rank / Math.max(1, valid.length - 1);
    }
    let [low, high] = [Number.POSITIVE_INFINITY, 0];
    for (const cost of tiles.costs) {
      if (!(cost > 0)) continue;
      low = Math.min(low, cost);
      high = Math.max(high, cost);
    }
    [this.#low, this.#high] = high > 0 ? [low, Math.max(high, low * 1.01)] : [1e-3, 1e-2];
  }

  get costs(): [low: number, high: number] {
    return [this.#low, this.#high];
  }

  /** Number of axes, including the cost. */
  get count(): number {
    return this.tiles.info.axes.length + 1;
  }

  x(axis: number): number {
    const [left, right] = [44, this.width - 64];
    return left + (this.count > 1 ? (axis / (this.count - 1)) * (right - left) : 0);
  }

  get top(): number {
    return 26;
  }

  get bottom(): number {
    return this.height - 20;
  }

  /** Rank of a trial among the valid ones: 0 the cheapest, 1 the most expensive; NaN if it failed. */
  rank(at: number): number {
    return this.#ranks[at]!;
  }

  /** The cheapest trials are on top, by powers of ten; failed ones below the axis. */
  y(at: number, axis: number): number {
    if (axis < this.count - 1) return this.yOf(this.tiles.value(at, axis), axis);
    const cost = this.tiles.costs[at]!;
    const share = Math.log(cost / this.#low) / Math.log(this.#high / this.#low);
    return cost > 0 ? this.top + share * (this.bottom - this.top) : this.bottom + FAILED_BELOW;
  }

  yOf(value: number, axis: number): number {
    return this.bottom - this.tiles.share(value, axis) * (this.bottom - this.top);
  }

  /** The line nearest to a point. */
  hit(x: number, y: number): number {
    const gap = this.count > 1 ? this.x(1) - this.x(0) : 1;
    const left = Math.min(this.count - 2, Math.max(0, Math.floor((x - this.x(0)) / gap)));
    const along = Math.min(1, Math.max(0, (x - this.x(left)) / gap));
    let [nearest, least] = [-1, 8];
    for (let at = 0; at < this.tiles.rows.length; at++) {
      const [from, to] = [this.y(at, left), this.y(at, left + 1)];
      const distance = Math.abs(from + (to - from) * along - y);
      if (distance < least) [nearest, least] = [at, distance];
    }
    return nearest;
  }
}

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
