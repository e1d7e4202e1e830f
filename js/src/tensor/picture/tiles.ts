import type { Tile } from "../../shared/client/tensor_questions.ts";
import type { Region } from "../state.ts";
import { inSight, isWhole, type Layout } from "./layout.ts";

const LIMIT_BYTES = 64e6;
/** The flags of a cell and the colors it was painted with. */
const CELL_BYTES = 5;
/** Beyond each edge of what is in sight, this share of it is asked for with it. */
const MARGIN = 0.25;

/** The question for what is in sight: a part on the grid of the steps, null for all of the plane. */
export interface Wanted {
  part: Region | null;
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
}

export function wantedFor(layout: Layout): Wanted {
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

/** Whether a tile shows all that is in sight as finely as can be seen. */
export function serves(tile: Tile, layout: Layout): boolean {
  return covers(tile, layout) && tile.rowStep <= layout.rowStep && tile.colStep <= layout.colStep;
}

function covers(tile: Tile, layout: Layout): boolean {
  const [row, col, rows, cols] = inSight(layout);
  return (
    tile.row <= row &&
    tile.col <= col &&
    tile.row + tile.rows * tile.rowStep >= row + rows &&
    tile.col + tile.cols * tile.colStep >= col + cols
  );
}

/** The tiles that were answered, by plane, until they take too many bytes: then those not used for longest go. */
export class Tiles {
  readonly #limit: number;
  /** In the order of their last use. */
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

  /** The coarsest that serves, an exact one before a sampled one. */
  find(plane: string, layout: Layout): Tile | null {
    const fit = this.#use(plane).filter((tile) => serves(tile, layout));
    fit.sort((a, b) => Number(b.exact) - Number(a.exact) || stepOf(b) - stepOf(a));
    return fit[0] ?? null;
  }

  /** What can be drawn: one tile where it serves, else all there is, the finest and exact ones last. */
  toDraw(plane: string, layout: Layout): Tile[] {
    const best = this.find(plane, layout);
    if (best) return [best];
    const all = [...this.#use(plane)];
    return all.sort((a, b) => stepOf(b) - stepOf(a) || Number(a.exact) - Number(b.exact));
  }

  /** One that holds all of the plane. */
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

/** Cells of one value share their numbers. */
function bytesOf({ rows, cols, minimum, maximum, mean }: Tile): number {
  const numbers = new Set([minimum, maximum, mean]).size;
  return rows * cols * (CELL_BYTES + numbers * mean.BYTES_PER_ELEMENT);
}
