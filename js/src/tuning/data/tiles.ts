import type { Columns } from "../../shared/client/wire.ts";

/** Tile sizes of the trials of one task, for parallel coordinates. */
export interface TilesInfo {
  /** Names of the axes: `i.1`, `unroll`. */
  axes: string[];
  /** Which trials are shown: those of the most common sequence of steps. */
  note: string;
}

/** R trials with one number on each of A axes; a scale of powers of two. */
export class Tiles {
  readonly info: TilesInfo;
  readonly rows: Int32Array;
  readonly costs: Float64Array;
  readonly #values: Float32Array;
  readonly #most: Float32Array;
  readonly #levels: readonly number[][];

  constructor(info: TilesInfo, { rows, values, costs }: Columns<"tuningTiles">) {
    this.info = info;
    this.rows = rows;
    this.costs = costs;
    this.#values = values;
    this.#most = new Float32Array(info.axes.length).fill(2);
    values.forEach((value, at) => {
      const axis = at % info.axes.length;
      if (value > this.#most[axis]!) this.#most[axis] = value;
    });
    this.#levels = info.axes.map((_, axis) => {
      const found = new Set(rows.map((_row, at) => this.value(at, axis)));
      return [...found].sort((a, b) => a - b);
    });
  }

  value(at: number, axis: number): number {
    return this.#values[at * this.info.axes.length + axis]!;
  }

  /** The values that occur on an axis, ascending. */
  levels(axis: number): readonly number[] {
    return this.#levels[axis]!;
  }

  /** Where a value lies on an axis, 0 at the bottom, 1 at the top; zero lies below one. */
  share(value: number, axis: number): number {
    return Math.log2(1 + value) / Math.log2(1 + this.#most[axis]!);
  }
}

/** How far below the axis of costs failed trials end, px. */
const FAILED_BELOW = 14;

/** Where the axes and the lines lie. */
export class TilesScene {
  readonly tiles: Tiles;
  width = 0;
  height = 0;
  /** Place among the rows, -1 for none. */
  hovered = -1;
  readonly #low: number;
  readonly #high: number;
  readonly #ranks: Float64Array;

  constructor(tiles: Tiles) {
    this.tiles = tiles;
    const valid = [...tiles.costs.keys()].filter((at) => tiles.costs[at]! > 0);
    valid.sort((a, b) => tiles.costs[a]! - tiles.costs[b]!);
    this.#ranks = new Float64Array(tiles.costs.length).fill(Number.NaN);
    for (const [rank, at] of valid.entries()) {
      this.#ranks[at] = rank / Math.max(1, valid.length - 1);
    }
    let [low, high] = [Number.POSITIVE_INFINITY, 0];
    for (const cost of tiles.costs) {
      if (!(cost > 0)) continue;
      low = Math.min(low, cost);
      high = Math.max(high, cost);
    }
    [this.#low, this.#high] = high > 0 ? [low, Math.max(high, low * 1.01)] : [1e-3, 1e-2];
  }

  get costs(): [low: number, high: number] {
    return [this.#low, this.#high];
  }

  /** The axes of the tiles, and that of the cost behind them. */
  get count(): number {
    return this.tiles.info.axes.length + 1;
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

  /** The place of a trial among the valid ones: 0 the cheapest, 1 the dearest; NaN where it failed. */
  rank(at: number): number {
    return this.#ranks[at]!;
  }

  /** The cheapest lie on top, by powers of ten; failed trials below the axis. */
  y(at: number, axis: number): number {
    if (axis < this.count - 1) return this.yOf(this.tiles.value(at, axis), axis);
    const cost = this.tiles.costs[at]!;
    const share = Math.log(cost / this.#low) / Math.log(this.#high / this.#low);
    return cost > 0 ? this.top + share * (this.bottom - this.top) : this.bottom + FAILED_BELOW;
  }

  yOf(value: number, axis: number): number {
    return this.bottom - this.tiles.share(value, axis) * (this.bottom - this.top);
  }

  /** The line that passes nearest to a place. */
  hit(x: number, y: number): number {
    const gap = this.count > 1 ? this.x(1) - this.x(0) : 1;
    const left = Math.min(this.count - 2, Math.max(0, Math.floor((x - this.x(0)) / gap)));
    const along = Math.min(1, Math.max(0, (x - this.x(left)) / gap));
    let [found, least] = [-1, 8];
    for (let at = 0; at < this.tiles.rows.length; at++) {
      const [from, to] = [this.y(at, left), this.y(at, left + 1)];
      const distance = Math.abs(from + (to - from) * along - y);
      if (distance < least) [found, least] = [at, distance];
    }
    return found;
  }
}
