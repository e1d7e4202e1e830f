/** Pictures of a part of a plane of values that the page holds. */
import {
  type Cells,
  emptyCells,
  isTurned,
  type Span,
  setCell,
  spanOf,
  sumsOf,
} from "./stored_cells.ts";
import type { Place, Plane } from "./stored_plane.ts";
import type { Question } from "./stored_question.ts";
import type { Scalars } from "./stored_scalars.ts";

const MOST_CELLS = 2 ** 20;
export const MOST_SIDE = 8192;

/** Where the cells of a picture lie, as the wire names it. */
export interface Grid {
  row: number;
  col: number;
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
}

/** At most so many rows and columns of cells, of so many pictures. */
export function askedCells(question: Question, pictures = 1): [rows: number, cols: number] {
  const rows = question.integer("rows", 1, MOST_SIDE);
  const cols = question.integer("cols", 1, MOST_SIDE);
  if (rows * cols * pictures > MOST_CELLS) {
    throw new Error(`an answer has at most ${MOST_CELLS} cells, asked for ${rows} x ${cols}`);
  }
  return [rows, cols];
}

export type Part = [row: number, col: number, rows: number, cols: number];

export function askedPart(plane: Plane, question: Question): Part {
  if (!question.has("part")) return [0, 0, plane.rows, plane.cols];
  const [row, col, rows, cols] = question.integers("part", 4) as Part;
  if (!rows || !cols) throw new Error(`part has no values: ${rows} x ${cols}`);
  const [top, left] = [Math.min(row, plane.rows - 1), Math.min(col, plane.cols - 1)];
  return [top, left, Math.min(rows, plane.rows - top), Math.min(cols, plane.cols - left)];
}

export function spansOf(
  plane: Plane,
  [row, col, height, width]: Part,
  [rows, cols]: [number, number],
): [down: Span, across: Span] {
  return [spanOf(row, height, plane.rows, rows), spanOf(col, width, plane.cols, cols)];
}

export function gridOf([down, across]: [Span, Span]): Grid {
  return {
    row: down.start,
    col: across.start,
    rows: down.cells,
    cols: across.cells,
    rowStep: down.step,
    colStep: across.step,
  };
}

/** Every value of each cell is looked at. */
export function picture(
  scalars: Scalars,
  plane: Plane,
  place: Place,
  [down, across]: [Span, Span],
): Cells {
  const cells = emptyCells(down.cells * across.cells);
  const turned = isTurned(plane);
  for (let row = 0; row < down.cells; row++) {
    const rows = cut(place.down, down, row);
    for (let col = 0; col < across.cells; col++) {
      const cols = cut(place.across, across, col);
      const [lower, higher] = turned ? [cols, rows] : [rows, cols];
      const sums = sumsOf(scalars, { first: place.first, lower, higher });
      setCell(cells, row * across.cells + col, sums);
    }
  }
  return cells;
}

function cut(offsets: Float64Array, span: Span, cell: number): Float64Array {
  const from = span.start + cell * span.step;
  return offsets.subarray(from, Math.min(from + span.step, span.stop));
}
