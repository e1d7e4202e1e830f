import type { Client } from "../../shared/client/client.ts";
import { isAbort } from "../../shared/client/request.ts";
import type { PlaneView, TensorAnswer, Tile } from "../../shared/client/tensor_questions.ts";
import type { Region } from "../state.ts";
import { inSight, isWhole, type PlaneLayout } from "./plane_layout.ts";

const LIMIT_BYTES = 64e6;
/** Bytes of a cell's flags and of the colors it was painted with. */
const CELL_BYTES = 5;
/** Share of the visible part that is also requested beyond its edges. */
const MARGIN = 0.25;

/** Request for the visible part: a part on the grid of the steps, null for all of the plane. */
export interface WantedCells {
  part: Region | null;
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
}

export function wantedFor(layout: PlaneLayout): WantedCells {
  const { rowStep, colStep, planeRows, planeCols, kind } = layout;
  const whole = {
    part: null,
    rows: Math.ceil(planeRows / rowStep),
    cols: Math.ceil(planeCols / colStep),
    rowStep,
    colStep,
  };
  if (isWhole(layout)) return whole;
  const [row, col, rows, cols] = inSight(layout);
  const along = (first: number, seen: number, step: number, length: number) => {
    const more = Math.ceil(seen * MARGIN);
    const start = Math.max(0, Math.floor((first - more) / step) * step);
    return [start, Math.min(length, Math.ceil((first + seen + more) / step) * step)] as const;
  };
  const [top, bottom] = kind === "profile" ? [0, 1] : along(row, rows, rowStep, planeRows);
  const [left, right] = along(col, cols, colStep, planeCols);
  return {
    part: [top, left, bottom - top, right - left],
    rows: Math.ceil((bottom - top) / rowStep),
    cols: Math.ceil((right - left) / colStep),
    rowStep,
    colStep,
  };
}

/** True if a tile covers the visible part at full resolution. */
export function serves(tile: Tile, layout: PlaneLayout): boolean {
  return covers(tile, layout) && tile.rowStep <= layout.rowStep && tile.colStep <= layout.colStep;
}

function covers(tile: Tile, layout: PlaneLayout): boolean {
  const [row, col, rows, cols] = inSight(layout);
  return (
    tile.row <= row &&
    tile.col <= col &&
    tile.row + tile.rows * tile.rowStep >= row + rows &&
    tile.col + tile.cols * tile.colStep >= col + cols
  );
}

/** Cached tiles by plane; beyond a number of bytes the least recently used ones go. */
export class PlaneTiles {
  readonly #limit: number;
  readonly #kept = new Map<string, Tile[]>();
  #bytes = 0;

  constructor(limit = LIMIT_BYTES) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(plane: string, tile: Tile): void {
    const same = (other: Tile) =>
      other.row === tile.row &&
      other.col === tile.col &&
      other.rowStep === tile.rowStep &&
      other.colStep === tile.colStep &&
      other.rows <= tile.rows &&
      other.cols <= tile.cols;
    const kept = this.#use(plane);
    const stay = kept.filter((other) => !same(other) || (other.exact && !tile.exact));
    for (const gone of kept) if (!stay.includes(gone)) this.#bytes -= bytesOf(gone);
    stay.push(tile);
    this.#kept.set(plane, stay);
    this.#bytes += bytesOf(tile);
    for (const [oldest, tiles] of this.#kept) {
      if (this.#bytes <= this.#limit) break;
      while (tiles.length > (oldest === plane ? 1 : 0) && this.#bytes > this.#limit) {
        this.#bytes -= bytesOf(tiles.shift()!);
      }
      if (tiles.length === 0) this.#kept.delete(oldest);
    }
  }

  /** The coarsest tile that serves; exact ones come before sampled ones. */
  find(plane: string, layout: PlaneLayout): Tile | null {
    const fit = this.#use(plane).filter((tile) => serves(tile, layout));
    fit.sort((a, b) => Number(b.exact) - Number(a.exact) || stepOf(b) - stepOf(a));
    return fit[0] ?? null;
  }

  /** Tiles to draw: one that serves, else all, the finest and exact ones last. */
  toDraw(plane: string, layout: PlaneLayout): Tile[] {
    const best = this.find(plane, layout);
    if (best) return [best];
    const all = [...this.#use(plane)];
    return all.sort((a, b) => stepOf(b) - stepOf(a) || Number(a.exact) - Number(b.exact));
  }

  whole(plane: string): Tile | null {
    const holds = ({ row, col, rows, cols, rowStep, colStep, planeRows, planeCols }: Tile) =>
      row === 0 && col === 0 && rows * rowStep >= planeRows && cols * colStep >= planeCols;
    return this.#kept.get(plane)?.find(holds) ?? null;
  }

  #use(plane: string): Tile[] {
    const kept = this.#kept.get(plane);
    if (!kept) return [];
    this.#kept.delete(plane);
    this.#kept.set(plane, kept);
    return kept;
  }
}

function stepOf(tile: Tile): number {
  return tile.rowStep * tile.colStep;
}

/** Cells of one value share their arrays. */
function bytesOf({ rows, cols, minimum, maximum, mean }: Tile): number {
  const numbers = new Set([minimum, maximum, mean]).size;
  return rows * cols * (CELL_BYTES + numbers * mean.BYTES_PER_ELEMENT);
}

const BUSY_MS = 150;
const IN_FLIGHT = 2;

export interface PictureRequestEvents {
  /** Called with a picture to show, from an answer or from the cache. */
  answered: (answer: TensorAnswer) => void;
  failed: (error: unknown) => void;
  /** Called with true once an answer takes noticeably long. */
  busy: (busy: boolean) => void;
  /** Called with true while all values are read, after a sample was shown. */
  refining: (refining: boolean) => void;
}

interface TileQuestion {
  view: PlaneView;
  wanted: WantedCells;
}

/** Requests pictures: a sample first if that is quicker, then every value; the newest request wins. */
export class PictureRequests {
  readonly #run: Client;
  readonly #events: PictureRequestEvents;
  readonly #signal: AbortSignal;
  #gone = new AbortController();
  #exact = new AbortController();
  #waiting: ((mine: boolean) => void) | null = null;
  #flying = 0;
  #ticket = 0;
  /** The newest request whose answer or error is shown. */
  #shown = 0;
  #last: TileQuestion | null = null;

