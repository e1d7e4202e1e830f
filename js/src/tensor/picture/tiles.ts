import type { TensorRequest, Tile } from "../../shared/client/tensor_questions.ts";
import { inSight, isWhole, type PlaneLayout } from "./plane_layout.ts";

const LIMIT_BYTES = 64e6;
/** Bytes of a cell's flags and of the colors it was painted with. */
const CELL_BYTES = 5;
/** Share of the visible part that is also requested beyond its edges. */
const MARGIN = 0.25;

/** Requested cells for the visible part: on the grid of the steps, or all of the plane. */
export function wantedFor(layout: PlaneLayout): Pick<TensorRequest, "part" | "rows" | "cols"> {
  const { rowStep, colStep, planeRows, planeCols, kind } = layout;
  const cells = (rows: number, cols: number) => ({
    rows: Math.ceil(rows / rowStep),
    cols: Math.ceil(cols / colStep),
  });
  if (isWhole(layout)) return { part: null, ...cells(planeRows, planeCols) };
  const [row, col, rows, cols] = inSight(layout);
  const along = (first: number, seen: number, step: number, length: number) => {
    const more = Math.ceil(seen * MARGIN);
    const start = Math.max(0, Math.floor((first - more) / step) * step);
    return [start, Math.min(length, Math.ceil((first + seen + more) / step) * step)] as const;
  };
  const [top, bottom] = kind === "profile" ? [0, 1] : along(row, rows, rowStep, planeRows);
  const [left, right] = along(col, cols, colStep, planeCols);
  const [height, width] = [bottom - top, right - left];
  return { part: [top, left, height, width], ...cells(height, width) };
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
  readonly #kept = new Map<string, Tile[]>();
  #bytes = 0;

  constructor(readonly limit = LIMIT_BYTES) {}

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
      if (this.#bytes <= this.limit) break;
      while (tiles.length > (oldest === plane ? 1 : 0) && this.#bytes > this.limit) {
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
