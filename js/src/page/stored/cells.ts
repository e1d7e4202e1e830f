/** Least, largest and mean of the values of each cell, bit for bit as `model/pictures` makes them. */

import type { Floats } from "../../shared/client/tensor_questions.ts";
import { counted } from "../../shared/format.ts";
import { largest, smallest } from "../../shared/many.ts";
import type { Plane } from "./plane.ts";
import type { Scalars } from "./scalars.ts";

export type Cells = {
  minimum: Floats;
  maximum: Floats;
  mean: Floats;
  flags: Uint8Array;
};

/** Cells of `step` values along an axis, which begin at multiples of the step. */
export interface Span {
  start: number;
  stop: number;
  step: number;
  cells: number;
}

/** Neighbors whose sum is made pairwise; the sums of such runs are added one after the other. */
const RUN = 65_536;

/** The least step with which no more than `most` cells touch a part of an axis. */
export function spanOf(start: number, length: number, size: number, most: number): Span {
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

export function isTurned({ axes: [down, across] }: Pick<Plane, "axes">): boolean {
  return down !== null && across !== null && down > across;
}

/** `wide` where the values are float64: float32 lacks their magnitudes. */
export function emptyCells(count: number, wide: boolean): Cells {
  const numbers = () => (wide ? new Float64Array(count) : new Float32Array(count));
  return {
    minimum: numbers(),
    maximum: numbers(),
    mean: numbers(),
    flags: new Uint8Array(count),
  };
}

export function isWide({ mean }: Cells): boolean {
  return mean.BYTES_PER_ELEMENT === 8;
}

/** The positions of a cell's values: first + lower[i] + higher[j]. */
export interface Block {
  first: number;
  lower: Float64Array;
  higher: Float64Array;
}

/** What is known of some values: bounds of the finite ones, their sum and number, and the flags. */
export interface Sums {
  low: number;
  high: number;
  total: number;
  count: number;
  flags: number;
}

/** Sums along the lower axis one value after the other, then along the higher one pairwise. */
export function sumsOf(scalars: Scalars, { first, lower, higher }: Block): Sums {
  let [low, high, count, flags] = [Infinity, -Infinity, 0, 0];
  const sums = new Float64Array(higher.length);
  for (let j = 0; j < higher.length; j++) {
    const from = first + higher[j]!;
    let sum = 0;
    for (let i = 0; i < lower.length; i++) {
      const value = scalars.value(from + lower[i]!);
      if (Number.isFinite(value)) {
        if (value < low) low = value;
        if (value > high) high = value;
        count += 1;
        sum += value;
      } else flags |= Number.isNaN(value) ? 1 : value > 0 ? 2 : 4;
    }
    sums[j] = sum;
  }
  return { low, high, count, flags, total: totalOf(sums) };
}

/** The same of what was summed before, in the order of `numpy.add.reduceat`. */
export function merged(all: readonly Sums[]): Sums {
  const totals = Float64Array.from(all, ({ total }) => total);
  const rest = all.length - 1;
  return {
    low: smallest(all.map(({ low }) => low)),
    high: largest(all.map(({ high }) => high)),
    count: all.reduce((sum, { count }) => sum + count, 0),
    flags: all.reduce((bits, { flags }) => bits | flags, 0),
    total: rest ? totals[0]! + pairwise(totals, 1, rest) : totals[0]!,
  };
}

/** Sets a cell to what was summed; the mean is unknown where float64 cannot hold the sum. */
export function setCell(cells: Cells, cell: number, summed: Sums): void {
  const { low, high, total, count, flags } = summed;
  const mean = Number.isFinite(total) ? total / count : Number.NaN;
  cells.minimum[cell] = count ? low : Number.NaN;
  cells.maximum[cell] = count ? high : Number.NaN;
  cells.mean[cell] = count ? Math.min(high, Math.max(low, mean)) : Number.NaN;
  cells.flags[cell] = flags;
}

function totalOf(sums: Float64Array): number {
  let found = 0;
  for (let from = 0; from < sums.length; from += RUN) {
    found += pairwise(sums, from, Math.min(RUN, sums.length - from));
  }
  return found;
}

/** A sum in the order in which `numpy.add.reduce` makes it. */
function pairwise(values: Float64Array, from: number, count: number): number {
  if (count < 8) {
    let sum = -0;
    for (let i = from; i < from + count; i++) sum += values[i]!;
    return sum;
  }
  if (count > 128) {
    const half = Math.floor(count / 2);
    const first = half - (half % 8);
    return pairwise(values, from, first) + pairwise(values, from + first, count - first);
  }
  const sums = values.slice(from, from + 8);
  let at = 8;
  for (; at < count - (count % 8); at += 8) {
    for (let lane = 0; lane < 8; lane++) sums[lane]! += values[from + at + lane]!;
  }
  const pair = (lane: number) => sums[lane]! + sums[lane + 1]!;
  let sum = pair(0) + pair(2) + (pair(4) + pair(6));
  for (; at < count; at++) sum += values[from + at]!;
  return sum;
}
