import type { TensorAnswer } from "../shared/run_client.ts";
import type { Point } from "./plane.ts";

/** The next cell of the picture behind `from` that holds a NaN or an infinity, round to the start; null without one. */
export function nextSpecial(
  tile: NonNullable<TensorAnswer["tile"]>,
  from: Point | null,
): Point | null {
  const cells = tile.flags.length;
  const { row, col } = from ?? { row: 0, col: -1 };
  const start = Math.floor(row / tile.rowStep) * tile.cols + Math.floor(col / tile.colStep);
  for (let k = 1; k <= cells; k += 1) {
    const cell = (start + k + cells) % cells;
    if (!tile.flags[cell]) continue;
    return {
      row: Math.floor(cell / tile.cols) * tile.rowStep,
      col: (cell % tile.cols) * tile.colStep,
    };
  }
  return null;
}
