import type { Tile } from "../../shared/client/tensor_questions.ts";
import type { Point } from "../plane.ts";

/** The next cell of the picture behind `from` that holds a NaN or an infinity, round to the start; null without one. */
export function nextSpecial(tile: Tile, from: Point | null): Point | null {
  const cells = tile.flags.length;
  const { row, col } = from ?? { row: tile.row, col: tile.col - 1 };
  const [down, across] = [(row - tile.row) / tile.rowStep, (col - tile.col) / tile.colStep];
  const start = Math.floor(down) * tile.cols + Math.floor(across);
  for (let k = 1; k <= cells; k += 1) {
    const cell = (((start + k) % cells) + cells) % cells;
    if (!tile.flags[cell]) continue;
    return {
      row: tile.row + Math.floor(cell / tile.cols) * tile.rowStep,
      col: tile.col + (cell % tile.cols) * tile.colStep,
    };
  }
  return null;
}
