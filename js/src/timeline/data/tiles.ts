import { isAbort } from "../../shared/client/request.ts";
import type { RunClient, TileColumns } from "../../shared/client/run_client.ts";
import { TILE_BINS } from "../../shared/client/timeline_columns.ts";
import type { Viewport } from "../../shared/drawing/viewport.ts";
import { Bins } from "./bins.ts";
import type { Slices } from "./slices.ts";

/** A view that still moves asks nothing. */
const REST_MS = 60;
const KEPT_BYTES = 24 << 20;
/** Slices that the kernel sends for a part of the time, and at most so many times as many are worth a question. */
const WINDOW = 200_000;
const HOPEFUL = 4;
/** What a window has beside the view, as a share of it: columns begin up to half a pixel beside. */
const MARGIN = 0.02;

interface Tile {
  level: number;
  number: number;
  bins: Bins;
  from: number;
  to: number;
  used: number;
}

/**
 * The bins that stand for slices which are not here: those of the first answer and, where a page cannot hold all
 * slices, tiles for the part in view and a screen to both sides, and the slices themselves where there are few.
 */
export class Tiles {
  /** Of all time. */
  readonly coarsest: readonly Bins[];
  readonly #slices: Slices;
  readonly #width: number;
  readonly #tiles = new Map<string, Tile>();
  #run: RunClient | null = null;
  #signal: AbortSignal | null = null;
  #changed: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #clock = 0;
  #wanted = "";
  /** Slices in a time of this length were too many for an answer. */
  #tooMany = Infinity;

  constructor(slices: Slices) {
    this.#slices = slices;
    const { columns, start, end } = slices;
    const { bins } = columns.info;
    this.#width = bins ? (end - start) / bins : 0;
    this.coarsest = bins ? [new Bins(columns, start, this.#width, bins)] : [];
  }

  /** From now on asks for what is in view; `changed` is called when more is here. */
  connect(run: RunClient, changed: () => void, signal: AbortSignal): void {
    if (this.#slices.columns.info.whole || this.#slices.columns.info.binsOnly) return;
    [this.#run, this.#changed, this.#signal] = [run, changed, signal];
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  /** Says what is in view, `step` nanoseconds a column; asks for what of it is not here once the view rests. */
  look({ start, end }: Viewport, step: number): void {
    const wanted = `${start} ${end} ${step}`;
    if (!this.#run || wanted === this.#wanted || this.#slices.holds(start, end)) return;
    this.#wanted = wanted;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#askTiles(start, end, step);
      this.#askWindow(start, end);
    }, REST_MS);
  }

  /** The bins for a part of the time, the coarsest first: later ones are finer. */
  bins(from: number, to: number, step: number): readonly Bins[] {
    const level = levelOf(step);
    const found = [...this.#tiles.values()].filter(
      (tile) => tile.from < to && tile.to > from && tile.level >= level - 1,
    );
    found.sort((a, b) => b.level - a.level);
    const near = found.slice(-100);
    for (const tile of near) tile.used = ++this.#clock;
    const finer = near.filter((tile) => 2 ** tile.level < this.#width);
    return [...this.coarsest, ...finer.map(({ bins }) => bins)];
  }

  /** The parts of [from, to] of which only bins wider than two columns are here. */
  missing(from: number, to: number, step: number): [from: number, to: number][] {
    if (this.#slices.holds(from, to) || this.#width <= 2 * step) return [];
    const level = levelOf(step) + 1;
    const fine = [...this.#tiles.values()].filter((tile) => tile.level <= level);
    fine.sort((a, b) => a.from - b.from);
    const found: [number, number][] = [];
    let since = from;
    for (const tile of fine) {
      if (tile.from > since && since < to) found.push([since, Math.min(to, tile.from)]);
      since = Math.max(since, tile.to);
    }
    if (since < to) found.push([since, to]);
    return found;
  }

  /** Asks for tiles until those in view and a screen to both sides are here, or the view is another. */
  async #askTiles(start: number, end: number, step: number): Promise<void> {
    const wanted = this.#wanted;
    const level = levelOf(step);
    const width = TILE_BINS * 2 ** level;
    const last = Math.floor(this.#slices.end / width);
    const at = (ns: number) => Math.min(last, Math.max(0, Math.floor(ns / width)));
    const span = end - start;
    const parts = [
      [at(start), at(end)],
      [at(end), at(end + span)],
      [at(start - span), at(start)],
    ] as const;
    try {
      for (const [low, high] of parts) {
        for (let tile = low; tile <= high; tile++) {
          if (this.#tiles.has(`${level} ${tile}`)) continue;
          const most = Math.min(high + 1, tile + this.#slices.columns.info.tiles);
          this.#keep(await this.#run!.tiles(level, tile, most, this.#signal!));
          if (this.#signal!.aborted) return;
          this.#changed?.();
          if (wanted !== this.#wanted) return;
        }
      }
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  async #askWindow(start: number, end: number): Promise<void> {
    const span = end - start;
    const { count } = this.#slices;
    const whole = this.#slices.end - this.#slices.start;
    if (span >= this.#tooMany || (span / whole) * count > HOPEFUL * WINDOW) return;
    const isFew = (span / whole) * count * 3 < WINDOW / HOPEFUL;
    const more = isFew ? span : span * MARGIN;
    const [from, to] = [start - more, end + more];
    try {
      const answer = await this.#run!.window(from, to, this.#signal!);
      if ("count" in answer) {
        this.#tooMany = (to - from) * Math.min(1, (WINDOW * 1.2) / answer.count);
        return;
      }
      this.#slices.fillWindow(answer, from, to);
      this.#changed?.();
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  #keep(answer: TileColumns): void {
    const { level, first, last, bins } = answer.info;
    const width = 2 ** level;
    const count = last - first;
    const from = first * TILE_BINS * width;
    const all = new Bins(answer, from, width, bins);
    for (let tile = first; tile < last; tile++) {
      this.#tiles.set(`${level} ${tile}`, {
        level,
        number: tile,
        bins: all,
        from: tile * TILE_BINS * width,
        to: (tile + 1) * TILE_BINS * width,
        used: ++this.#clock,
      });
    }
    const bytes = this.#slices.rows.length * TILE_BINS * 16;
    const most = Math.max(count * 2, Math.floor(KEPT_BYTES / bytes));
    const old = [...this.#tiles].sort(([, a], [, b]) => a.used - b.used);
    for (const [key] of old.slice(0, Math.max(0, this.#tiles.size - most))) this.#tiles.delete(key);
  }
}

/** Bins of 2^level nanoseconds are no wider than a column of `step`. */
function levelOf(step: number): number {
  return Math.max(0, Math.floor(Math.log2(step)));
}
