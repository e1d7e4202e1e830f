/** Pictures of a part of a plane of values that the page holds. */
import {
  type Cells,
  emptyCells,
  isTurned,
  isWide,
  merged,
  type Span,
  type Sums,
  setCell,
  spanOf,
  sumsOf,
} from "./cells.ts";
import type { Place, Plane } from "./plane.ts";
import type { Question } from "./question.ts";
import type { Scalars } from "./scalars.ts";

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

/** A picture of a plane, and whether every value was looked at. */
export interface Shown {
  exact: boolean;
  grid: Grid;
  cells: Cells;
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
export function picture(scalars: Scalars, plane: Plane, place: Place, spans: [Span, Span]): Shown {
  const [down, across] = spans;
  const cells = emptyCells(down.cells * across.cells, scalars.wide);
  const turned = isTurned(plane);
  for (let row = 0; row < down.cells; row++) {
    const rows = cut(place.down, down, row);
    for (let col = 0; col < across.cells; col++) {
      const cols = cut(place.across, across, col);
      const [lower, higher] = turned ? [cols, rows] : [rows, cols];
      const block = { first: place.first, lower, higher };
      setCell(cells, row * across.cells + col, sumsOf(scalars, block));
    }
  }
  return { exact: true, grid: gridOf(spans), cells };
}

/** The same with several cells merged into one where there are more than so many down or across. */
export function coarser(
  { exact, grid, cells }: Shown,
  plane: Plane,
  most: [number, number],
): Shown {
  const [downBy, acrossBy] = [Math.ceil(grid.rows / most[0]), Math.ceil(grid.cols / most[1])];
  if (downBy === 1 && acrossBy === 1) return { exact, grid, cells };
  const [rows, cols] = [Math.ceil(grid.rows / downBy), Math.ceil(grid.cols / acrossBy)];
  const found = emptyCells(rows * cols, isWide(cells));
  for (let at = 0; at < rows * cols; at++) {
    const [top, left] = [Math.floor(at / cols) * downBy, (at % cols) * acrossBy];
    const all: Sums[] = [];
    for (let row = top; row < Math.min(top + downBy, grid.rows); row++) {
      for (let col = left; col < Math.min(left + acrossBy, grid.cols); col++) {
        const high = Math.min(grid.rowStep, plane.rows - row * grid.rowStep);
        const wide = Math.min(grid.colStep, plane.cols - col * grid.colStep);
        all.push(sumsOfCell(cells, row * grid.cols + col, high * wide));
      }
    }
    setCell(found, at, merged(all));
  }
  const steps = { rowStep: grid.rowStep * downBy, colStep: grid.colStep * acrossBy };
  return { exact, grid: { ...grid, rows, cols, ...steps }, cells: found };
}

/** As far as a cell tells them: that some of its values are not finite, but not how many. */
function sumsOfCell(cells: Cells, at: number, size: number): Sums {
  const [low, high, flags] = [cells.minimum[at]!, cells.maximum[at]!, cells.flags[at]!];
  if (Number.isNaN(low)) return { low: Infinity, high: -Infinity, total: 0, count: 0, flags };
  return { low, high, total: cells.mean[at]! * size, count: size, flags };
}

function cut(offsets: Float64Array, span: Span, cell: number): Float64Array {
  const from = span.start + cell * span.step;
  return offsets.subarray(from, Math.min(from + span.step, span.stop));
}
