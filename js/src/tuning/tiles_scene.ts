import type { TileColumns } from "./client.ts";

/** Distance of failed trials below the axis of costs, px. */
const FAILED_BELOW = 14;

/** Parallel coordinates of trials: their tile sizes, each on an axis, and their cost on the last. */
export class TilesScene {
  width = 0;
  height = 0;
  /** Hovered row, or -1. */
  hovered = -1;
  /** The least and the greatest cost. */
  readonly costs: readonly [low: number, high: number];
  /** Distinct values by axis, ascending. */
  readonly levels: readonly number[][];
  readonly #ranks: Float64Array;

  constructor(readonly columns: TileColumns) {
    const { info, rows, costs } = columns;
    const valid = [...costs.keys()].filter((at) => costs[at]! > 0);
    valid.sort((a, b) => costs[a]! - costs[b]!);
    this.#ranks = new Float64Array(costs.length).fill(Number.NaN);
    for (const [rank, at] of valid.entries()) {
      this.#ranks[at] = rank / Math.max(1, valid.length - 1);
    }
    const [low = 1e-3, high = 1e-2] = valid.length ? [costs[valid[0]!], costs[valid.at(-1)!]] : [];
    this.costs = [low, Math.max(high, low * 1.01)];
    this.levels = info.axes.map((_, axis) => {
      const values = new Set(rows.map((_row, at) => this.value(at, axis)));
      return [...values].sort((a, b) => a - b);
    });
  }

  value(at: number, axis: number): number {
    return this.columns.values[at * this.columns.info.axes.length + axis]!;
  }

  /** Number of axes, including the cost. */
  get count(): number {
    return this.columns.info.axes.length + 1;
  }

  x(axis: number): number {
    const [left, right] = [44, this.width - 64];
    return left + (this.count > 1 ? (axis / (this.count - 1)) * (right - left) : 0);
  }

  get top(): number {
    return 26;
  }

  get bottom(): number {
    return this.height - 20;
  }

  /** Rank of a trial among the valid ones: 0 the cheapest, 1 the most expensive; NaN if it failed. */
  rank(at: number): number {
    return this.#ranks[at]!;
  }

  /** The cheapest trials are on top, by powers of ten; failed ones below the axis. */
  y(at: number, axis: number): number {
    if (axis < this.count - 1) return this.yOf(this.value(at, axis), axis);
    const cost = this.columns.costs[at]!;
    const [low, high] = this.costs;
    const share = Math.log(cost / low) / Math.log(high / low);
    return cost > 0 ? this.top + share * (this.bottom - this.top) : this.bottom + FAILED_BELOW;
  }

  /** On a scale of powers of two; zero lies below one. */
  yOf(value: number, axis: number): number {
    const share = Math.log2(1 + value) / Math.log2(1 + Math.max(2, this.levels[axis]!.at(-1)!));
    return this.bottom - share * (this.bottom - this.top);
  }

  /** The line nearest to a point. */
  hit(x: number, y: number): number {
    const gap = this.count > 1 ? this.x(1) - this.x(0) : 1;
    const left = Math.min(this.count - 2, Math.max(0, Math.floor((x - this.x(0)) / gap)));
    const along = Math.min(1, Math.max(0, (x - this.x(left)) / gap));
    let [nearest, least] = [-1, 8];
    for (let at = 0; at < this.columns.rows.length; at++) {
      const [from, to] = [this.y(at, left), this.y(at, left + 1)];
      const distance = Math.abs(from + (to - from) * along - y);
      if (distance < least) [nearest, least] = [at, distance];
    }
    return nearest;
  }
}
