import type { Viewport } from "../shared/drawing/canvas.ts";
import { ROUND, SLOTS, slotOf } from "./data.ts";

/** Trials in the order of the horizontal axis, for binary search. */
export class Axis {
  readonly rows: Int32Array;
  /** Ascending values of `rows`. */
  readonly values: Float64Array;

  /** @param values Values of all trials; NaN leaves a trial out. */
  constructor(values: Float64Array) {
    let isOrdered = true;
    for (let row = 0; row < values.length; row++) {
      if (!(values[row]! >= (row ? values[row - 1]! : Number.NEGATIVE_INFINITY))) isOrdered = false;
    }
    const all = new Int32Array(values.length);
    for (let row = 0; row < all.length; row++) all[row] = row;
    this.rows = isOrdered ? all : all.filter((row) => !Number.isNaN(values[row]!));
    if (!isOrdered) this.rows.sort((a, b) => values[a]! - values[b]! || a - b);
    this.values = isOrdered ? values : Float64Array.from(this.rows, (row) => values[row]!);
  }

  before(value: number): number {
    let [low, high] = [0, this.values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  upTo(value: number): number {
    let [low, high] = [0, this.values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.values[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Layer of a trial: hidden, behind those of the current task, or with them. */
export const HIDDEN = 0;
export const BEHIND = 1;
export const IN_FRONT = 2;

/** Side of the square of a single trial, px. */
export const POINT = 3;

/** Boxes as left, top, width, height: four numbers per box. */
type Boxes = number[];

/** Marks of all visible trials: one per cell; vertical neighbors form one box. */
export interface TrialPoints {
  cells: number;
  front: Boxes;
  /** Trials of other tasks. */
  behind: Boxes;
  /** Error and x of failed trials: two numbers per trial. */
  failures: number[];
}

/** Positions of trials, as in `TrialScene`. */
interface PlotPlaces {
  readonly plot: { left: number; top: number; right: number; bottom: number };
  readonly axis: Axis;
  readonly layers: Uint8Array;
  readonly levels: Float64Array;
  readonly viewport: Viewport;
  readonly costs: readonly [low: number, high: number];
  readonly data: { readonly error: Uint8Array };
  value(row: number): number;
}

/** @param cell Side of a cell, px. */
export function marksOf(scene: PlotPlaces, cell: number): TrialPoints {
  const { plot, axis, layers, levels, viewport, costs } = scene;
  const { error } = scene.data;
  const [wide, high] = [plot.right - plot.left, plot.bottom - plot.top];
  const rows = Math.floor(high / cell) + 1;
  const columns = Math.floor(wide / cell) + 1;
  // By column: 1 + the first trial in front, or -1 - the first behind.
  const cells = new Int32Array(Math.max(0, columns * rows));
  const points: TrialPoints = { cells: 0, front: [], behind: [], failures: [] };
  const lastFailure = new Int32Array(256).fill(-1);
  const across = wide / viewport.span;
  const down = high / (costs[1] - costs[0]);
  const end = axis.upTo(viewport.end);
  for (let at = axis.before(viewport.start); at < end; at++) {
    const row = axis.rows[at]!;
    const layer = layers[row]!;
    if (layer === HIDDEN) continue;
    const x = (axis.values[at]! - viewport.start) * across;
    const column = Math.floor(x / cell);
    const code = error[row]!;
    if (code) {
      if (layer !== IN_FRONT || lastFailure[code] === column) continue;
      lastFailure[code] = column;
      points.failures.push(code, plot.left + x);
      continue;
    }
    const y = (costs[1] - levels[row]!) * down;
    if (!(y >= 0 && y <= high)) continue;
    const place = column * rows + Math.floor(y / cell);
    if (layer === IN_FRONT) {
      if (cells[place]! <= 0) cells[place] = row + 1;
    } else if (!cells[place]) cells[place] = -row - 1;
  }
  // Squares come before all other boxes, so that shapes of one size share a path.
  const alone: Pick<TrialPoints, "front" | "behind"> = { front: [], behind: [] };
  for (let column = 0; column < columns; column++) {
    const first = column * rows;
    for (let from = 0; from < rows; ) {
      const held = cells[first + from]!;
      let to = from + 1;
      if (held) {
        const isFront = held > 0;
        while (to < rows && (isFront ? cells[first + to]! > 0 : cells[first + to]! < 0)) to++;
        points.cells += to - from;
        if (to - from > 1) {
          const boxes = isFront ? points.front : points.behind;
          const [left, top] = [plot.left + column * cell, plot.top + from * cell];
          boxes.push(left, top, cell, (to - from) * cell);
        } else {
          const row = Math.abs(held) - 1;
          const x = plot.left + (scene.value(row) - viewport.start) * across;
          const y = plot.top + (costs[1] - levels[row]!) * down;
          const boxes = isFront ? alone.front : alone.behind;
          boxes.push(x - POINT / 2, y - POINT / 2, POINT, POINT);
        }
      }
      from = to;
    }
  }
  points.front = points.front.concat(alone.front);
  points.behind = points.behind.concat(alone.behind);
  return points;
}

/** Counts the trials of any part of an axis by error, with sums per round of 64. */
export class SlotSums {
  readonly #axis: Axis;
  readonly #error: Uint8Array;
  readonly #isCounted: (row: number) => boolean;
  readonly #before: Int32Array;

  constructor(axis: Axis, error: Uint8Array, isCounted: (row: number) => boolean) {
    this.#axis = axis;
    this.#error = error;
    this.#isCounted = isCounted;
    const count = axis.rows.length;
    const rounds = Math.floor(count / ROUND);
    this.#before = new Int32Array((rounds + 1) * SLOTS);
    const sums = new Int32Array(SLOTS);
    for (let round = 0; round < rounds; round++) {
      this.#add(sums, round * ROUND, (round + 1) * ROUND);
      this.#before.set(sums, (round + 1) * SLOTS);
    }
  }

  /** Trials at the positions [first, end) of the axis by slot. */
  count(first: number, end: number): Int32Array {
    const after = this.#upTo(end);
    const before = this.#upTo(first);
    return after.map((sum, slot) => sum - before[slot]!);
  }

  #upTo(end: number): Int32Array {
    const round = Math.floor(end / ROUND);
    const sums = this.#before.slice(round * SLOTS, (round + 1) * SLOTS);
    this.#add(sums, round * ROUND, end);
    return sums;
  }

  #add(sums: Int32Array, first: number, end: number): void {
    for (let at = first; at < end; at++) {
      const row = this.#axis.rows[at]!;
      if (this.#isCounted(row)) sums[slotOf(this.#error[row]!)]!++;
    }
  }
}
