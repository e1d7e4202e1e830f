import type { Cells, Tile } from "../../shared/client/tensor_questions.ts";
import type { Box } from "./layout.ts";
import {
  colorCells,
  type DrawCells,
  MARK_FROM,
  type Paint,
  paintCellSigns,
} from "./plane_painter.ts";

interface Painted extends Paint {
  special: boolean;
  canvas: HTMLCanvasElement;
}

const painted = new WeakMap<Tile, Painted>();

/** The cells of a tile in colors; kept until other colors are wanted. */
export function tileImage(tile: Tile, paint: Paint, size: number): HTMLCanvasElement {
  const special = size >= MARK_FROM;
  const known = painted.get(tile);
  const same =
    known?.scale === paint.scale && known.cells === paint.cells && known.special === special;
  if (same) return known.canvas;
  const canvas = known?.canvas ?? document.createElement("canvas");
  if (canvas.width !== tile.cols) canvas.width = tile.cols;
  if (canvas.height !== tile.rows) canvas.height = tile.rows;
  const image = new ImageData(colorCells(tile, paint, size), tile.cols, tile.rows);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  painted.set(tile, { ...paint, special, canvas });
  return canvas;
}

/** Draws tiles on a canvas, larger cells with sharp edges. */
export function canvasCells(context: CanvasRenderingContext2D, paint: Paint): DrawCells {
  return (tile, size, { x, y, width, height }) => {
    context.imageSmoothingEnabled = size * (devicePixelRatio || 1) < 1;
    context.drawImage(tileImage(tile, paint, size), x, y, width, height);
  };
}

/** Draws cells into a box, and a sign on each that is not finite where it is large enough. */
export function paintCells(
  context: CanvasRenderingContext2D,
  box: Box,
  cells: Cells & { rows: number; cols: number },
  paint: Paint,
): void {
  const { rows, cols } = cells;
  const size = Math.min(box.width / cols, box.height / rows);
  const canvas = new OffscreenCanvas(cols, rows);
  canvas
    .getContext("2d")
    ?.putImageData(new ImageData(colorCells(cells, paint, size), cols, rows), 0, 0);
  context.imageSmoothingEnabled = size * (devicePixelRatio || 1) < 1;
  context.drawImage(canvas, box.x, box.y, box.width, box.height);
  paintCellSigns(context, box, cells);
}