  constructor(run: Client, events: PictureRequestEvents, signal: AbortSignal) {
    this.#run = run;
    this.#events = events;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.forget());
  }

  forget(): void {
    this.#gone.abort();
    this.#gone = new AbortController();
    this.settle();
  }

  /** Ignores replies that are still in flight. */
  settle(): void {
    this.#ticket += 1;
    this.#shown = this.#ticket;
    this.#waiting?.(false);
    this.#waiting = null;
    this.#last = null;
    this.stop();
    this.#events.busy(false);
  }

  stop(): void {
    this.#exact.abort();
    this.#exact = new AbortController();
    this.#events.refining(false);
  }

  isRequested(view: PlaneView, wanted: WantedCells): boolean {
    return JSON.stringify(this.#last) === JSON.stringify({ view, wanted });
  }

  /** Waits for `beside` too, so that both are shown at once. */
  async ask(
    view: PlaneView,
    wanted: WantedCells,
    beside: Promise<unknown> | null,
    toTheEnd: boolean,
  ): Promise<void> {
    this.stop();
    this.#last = { view, wanted };
    const ticket = ++this.#ticket;
    const busy = setTimeout(() => this.#events.busy(true), BUSY_MS);
    try {
      const answer = await this.#send(this.#last, false, this.#gone.signal);
      await beside;
      if (!answer || ticket < this.#shown) return;
      this.#shown = ticket;
      this.#events.answered(answer);
      const sampled = answer.tile !== null && !answer.tile.exact;
      if (sampled && toTheEnd && ticket === this.#ticket) this.refine(view, wanted);
    } catch (error) {
      if (isAbort(error) || ticket !== this.#ticket) return;
      this.#shown = ticket;
      this.#events.failed(error);
    } finally {
      clearTimeout(busy);
      if (ticket === this.#ticket) this.#events.busy(false);
    }
  }

  get idle(): boolean {
    return this.#flying === 0;
  }

  async counted<T>(question: () => Promise<T>): Promise<T> {
    this.#flying += 1;
    try {
      return await question();
    } finally {
      this.#flying -= 1;
      const next = this.#waiting;
      this.#waiting = null;
      next?.(true);
    }
  }

  /** Requests the exact picture of a shown sample. */
  async refine(view: PlaneView, wanted: WantedCells): Promise<void> {
    this.stop();
    const ticket = this.#ticket;
    const { signal } = this.#exact;
    this.#last = { view, wanted };
    this.#events.refining(true);
    try {
      const answer = await this.#send(
        this.#last,
        true,
        AbortSignal.any([signal, this.#gone.signal]),
      );
      if (answer && ticket === this.#ticket && !signal.aborted) this.#events.answered(answer);
    } catch (error) {
      if (isAbort(error) || ticket !== this.#ticket || signal.aborted) return;
      this.#events.failed(error);
    } finally {
      if (!signal.aborted) this.#events.refining(false);
    }
  }

  /** Null if a newer request took over. */
  async #send(
    { view, wanted: { part, rows, cols } }: TileQuestion,
    exact: boolean,
    gone: AbortSignal,
  ): Promise<TensorAnswer | null> {
    if (this.#flying >= IN_FLIGHT && !(await this.#turn())) return null;
    const signal = AbortSignal.any([this.#signal, gone]);
    return this.counted(() =>
      this.#run.ask("tensor", { ...view, part, rows, cols, exact }, signal),
    );
  }

  /** Waits until a request may be sent; false if a newer one came meanwhile. */
  #turn(): Promise<boolean> {
    this.#waiting?.(false);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
