/** Pictures of a part of a plane of stored values. */
import type { Cells, Tile } from "../shared/client/tensor_questions.ts";
import type { Columns } from "../shared/client/wire.ts";
import { counted } from "../shared/format.ts";
import { type Plane, planeCols, planeRows } from "../tensor/plane.ts";
import type { Region } from "../tensor/state.ts";
import { placeOf, type StoredPlace, type StoredView, type TensorQuestion } from "./stored_plane.ts";
import type { Scalars } from "./stored_scalars.ts";

type Name = keyof Cells;

/** Cells whose columns are made by name. */
export function eachColumn(make: (name: Name) => unknown): Cells {
  const names = ["minimum", "maximum", "mean", "flags"] as const;
  return Object.fromEntries(names.map((name) => [name, make(name)])) as unknown as Cells;
}

/** Cells of `step` values along an axis, which begin at multiples of the step. */
interface CellSpan {
  start: number;
  stop: number;
  step: number;
  cells: number;
}

/** The least step with which at most `most` cells touch a part of an axis. */
function spanOf(start: number, length: number, size: number, most: number): CellSpan {
  if (!(most >= 1 && length >= 1 && start + length <= size)) {
    throw new Error(`${most} cells of ${counted(length, "value")} from ${start} of ${size}`);
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
export function emptyCells(count: number, wide: boolean): Cells {
  const numbers = wide ? Float64Array : Float32Array;
  return eachColumn((name) => new (name === "flags" ? Uint8Array : numbers)(count));
}

export function isWide({ mean }: Cells): boolean {
  return mean.BYTES_PER_ELEMENT === 8;
}

/** Summary of some values: bounds, sum and number of the finite ones, and flags. */
interface CellSums {
  low: number;
  high: number;
  total: number;
  count: number;
  flags: number;
}

/** What a picture is made of: adds what is at a place, a value or a finer cell. */
interface CellSource {
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

/** A tile of a plane whose size is known otherwise. */
export type StoredPicture = Omit<Tile, "planeRows" | "planeCols">;

/** The greatest numbers of cells down and across. */
type MostCells = Pick<TensorQuestion, "rows" | "cols">;

export function spansOf(
  plane: Plane,
  [row, col, height, width]: Region,
  { rows, cols }: MostCells,
): [down: CellSpan, across: CellSpan] {
  return [spanOf(row, height, planeRows(plane), rows), spanOf(col, width, planeCols(plane), cols)];
}

/** Picture in which everything is read; `turned` if rows are nearer to each other than columns. */
export function picture(
  source: CellSource,
  { first, ...place }: StoredPlace,
  [down, across]: [CellSpan, CellSpan],
  turned = false,
): StoredPicture {
  const cells = emptyCells(down.cells * across.cells, source.wide);
  for (let cell = 0; cell < cells.mean.length; cell++) {
    const rows = cut(place.down, down, Math.floor(cell / across.cells));
    const cols = cut(place.across, across, cell % across.cells);
    const [outer, inner] = turned ? [cols, rows] : [rows, cols];
    const sums = { low: Infinity, high: -Infinity, total: 0, count: 0, flags: 0 };
    for (const far of outer) for (const near of inner) source.add(sums, first + far + near);
    const { low, high, total, count, flags } = sums;
    // The mean is unknown if the sum overflows float64.
    const mean = Number.isFinite(total) ? total / count : Number.NaN;
    cells.minimum[cell] = count ? low : Number.NaN;
    cells.maximum[cell] = count ? high : Number.NaN;
    cells.mean[cell] = count ? Math.min(high, Math.max(low, mean)) : Number.NaN;
    cells.flags[cell] = flags;
  }
  return {
    ...{ row: down.start, col: across.start, rows: down.cells, cols: across.cells },
    ...{ rowStep: down.step, colStep: across.step, exact: true, ...cells },
  };
}

/** Merges cells of a picture of a complete plane that has too many down or across. */
export function coarser(shown: StoredPicture, plane: Plane, most: MostCells): StoredPicture {
  const { rows, cols, rowStep, colStep, exact } = shown;
  const spans: [CellSpan, CellSpan] = [
    spanOf(0, rows, rows, most.rows),
    spanOf(0, cols, cols, most.cols),
  ];
  if (spans.every(({ step }) => step === 1)) return shown;
  const add = (sums: CellSums, at: number) => {
    sums.flags |= shown.flags[at]!;
    if (Number.isNaN(shown.minimum[at]!)) return;
    const high = Math.min(rowStep, planeRows(plane) - Math.floor(at / cols) * rowStep);
    const count = high * Math.min(colStep, planeCols(plane) - (at % cols) * colStep);
    sums.low = Math.min(sums.low, shown.minimum[at]!);
    sums.high = Math.max(sums.high, shown.maximum[at]!);
    sums.total += shown.mean[at]! * count;
    sums.count += count;
  };
  const down = Float64Array.from({ length: rows }, (_, row) => row * cols);
  const across = Float64Array.from({ length: cols }, (_, col) => col);
  const made = picture({ wide: isWide(shown), add }, { first: 0, down, across }, spans);
  const steps = { rowStep: made.rowStep * rowStep, colStep: made.colStep * colStep };
  return { ...made, ...steps, exact };
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
  const { mean, minimum = mean, maximum = mean, flags = new Uint8Array(mean.length) } = all;
  const cells = { mean, minimum, maximum, flags };
  return {
    ...{ row: 0, col: 0, rows, cols, rowStep: all.rowStep[row]!, colStep: all.colStep[row]! },
    exact: !all.sampled[row],
    ...eachColumn((name) => cells[name].subarray(first, first + rows * cols)),
  };
}

function turned({ rows, cols, rowStep, colStep, ...shown }: StoredPicture): StoredPicture {
  const cells = eachColumn((name) =>
    shown[name].map((_, to, from) => from[(to % rows) * cols + Math.floor(to / rows)]!),
  );
  return { ...shown, ...cells, rows: cols, cols: rows, rowStep: colStep, colStep: rowStep };
}
