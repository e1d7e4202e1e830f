/** Pictures of a part of a plane of stored values. */
import type { Floats } from "../shared/client/tensor_questions.ts";
import type { Columns } from "../shared/client/wire.ts";
import { counted } from "../shared/format.ts";
import { largest, smallest } from "../shared/many.ts";
import { floats, type StoredData } from "./stored_data.ts";
import {
  placeOf,
  planeOf,
  type StoredPlace,
  type StoredPlane,
  type StoredView,
  same,
} from "./stored_plane.ts";
import type { Question } from "./stored_questions.ts";
import type { Scalars } from "./stored_scalars.ts";

export type StoredCells = { minimum: Floats; maximum: Floats; mean: Floats; flags: Uint8Array };

/** Cells of `step` values along an axis, which begin at multiples of the step. */
interface CellSpan {
  start: number;
  stop: number;
  step: number;
  cells: number;
}

/** The least step with which at most `most` cells touch a part of an axis. */
function spanOf(start: number, length: number, size: number, most: number): CellSpan {
  if (length < 1 || start + length > size) {
    throw new Error(`${counted(length, "value")} from ${start} of an axis of ${size}`);
  }
  let step = Math.ceil(length / most);
  const cells = () => Math.ceil((start + length) / step) - Math.floor(start / step);
  while (cells() > most) step += 1;
  return {
    start: Math.floor(start / step) * step,
    stop: Math.min(size, Math.ceil((start + length) / step) * step),
    step,
    cells: cells(),
  };
}

function isTurned({ axes: [down, across] }: Pick<StoredPlane, "axes">): boolean {
  return down !== null && across !== null && down > across;
}

/** `wide` for float64 values, whose magnitudes may exceed float32. */
export function emptyCells(count: number, wide: boolean): StoredCells {
  const numbers = () => (wide ? new Float64Array(count) : new Float32Array(count));
  return { minimum: numbers(), maximum: numbers(), mean: numbers(), flags: new Uint8Array(count) };
}

export function isWide({ mean }: StoredCells): boolean {
  return mean.BYTES_PER_ELEMENT === 8;
}

/** Summary of some values: bounds, sum and number of the finite ones, and flags. */
export interface CellSums {
  low: number;
  high: number;
  total: number;
  count: number;
  flags: number;
}

function sumsOf(
  scalars: Scalars,
  { first, lower, higher }: { first: number; lower: Float64Array; higher: Float64Array },
): CellSums {
  let [low, high, total, count, flags] = [Infinity, -Infinity, 0, 0, 0];
  for (const row of higher) {
    for (const col of lower) {
      const value = scalars.value(first + row + col);
      if (Number.isFinite(value)) {
        if (value < low) low = value;
        if (value > high) high = value;
        count += 1;
        total += value;
      } else flags |= Number.isNaN(value) ? 1 : value > 0 ? 2 : 4;
    }
  }
  return { low, high, total, count, flags };
}

function merged(all: readonly CellSums[]): CellSums {
  return {
    low: smallest(all.map(({ low }) => low)),
    high: largest(all.map(({ high }) => high)),
    count: all.reduce((sum, { count }) => sum + count, 0),
    flags: all.reduce((bits, { flags }) => bits | flags, 0),
    total: all.reduce((sum, { total }) => sum + total, 0),
  };
}

/** Sets a cell to sums; the mean is unknown if the sum overflows float64. */
export function setCell(cells: StoredCells, cell: number, summed: CellSums): void {
  const { low, high, total, count, flags } = summed;
  const mean = Number.isFinite(total) ? total / count : Number.NaN;
  cells.minimum[cell] = count ? low : Number.NaN;
  cells.maximum[cell] = count ? high : Number.NaN;
  cells.mean[cell] = count ? Math.min(high, Math.max(low, mean)) : Number.NaN;
  cells.flags[cell] = flags;
}

const MOST_CELLS = 2 ** 20;
const MOST_SIDE = 8192;

interface PictureGrid {
  row: number;
  col: number;
  rows: number;
  cols: number;
  rowStep: number;
  colStep: number;
}

export interface StoredPicture {
  exact: boolean;
  grid: PictureGrid;
  cells: StoredCells;
}

/** At most so many rows and columns of cells, of so many pictures. */
export function requestedCells(question: Question, pictures = 1): [rows: number, cols: number] {
  const rows = question.integer("rows", 1, MOST_SIDE);
  const cols = question.integer("cols", 1, MOST_SIDE);
  if (rows * cols * pictures > MOST_CELLS) {
    throw new Error(`an answer has at most ${MOST_CELLS} cells, asked for ${rows} x ${cols}`);
  }
  return [rows, cols];
}

export type PlanePart = [row: number, col: number, rows: number, cols: number];

export function requestedPart(plane: StoredPlane, question: Question): PlanePart {
  if (!question.has("part")) return [0, 0, plane.rows, plane.cols];
  const [row, col, rows, cols] = question.integers("part", 4) as PlanePart;
  if (!rows || !cols) throw new Error(`part has no values: ${rows} x ${cols}`);
  const [top, left] = [Math.min(row, plane.rows - 1), Math.min(col, plane.cols - 1)];
  return [top, left, Math.min(rows, plane.rows - top), Math.min(cols, plane.cols - left)];
}

export function spansOf(
  plane: StoredPlane,
  [row, col, height, width]: PlanePart,
  [rows, cols]: [number, number],
): [down: CellSpan, across: CellSpan] {
  return [spanOf(row, height, plane.rows, rows), spanOf(col, width, plane.cols, cols)];
}

