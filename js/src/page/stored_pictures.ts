/** Pictures of a part of a plane of stored values. */
import type { Floats } from "../shared/client/tensor_questions.ts";
import type { Columns } from "../shared/client/wire.ts";
import { counted } from "../shared/format.ts";
import { type Plane, planeCols, planeRows } from "../tensor/plane.ts";
import type { TensorQuestion } from "./stored_facts.ts";
import { placeOf, type StoredPlace, type StoredView } from "./stored_plane.ts";
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

/** What a picture is made of: adds what is at a place, a value or a finer cell. */
export interface CellSource {
  wide: boolean;
  add(sums: CellSums, at: number): void;
}

export function sourceOf({ value, wide }: Pick<Scalars, "value" | "wide">): CellSource {
  const add = (sums: CellSums, at: number) => {
    const found = value(at);
    if (Number.isFinite(found)) {
      if (found < sums.low) sums.low = found;
      if (found > sums.high) sums.high = found;
      sums.count += 1;
      sums.total += found;
    } else sums.flags |= Number.isNaN(found) ? 1 : found > 0 ? 2 : 4;
  };
  return { wide, add };
}

function sumsOf(
  source: CellSource,
  first: number,
  lower: Float64Array,
  higher: Float64Array,
): CellSums {
  const sums = { low: Infinity, high: -Infinity, total: 0, count: 0, flags: 0 };
  for (const row of higher) for (const col of lower) source.add(sums, first + row + col);
  return sums;
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
export function requestedCells(
  { rows, cols }: TensorQuestion,
  pictures = 1,
): [rows: number, cols: number] {
  if (!(rows >= 1 && cols >= 1 && rows * cols * pictures <= MOST_CELLS)) {
    throw new Error(`an answer has 1 to ${MOST_CELLS} cells, asked for ${rows} x ${cols}`);
  }
  return [rows, cols];
}

export type PlanePart = readonly [row: number, col: number, rows: number, cols: number];

export function requestedPart(plane: Plane, { part }: TensorQuestion): PlanePart {
  const [height, width] = [planeRows(plane), planeCols(plane)];
  const [row, col, rows, cols] = part ?? [0, 0, height, width];
  const [top, left] = [Math.min(row, height - 1), Math.min(col, width - 1)];
  return [top, left, Math.min(rows, height - top), Math.min(cols, width - left)];
}

export function spansOf(
  plane: Plane,
  [row, col, height, width]: PlanePart,
  [rows, cols]: [number, number],
): [down: CellSpan, across: CellSpan] {
  return [spanOf(row, height, planeRows(plane), rows), spanOf(col, width, planeCols(plane), cols)];
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

/** Picture in which everything is read; `turned` if rows are nearer to each other than columns. */
export function picture(
  source: CellSource,
  place: StoredPlace,
  spans: [CellSpan, CellSpan],
  turned = false,
): StoredPicture {
  const [down, across] = spans;
  const cells = emptyCells(down.cells * across.cells, source.wide);
  for (let row = 0; row < down.cells; row++) {
    const rows = cut(place.down, down, row);
    for (let col = 0; col < across.cells; col++) {
      const cols = cut(place.across, across, col);
      const [lower, higher] = turned ? [cols, rows].reverse() : [cols, rows];
      setCell(cells, row * across.cells + col, sumsOf(source, place.first, lower!, higher!));
    }
  }
  return { exact: true, grid: gridOf(spans), cells };
}

/** Merges cells of a picture of a complete plane that has too many down or across. */
export function coarser(shown: StoredPicture, plane: Plane, most: [number, number]): StoredPicture {
  const { exact, grid, cells } = shown;
  const spans: [CellSpan, CellSpan] = [
    spanOf(0, grid.rows, grid.rows, most[0]),
    spanOf(0, grid.cols, grid.cols, most[1]),
  ];
  if (spans.every(({ step }) => step === 1)) return shown;
  const add = (sums: CellSums, at: number) => {
    sums.flags |= cells.flags[at]!;
    if (Number.isNaN(cells.minimum[at]!)) return;
    const row = Math.floor(at / grid.cols) * grid.rowStep;
    const col = (at % grid.cols) * grid.colStep;
    const high = Math.min(grid.rowStep, planeRows(plane) - row);
    const count = high * Math.min(grid.colStep, planeCols(plane) - col);
    sums.low = Math.min(sums.low, cells.minimum[at]!);
    sums.high = Math.max(sums.high, cells.maximum[at]!);
    sums.total += cells.mean[at]! * count;
    sums.count += count;
  };
  const down = Float64Array.from({ length: grid.rows }, (_, row) => row * grid.cols);
  const across = Float64Array.from({ length: grid.cols }, (_, col) => col);
  const made = picture({ wide: isWide(cells), add }, { first: 0, down, across }, spans);
  const { rowStep, colStep } = made.grid;
  const steps = { rowStep: rowStep * grid.rowStep, colStep: colStep * grid.colStep };
  return { exact, grid: { ...made.grid, ...steps }, cells: made.cells };
}

function cut(offsets: Float64Array, span: CellSpan, cell: number): Float64Array {
  const from = span.start + cell * span.step;
  return offsets.subarray(from, Math.min(from + span.step, span.stop));
}

export type StoredPictures = Columns<"page pictures">;

/** Saved picture at a position, in any layout; throws for another plane. */
export function storedPicture(
  all: StoredPictures,
  saved: StoredView,
  at: StoredPlace,
): StoredPicture {
  const planes: string[] = [];
  const { shape, known } = saved;
  let first = 0;
  for (const [row, rows] of all.rows.entries()) {
    const axis = (side: Int32Array) => (side[row]! < 0 ? null : side[row]!);
    const axes = [axis(all.down), axis(all.across)] as const;
    const index = Array.from(all.index.subarray(row * shape.length, (row + 1) * shape.length));
    const place = placeOf(saved, { shape, axes, index });
    if (place.first === at.first) {
      if (same(place.down, at.down) && same(place.across, at.across)) {
        return cellsOf(all, row, first);
      }
      if (same(place.down, at.across) && same(place.across, at.down)) {
        return turned(cellsOf(all, row, first));
      }
    }
    planes.push(`[${index.map((at, axis) => (axes.includes(axis) ? ":" : at)).join(", ")}]`);
    first += rows * all.cols[row]!;
  }
  const shown = planes.slice(0, 8).join(" ");
  const more = planes.length > 8 ? ` and ${planes.length - 8} more` : "";
  const named = known ? ` in ${known.layout}` : "";
  throw new Error(
    `not in this page: this plane; only heatmaps of ${shown}${more}${named} were ` +
      'saved; open the dump, or save_html(share="tensors")',
  );
}

/** True if the indices of two axes are the same steps in the stored values. */
function same(a: Float64Array, b: Float64Array): boolean {
  return a.length === b.length && a.every((offset, at) => offset === b[at]);
}

function cellsOf(all: StoredPictures, row: number, first: number): StoredPicture {
  const [rows, cols] = [all.rows[row]!, all.cols[row]!];
  const part = <T extends Floats | Uint8Array>(values: T) =>
    values.subarray(first, first + rows * cols) as T;
  const { mean, minimum = mean, maximum = mean, flags = new Uint8Array(mean.length) } = all;
  return {
    exact: !all.sampled[row],
    grid: { row: 0, col: 0, rows, cols, rowStep: all.rowStep[row]!, colStep: all.colStep[row]! },
    cells: {
      minimum: part(minimum),
      maximum: part(maximum),
      mean: part(mean),
      flags: part(flags),
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
