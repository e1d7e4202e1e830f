/** The values of a part of a plane, counted as `answers/counts.py` counts them. */

import type {
  ExactNumber,
  RegionAnswer,
  RegionNumbers,
} from "../../shared/client/tensor_questions.ts";
import { computedText, numberText } from "../../shared/number_text.ts";
import { isWide } from "./cells.ts";
import { contrastOf, equalEdges, histogramOf } from "./contrast.ts";
import { numbersOf } from "./distribution.ts";
import type { Part, Shown } from "./picture.ts";
import type { Place } from "./plane.ts";
import type { Scalars } from "./scalars.ts";

const NONE: ExactNumber = { text: "none", value: null };

/** Every value is looked at. */
export function region(
  scalars: Scalars,
  place: Place,
  part: Part,
  limits: RegionAnswer["limits"],
): RegionAnswer {
  const [row, col, rows, cols] = part;
  const places = Float64Array.from({ length: rows * cols }, (_, at) => {
    const [down, across] = [row + Math.floor(at / cols), col + (at % cols)];
    return place.first + place.down[down]! + place.across[across]!;
  });
  const values = Float64Array.from(places, (at) => scalars.value(at));
  const many = (is: (value: number) => boolean) => values.reduce((sum, each) => sum + +is(each), 0);
  const [nan, posInf, negInf] = [
    many(Number.isNaN),
    many((value) => value === Infinity),
    many((value) => value === -Infinity),
  ];
  const finite = values.filter(Number.isFinite);
  const [lowest, highest] = extremes(scalars, places);
  const number = (at: number): ExactNumber =>
    at < 0 ? NONE : { text: scalars.text(at), value: scalars.value(at) };
  const zero = many((value) => value === 0);
  const numbers = numbersOf(scalars, places.length, places);
  const adapted = contrastOf(numbers, zero);
  const { low, high } = adapted?.distribution ?? {};
  const ends = low && high && ([low[0]!, high.at(-1)!] as const);
  return {
    state: "exact",
    statistics: {
      ...{ size: places.length, finite: finite.length, nan, posInf, negInf, zero },
      negative: many((value) => value < 0),
      atLowest: limits && many((value) => value === limits[0]),
      atHighest: limits && many((value) => value === limits[1]),
      minimum: number(lowest),
      maximum: number(highest),
      mean: finite.length ? computedNumber(meanOf(finite)) : NONE,
    },
    histogram: ends ? histogramOf(numbers, equalEdges(...ends), ends) : null,
    robust: null,
    linear: null,
    scale: "linear",
    crowd: 0,
    distribution: null,
    ...adapted,
    limits,
    part,
    bounds: null,
    cells: null,
  };
}

/** Where the least and the largest finite value are; -1 without one. */
function extremes(scalars: Scalars, places: Float64Array): [lowest: number, highest: number] {
  let [lowest, highest] = [-1, -1];
  for (const at of places) {
    if (!Number.isFinite(scalars.value(at))) continue;
    if (lowest < 0 || scalars.exact(at) < scalars.exact(lowest)) lowest = at;
    if (highest < 0 || scalars.exact(at) > scalars.exact(highest)) highest = at;
  }
  return [lowest, highest];
}

function meanOf(finite: Float64Array): number {
  const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
  if (Number.isFinite(mean)) return mean;
  return finite.reduce((sum, value) => sum + value / finite.length, 0);
}

function computedNumber(value: number): ExactNumber {
  return { text: computedText(value), value };
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
      if (Number.isNaN(cells.minimum[at]!)) continue;
      const inside =
        shared(grid.row + down * grid.rowStep, grid.rowStep, row, rows) *
        shared(grid.col + across * grid.colStep, grid.colStep, col, cols);
      low = Math.min(low, cells.minimum[at]!);
      high = Math.max(high, cells.maximum[at]!);
      total += cells.mean[at]! * inside;
      weight += inside;
    }
  }
  const bound = (value: number): ExactNumber =>
    weight ? { text: numberText(value, isWide(cells) ? "float64" : "float32"), value } : NONE;
  const some = (bit: number) => (flags & bit ? null : 0);
  const bounds: RegionNumbers = {
    size: rows * cols,
    nan: some(1),
    posInf: some(2),
    negInf: some(4),
    zero: null,
    minimum: bound(low),
    maximum: bound(high),
    mean: weight ? computedNumber(total / weight) : NONE,
  };
  return {
    ...{ state: "exact", statistics: null, histogram: null, robust: null, linear: null },
    ...{ scale: "linear", crowd: 0, distribution: null, limits: null },
    ...{ part, bounds, cells: [grid.rowStep, grid.colStep] },
  };
}

/** How much of one stretch lies in another. */
function shared(start: number, length: number, from: number, wanted: number): number {
  return Math.max(0, Math.min(start + length, from + wanted) - Math.max(start, from));
}