function gridOf([down, across]: [CellSpan, CellSpan]): PictureGrid {
  return {
    row: down.start,
    col: across.start,
    rows: down.cells,
    cols: across.cells,
    rowStep: down.step,
    colStep: across.step,
  };
}

/** Picture in which every value is read. */
export function picture(
  scalars: Scalars,
  plane: StoredPlane,
  place: StoredPlace,
  spans: [CellSpan, CellSpan],
): StoredPicture {
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

/** Merges cells of a picture that has too many down or across. */
export function coarser(
  { exact, grid, cells }: StoredPicture,
  plane: StoredPlane,
  most: [number, number],
): StoredPicture {
  const [downBy, acrossBy] = [Math.ceil(grid.rows / most[0]), Math.ceil(grid.cols / most[1])];
  if (downBy === 1 && acrossBy === 1) return { exact, grid, cells };
  const [rows, cols] = [Math.ceil(grid.rows / downBy), Math.ceil(grid.cols / acrossBy)];
  const coarse = emptyCells(rows * cols, isWide(cells));
  for (let at = 0; at < rows * cols; at++) {
    const [top, left] = [Math.floor(at / cols) * downBy, (at % cols) * acrossBy];
    const all: CellSums[] = [];
    for (let row = top; row < Math.min(top + downBy, grid.rows); row++) {
      for (let col = left; col < Math.min(left + acrossBy, grid.cols); col++) {
        const high = Math.min(grid.rowStep, plane.rows - row * grid.rowStep);
        const wide = Math.min(grid.colStep, plane.cols - col * grid.colStep);
        all.push(sumsOfCell(cells, row * grid.cols + col, high * wide));
      }
    }
    setCell(coarse, at, merged(all));
  }
  const steps = { rowStep: grid.rowStep * downBy, colStep: grid.colStep * acrossBy };
  return { exact, grid: { ...grid, rows, cols, ...steps }, cells: coarse };
}

function sumsOfCell(cells: StoredCells, at: number, size: number): CellSums {
  const [low, high, flags] = [cells.minimum[at]!, cells.maximum[at]!, cells.flags[at]!];
  if (Number.isNaN(low)) return { low: Infinity, high: -Infinity, total: 0, count: 0, flags };
  return { low, high, total: cells.mean[at]! * size, count: size, flags };
}

function cut(offsets: Float64Array, span: CellSpan, cell: number): Float64Array {
  const from = span.start + cell * span.step;
  return offsets.subarray(from, Math.min(from + span.step, span.stop));
}

/** Saved picture at a position, in any layout; null if the tensor has none; throws for another plane. */
export function storedPicture(
  data: StoredData,
  variant: number,
  saved: StoredView,
  at: StoredPlace,
): StoredPicture | null {
  if (!data.has("pictures")) return null;
  const all = data.columns<"page pictures">("pictures");
  const planes: string[] = [];
  for (
    let row = all.variant.indexOf(variant);
    row >= 0;
    row = all.variant.indexOf(variant, row + 1)
  ) {
    const [down, across] = [all.down[row]!, all.across[row]!].map((axis) =>
      axis < 0 ? null : axis,
    );
    const index = Array.from(
      all.index.subarray(all.indexOffsets[row]!, all.indexOffsets[row + 1]!),
    );
    const plane = planeOf(saved.shape, [down!, across!], index);
    const place = placeOf(saved, plane);
    if (place.first === at.first) {
      if (same(place.down, at.down) && same(place.across, at.across)) {
        return cellsOf(data, all, row);
      }
      if (same(place.down, at.across) && same(place.across, at.down)) {
        return turned(cellsOf(data, all, row));
      }
    }
    planes.push(`[${index.map((at, axis) => (plane.axes.includes(axis) ? ":" : at)).join(", ")}]`);
  }
  if (!planes.length) return null;
  const shown = planes.slice(0, 8).join(" ");
  const more = planes.length > 8 ? ` and ${planes.length - 8} more` : "";
  const axes = saved.layout ? ` in ${saved.layout}` : "";
  throw new Error(
    `not in this page: this plane; only heatmaps of ${shown}${more}${axes} were ` +
      'saved; open the dump, or save_html(share="tensors")',
  );
}

function cellsOf(data: StoredData, all: Columns<"page pictures">, row: number): StoredPicture {
  const [rows, cols] = [all.rows[row]!, all.cols[row]!];
  const count = rows * cols;
  const wide = all.wide[row] === 1;
  const size = (wide ? 8 : 4) * count * (all.single[row] ? 1 : 3);
  const at = all.at[row]!;
  const numbers = floats(data.blob(at, size), wide);
  const part = (i: number) =>
    all.single[row] ? numbers : numbers.subarray(i * count, (i + 1) * count);
  return {
    exact: !all.sampled[row],
    grid: { row: 0, col: 0, rows, cols, rowStep: all.rowStep[row]!, colStep: all.colStep[row]! },
    cells: {
      minimum: part(0),
      maximum: part(1),
      mean: part(2),
      flags: all.flagged[row] ? data.blob(at + size, count) : new Uint8Array(count),
    },
  };
}

function turned({ exact, grid, cells }: StoredPicture): StoredPicture {
  const { rows, cols, rowStep, colStep } = grid;
  const turn = <T extends Floats | Uint8Array>(values: T): T =>
    values.map((_, to) => values[(to % rows) * cols + Math.floor(to / rows)]!) as T;
  return {
    exact,
    grid: { row: 0, col: 0, rows: cols, cols: rows, rowStep: colStep, colStep: rowStep },
    cells: {
      minimum: turn(cells.minimum),
      maximum: turn(cells.maximum),
      mean: turn(cells.mean),
      flags: turn(cells.flags),
    },
  };
}
