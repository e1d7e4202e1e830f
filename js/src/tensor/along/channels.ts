import type { Cells, ChannelsAnswer, Floats } from "../../shared/client/tensor_questions.ts";
import { SPECIAL_TEXT, specialsOf } from "../colors/colors.ts";

/** One picture of the grid. */
export interface Channel extends Cells {
  rows: number;
  cols: number;
  /** Of its finite values; NaN where it has none. */
  low: number;
  high: number;
  /** All that its cells hold beside finite values. */
  all: number;
}

/** What is wrong with a channel, in words of the grid. */
export function channelSigns({ low, high, all }: Channel): string[] {
  const signs: string[] = specialsOf(all).map((each) => SPECIAL_TEXT[each]);
  if (all === 0 && low === 0 && high === 0) signs.push("dead");
  return signs;
}

/** The pictures along one axis, as far as they were read. */
export class Channels {
  readonly axis: number;
  readonly length: number;
  /** How many values a cell stands for; null until that is known. */
  steps: { rowStep: number; colStep: number } | null = null;
  readonly #known = new Map<number, Channel>();

  constructor(axis: number, length: number) {
    this.axis = axis;
    this.length = length;
  }

  get(index: number): Channel | null {
    return this.#known.get(index) ?? null;
  }

  add(answer: ChannelsAnswer): void {
    const { first, count, rows, cols, minimum, maximum, mean, flags } = answer;
    this.steps = answer;
    const size = rows * cols;
    for (let k = 0; k < count; k += 1) {
      const own = <T extends Floats | Uint8Array>(cells: T) =>
        cells.subarray(k * size, (k + 1) * size) as T;
      const cells = {
        minimum: own(minimum),
        maximum: own(maximum),
        mean: own(mean),
        flags: own(flags),
      };
      let [low, high, all] = [Number.NaN, Number.NaN, 0];
      for (let cell = 0; cell < size; cell += 1) {
        const [least, most] = [cells.minimum[cell]!, cells.maximum[cell]!];
        if (!(least >= low)) low = Number.isNaN(least) ? low : least;
        if (!(most <= high)) high = Number.isNaN(most) ? high : most;
        all |= cells.flags[cell]!;
      }
      this.#known.set(first + k, { ...cells, rows, cols, low, high, all });
    }
  }

  /** The run of pictures from the first that is missing to the last; null where none is. */
  missing(first: number, count: number): { first: number; count: number } | null {
    const end = Math.min(this.length, first + count);
    let [from, to] = [first, end - 1];
    while (from < end && this.#known.has(from)) from += 1;
    while (to >= from && this.#known.has(to)) to -= 1;
    return from > to ? null : { first: from, count: to - from + 1 };
  }

  counts(): { known: number; dead: number; odd: number } {
    let [dead, odd] = [0, 0];
    for (const channel of this.#known.values()) {
      if (channel.all) odd += 1;
      else if (channel.low === 0 && channel.high === 0) dead += 1;
    }
    return { known: this.#known.size, dead, odd };
  }
}
