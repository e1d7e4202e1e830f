/** The values of a part of a plane, counted as `widgets/answers_tensor/region.py` counts them. */
import { computedText, numberText } from "../shared/number_text.ts";
import type { ExactNumber, RegionAnswer } from "../shared/tensor_questions.ts";
import { isWide } from "./stored_cells.ts";
import type { Part, Shown } from "./stored_picture.ts";
import type { Place } from "./stored_plane.ts";
import type { Scalars } from "./stored_scalars.ts";

const BINS = 24;
const NONE: ExactNumber = { text: "none", value: null };

/** Every value is looked at. */
export function region(scalars: Scalars, place: Place, part: Part): RegionAnswer {
  const [row, col, rows, cols] = part;
  const found = { size: rows * cols, nan: 0, posInf: 0, negInf: 0, zero: 0 };
  const finite = new Float64Array(found.size);
  let count = 0;
  let [lowest, highest] = [-1, -1];
  for (let down = row; down < row + rows; down += 1) {
    for (let across = col; across < col + cols; across += 1) {
      const at = place.first + place.down[down]! + place.across[across]!;
      const value = scalars.value(at);
      if (Number.isNaN(value)) found.nan += 1;
      else if (value === Infinity) found.posInf += 1;
      else if (value === -Infinity) found.negInf += 1;
      else {
        if (value === 0) found.zero += 1;
        if (lowest < 0 || scalars.exact(at) < scalars.exact(lowest)) lowest = at;
        if (highest < 0 || scalars.exact(at) > scalars.exact(highest)) highest = at;
        finite[count] = value;
        count += 1;
      }
    }
  }
  const number = (at: number): ExactNumber =>
    at < 0 ? NONE : { text: scalars.text(at), value: scalars.value(at) };
  return {
    part,
    ...found,
    minimum: number(lowest),
    maximum: number(highest),
    mean: count ? computedNumber(meanOf(finite.subarray(0, count))) : NONE,
    histogram: histogramOf(finite.subarray(0, count)),
    cells: null,
  };
}

function meanOf(finite: Float64Array): number {
  const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
  if (Number.isFinite(mean)) return mean;
  return finite.reduce((sum, value) => sum + value / finite.length, 0);
}

function computedNumber(value: number): ExactNumber {
  return { text: computedText(value), value };
}

function histogramOf(finite: Float64Array): RegionAnswer["histogram"] {
  if (!finite.length) return null;
  let [low, high] = [Infinity, -Infinity];
  for (const value of finite) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const step = high / BINS - low / BINS;
  if (!(step > 0)) return null;
  const edges = Array.from({ length: BINS + 1 }, (_, bin) =>
    bin < BINS ? low + bin * step : high,
  );
  const counts = edges.slice(1).map(() => 0);
  for (const value of finite) {
    let bin = Math.max(0, Math.min(BINS - 1, Math.floor((value - low) / step)));
    while (bin > 0 && value < edges[bin]!) bin -= 1;
    while (bin < BINS - 1 && value >= edges[bin + 1]!) bin += 1;
    counts[bin]! += 1;
  }
  return { counts, edges, exact: true };
}

/** As far as the cells of a stored picture tell: bounds of the cells that the part touches, and no counts. */
export function regionOfPicture({ grid, cells }: Shown, part: Part): RegionAnswer {
  const [row, col, rows, cols] = part;
  const touched = (start: number, length: number, first: number, step: number, most: number) => {
    const from = Math.max(0, Math.floor((start - first) / step));
    return [from, Math.min(most, Math.ceil((start + length - first) / step))] as const;
  };
  const [top, bottom] = touched(row, rows, grid.row, grid.rowStep, grid.rows);
  const [left, right] = touched(col, cols, grid.col, grid.colStep, grid.cols);
  let [low, high, total, weight, flags] = [Infinity, -Infinity, 0, 0, 0];
  for (let down = top; down < bottom; down += 1) {
    for (let across = left; across < right; across += 1) {
      const at = down * grid.cols + across;
      flags |= cells.flags[at]!;
      const mean = cells.mean[at]!;
      if (Number.isNaN(mean)) continue;
      const inside =
        shared(grid.row + down * grid.rowStep, grid.rowStep, row, rows) *
        shared(grid.col + across * grid.colStep, grid.colStep, col, cols);
      low = Math.min(low, cells.minimum[at]!);
      high = Math.max(high, cells.maximum[at]!);
      total += mean * inside;
      weight += inside;
    }
  }
  const bound = (value: number): ExactNumber =>
    weight ? { text: numberText(value, isWide(cells) ? "float64" : "float32"), value } : NONE;
  const some = (bit: number) => (flags & bit ? null : 0);
  return {
    part,
    size: rows * cols,
    nan: some(1),
    posInf: some(2),
    negInf: some(4),
    zero: null,
    minimum: bound(low),
    maximum: bound(high),
    mean: weight ? computedNumber(total / weight) : NONE,
    histogram: null,
    cells: [grid.rowStep, grid.colStep],
  };
}

/** How much of one stretch lies in another. */
function shared(start: number, length: number, from: number, wanted: number): number {
  return Math.max(0, Math.min(start + length, from + wanted) - Math.max(start, from));
}
