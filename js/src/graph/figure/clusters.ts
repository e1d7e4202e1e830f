import { GroupSource } from "../../shared/client/answers.ts";
import { addTo, append } from "../../shared/many.ts";
import type { Groups } from "../data/links.ts";

interface RepeatRun {
  start: number;
  period: number;
  count: number;
  group: number;
}

export class Runs {
  readonly #groups: Groups;
  readonly #symbols: readonly string[];
  readonly #start: number[] = [];
  readonly #end: number[] = [];
  readonly #children = new Map<number, number[]>();

  constructor(groups: Groups, nodes: readonly number[], symbols: readonly string[]) {
    this.#groups = groups;
    this.#symbols = symbols;
    const { groupOrder, groupStart, groupEnd, groupParent } = groups.graph;
    const isBox = new Uint8Array(groupOrder.length);
    for (const node of nodes) isBox[node] = 1;
    const before = new Int32Array(groupOrder.length + 1);
    for (const [row, node] of groupOrder.entries()) before[row + 1] = before[row]! + isBox[node]!;
    for (let group = 0; group < groups.count; group++) {
      this.#start.push(before[groupStart[group]!]!);
      this.#end.push(before[groupEnd[group]!]!);
      const around = groupParent[group]!;
      addTo(this.#children, around, group);
    }
  }

  outermost(): RepeatRun[] {
    return this.#in(-1);
  }

  inside({ group }: RepeatRun): RepeatRun[] {
    const first = this.#children.get(group)?.[0];
    return first === undefined ? [] : this.#in(first);
  }

  #in(around: number): RepeatRun[] {
    const repeats: RepeatRun[] = [];
    for (const group of this.#children.get(around) ?? []) {
      const stretch = this.#stretch(group);
      if (stretch) repeats.push(stretch);
      else append(repeats, this.#in(group));
    }
    return repeats;
  }

  /** The repeated sequence of a run of blocks; null if the blocks are drawn differently. */
  #stretch(group: number): RepeatRun | null {
    if (this.#groups.graph.groupSource[group] !== GroupSource.REPEAT) return null;
    const [start, end] = [this.#start[group]!, this.#end[group]!];
    const count = this.#children.get(group)?.length || end - start;
    const period = count ? Math.floor((end - start) / count) : 0;
    if (!period || period * count !== end - start) return null;
    for (let box = start + period; box < end; box++) {
      if (this.#symbols[box] !== this.#symbols[box - period]) return null;
    }
    return { start, period, count, group };
  }
}

export interface Cluster {
  boxes: number[];
  repeats: number;
  /** That run if its parts are drawn separately; else -1. */
  run: number;
  /** Number of boxes of one block inside. */
  unit: number;
}

export interface Clusters {
  clusters: Cluster[];
  stretches: Map<number, RepeatRun>;
}

/** Largest number of boxes weighed one by one; of more, light neighbors are joined first. */
const MOST_SINGLE = 20_000;
/** Largest number of separate parts of a block. */
const MOST_CELLS = 12;

/**
 * Puts a sequence into at most `most` clusters: a run of blocks becomes one block, whose parts stand for their
 * counterparts in all blocks; then neighbors are joined, the lightest first. Clusters contain only neighbors of the
 * sequence, or the same parts of neighboring blocks, so that edges between them lead forward if those between boxes do.
 * @param weights Importance of a box.
 */
export function joined(runs: Runs, weights: Float64Array, most: number): Clusters {
  const clusters: Cluster[] = [];
  const stretches = new Map<number, RepeatRun>();
  const near = Math.ceil(weights.length / MOST_SINGLE);
  const heavy = weights.reduce((sum, weight) => sum + weight, 0) / most;
  const alone = (from: number, to: number) => {
    for (let box = from; box < to; ) {
      const boxes = [box];
      for (box += 1; box < to && boxes.length < near && weights[box]! < heavy; box++) {
        if (weights[box - 1]! >= heavy) break;
        boxes.push(box);
      }
      clusters.push({ boxes, repeats: 1, run: -1, unit: boxes.length });
    }
  };
  let at = 0;
  for (const stretch of runs.outermost()) {
    const { start, period, count, group } = stretch;
    alone(at, start);
    const cells = cellsOf(runs, weights, stretch);
    const run = cells.length > 1 ? group : -1;
    for (const cell of cells) {
      const boxes: number[] = [];
      for (let row = 0; row < count; row++) {
        for (const cellBox of cell) boxes.push(start + row * period + cellBox);
      }
      boxes.sort((a, b) => a - b);
      clusters.push({ boxes, repeats: count, run, unit: cell.length });
    }
    if (run >= 0) stretches.set(run, stretch);
    at = start + count * period;
  }
  alone(at, weights.length);
  return { clusters: joinLightest(clusters, stretches, weights, most), stretches };
}

/** The parts of one occurrence as box offsets; in a long one, runs are single parts. */
function cellsOf(runs: Runs, weights: Float64Array, stretch: RepeatRun): number[][] {
  const { start, period } = stretch;
  const cells: number[][] = [];
  const alone = (from: number, to: number) => {
    for (let at = from; at < to; at++) cells.push([at]);
  };
  let at = 0;
  if (period > MOST_CELLS) {
    for (const inner of runs.inside(stretch)) {
      const first = inner.start - start;
      alone(at, first);
      at = first + inner.period * inner.count;
      cells.push(Array.from({ length: at - first }, (_, step) => first + step));
    }
  }
  alone(at, period);
  const clusters = cells.map((boxes) => ({ boxes, repeats: 1, run: -1, unit: boxes.length }));
  const own = weights.subarray(start, start + period);
  return joinLightest(clusters, new Map(), own, MOST_CELLS).map(({ boxes }) => boxes);
}

interface Pair {
  weight: number;
  low: number;
  high: number;
  sizes: number;
}

function joinLightest(
  all: readonly Cluster[],
  stretches: Map<number, RepeatRun>,
  weights: Float64Array,
  most: number,
): Cluster[] {
  const clusters: (Cluster | null)[] = [...all];
  const heavy = all.map(({ boxes }) => boxes.reduce((sum, box) => sum + weights[box]!, 0));
  const before = Int32Array.from(all, (_, at) => at - 1);
  const after = Int32Array.from(all, (_, at) => at + 1);
  const parts = new Map<number, number>();
  for (const { run } of all) parts.set(run, (parts.get(run) ?? 0) + 1);
  const heap = new Heap();
  const sizes = (low: number, high: number) =>
    clusters[low]!.boxes.length + clusters[high]!.boxes.length;
  const offer = (low: number) => {
    const high = low < 0 ? all.length : after[low]!;
    if (high >= all.length || clusters[low]!.run !== clusters[high]!.run) return;
    heap.push({ weight: heavy[low]! + heavy[high]!, low, high, sizes: sizes(low, high) });
  };
  for (let low = 0; low + 1 < all.length; low++) offer(low);
  for (let left = all.length; left > most; ) {
    const pair = heap.pop();
    if (!pair) break;
    const { low, high } = pair;
    const [one, two] = [clusters[low], clusters[high]];
    if (!one || !two || after[low] !== high || sizes(low, high) !== pair.sizes) continue;
    const { run } = one;
    const boxes = [...one.boxes, ...two.boxes].sort((a, b) => a - b);
    const repeats = run < 0 ? 1 : one.repeats;
    clusters[low] = { boxes, repeats, run, unit: run < 0 ? boxes.length : one.unit + two.unit };
    clusters[high] = null;
    heavy[low]! += heavy[high]!;
    after[low] = after[high]!;
    if (after[low]! < all.length) before[after[low]!] = low;
    left -= 1;
    if (run >= 0) {
      parts.set(run, parts.get(run)! - 1);
      if (parts.get(run) === 1) {
        clusters[low] = { ...clusters[low]!, run: -1 };
        stretches.delete(run);
      }
    }
    offer(before[low]!);
    offer(low);
  }
  return clusters.filter((cluster) => cluster !== null);
}

class Heap {
  readonly #pairs: Pair[] = [];

  push(pair: Pair): void {
    const pairs = this.#pairs;
    let at = pairs.push(pair) - 1;
    for (let up = (at - 1) >> 1; at > 0 && isBefore(pair, pairs[up]!); up = (at - 1) >> 1) {
      pairs[at] = pairs[up]!;
      at = up;
    }
    pairs[at] = pair;
  }

  pop(): Pair | undefined {
    const pairs = this.#pairs;
    const [first, last] = [pairs[0], pairs.pop()];
    if (!pairs.length || !last) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= pairs.length) break;
      if (down + 1 < pairs.length && isBefore(pairs[down + 1]!, pairs[down]!)) down += 1;
      if (!isBefore(pairs[down]!, last)) break;
      pairs[at] = pairs[down]!;
      at = down;
    }
    pairs[at] = last;
    return first;
  }
}

function isBefore(one: Pair, two: Pair): boolean {
  return one.weight < two.weight || (one.weight === two.weight && one.low < two.low);
}
