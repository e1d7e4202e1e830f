import type { CompressedRows } from "./adjacency.ts";
import { widestRow } from "./crossings.ts";
import { bestNeighbors, type ExpandedGraph, type RowOrder, runs } from "./trunks.ts";
import type { Layering, Spacing } from "./types.ts";

export interface Blocks {
  count: number;
  ofItem: Int32Array;
  /** Items by block, from top to bottom. */
  members: CompressedRows;
  /** The item of the main line in every row. */
  main: Int32Array;
}

const MAIN = 2 ** 30;
const BOTH_BEST = 12;
const TRUNK = 8;
const ONE_BEST = 4;

/** One longest path per component, the middle one of several. Inside a frame it may have gaps. */
function mainLine(order: RowOrder, layering: Layering, upRun: Int32Array, bestUp: Int32Array) {
  const main = new Int32Array(layering.rows);
  const broken = new Uint8Array(layering.rows);
  const { item, start } = order;
  const longest = (row: number) => {
    let most = -1;
    let ties = 0;
    for (let i = start[row]!; i < start[row + 1]!; i++) {
      const run = upRun[item[i]!]!;
      if (run > most) {
        most = run;
        ties = 0;
      }
      if (run === most) ties++;
    }
    let skip = (ties - 1) >> 1;
    let i = start[row]!;
    while (upRun[item[i]!] !== most || skip-- > 0) i++;
    return item[i]!;
  };
  for (let c = 0; c < layering.components; c++) {
    const top = layering.rowStart[c]!;
    const bottom = layering.rowStart[c + 1]! - 1;
    let v = longest(bottom);
    for (let r = bottom; r >= top; r--) {
      main[r] = v;
      v = bestUp[v]!;
      if (v < 0 && r > top) {
        v = longest(r - 1);
        broken[r - 1] = 1;
      }
    }
  }
  return { main, broken };
}

class Aligner {
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  readonly #end: Int32Array;
  readonly #sum: Int32Array;
  readonly #before: Int32Array;
  readonly #bestAt: Int32Array;

  readonly #above: Int32Array;

  constructor(links: number, widest: number, above: Int32Array) {
    this.#from = new Int32Array(links);
    this.#to = new Int32Array(links);
    this.#end = new Int32Array(links);
    this.#sum = new Int32Array(links);
    this.#before = new Int32Array(links);
    this.#bestAt = new Int32Array(widest + 1);
    this.#above = above;
  }

  #count = 0;

  clear(): void {
    this.#count = 0;
  }

  /** Links are added by position of `from`. */
  add(from: number, to: number, end: number, weight: number): void {
    const i = this.#count++;
    this.#from[i] = from;
    this.#to[i] = to;
    this.#end[i] = end;
    this.#sum[i] = weight;
    this.#before[i] = -1;
  }

  choose(width: number): void {
    const n = this.#count;
    if (n === 0) return;
    for (let i = n === 1 ? 0 : this.#last(n, width); i >= 0; i = this.#before[i]!)
      this.#above[this.#to[i]!] = this.#from[i]!;
  }

  #follow(i: number, best: number): void {
    this.#before[i] = best;
    if (best >= 0) this.#sum[i]! += this.#sum[best]!;
  }

  /** End of the heaviest increasing subsequence, by a tree of prefix maxima. */
  #last(n: number, width: number): number {
    const tree = this.#bestAt;
    tree.fill(-1, 0, width + 1);
    let last = 0;
    for (let a = 0; a < n; ) {
      let b = a;
      while (b < n && this.#from[b] === this.#from[a]) b++;
      for (let i = a; i < b; i++) {
        let best = -1;
        for (let k = this.#end[i]!; k > 0; k -= k & -k) {
          const j = tree[k]!;
          if (j >= 0 && (best < 0 || this.#better(j, best))) best = j;
        }
        this.#follow(i, best);
      }
      for (let i = a; i < b; i++) {
        for (let k = this.#end[i]! + 1; k <= width; k += k & -k) {
          if (tree[k]! < 0 || this.#better(i, tree[k]!)) tree[k] = i;
        }
        if (this.#sum[i]! > this.#sum[last]!) last = i;
      }
      a = b;
    }
    return last;
  }

  #better(i: number, j: number): boolean {
    return this.#sum[i]! > this.#sum[j]! || (this.#sum[i] === this.#sum[j] && i < j);
  }
}

export function alignBlocks(graph: ExpandedGraph, order: RowOrder, layering: Layering): Blocks {
  const { nodes, count, up, down } = graph;
  const { item, start, position } = order;
  const upRun = runs(graph, order, up, true);
  const downRun = runs(graph, order, down, false);
  const bestUp = bestNeighbors(graph, up, upRun);
  const bestDown = bestNeighbors(graph, down, downRun);
  const { main, broken } = mainLine(order, layering, upRun, bestUp);

  const above = new Int32Array(count).fill(-1);
  const aligner = new Aligner(down.item.length, widestRow(order), above);
  for (let r = 0; r + 1 < graph.rows; r++) {
    const left = position[main[r]!]!;
    const right = position[main[r + 1]!]!;
    aligner.clear();
    for (let i = start[r]!; i < start[r + 1]!; i++) {
      const u = item[i]!;
      for (let k = down.start[u]!; k < down.start[u + 1]!; k++) {
        const v = down.item[k]!;
        // A gap in the main line: compare only items on the same side of it.
        if (broken[r] && (position[u]! - left) * (position[v]! - right) <= 0) continue;
        const best = (bestUp[v] === u ? 1 : 0) + (bestDown[u] === v ? 1 : 0);
        const plain = best === 2 ? BOTH_BEST : best === 1 ? ONE_BEST : 0;
        const onMain = main[r] === u && main[r + 1] === v;
        const weight = onMain ? MAIN : u >= nodes && v >= nodes ? TRUNK : plain;
        if (weight > 0) aligner.add(u, v, position[v]!, weight);
      }
    }
    aligner.choose(start[r + 2]! - start[r + 1]!);
  }
  return partBlocks(item, above, main);
}

function partBlocks(item: Int32Array, above: Int32Array, main: Int32Array): Blocks {
  const count = item.length;
  const ofItem = new Int32Array(count);
  const size = new Int32Array(count + 1);
  let blocks = 0;
  for (let i = 0; i < count; i++) {
    const v = item[i]!;
    ofItem[v] = above[v]! >= 0 ? ofItem[above[v]!]! : blocks++;
    size[ofItem[v]! + 1]!++;
  }
  for (let b = 0; b < blocks; b++) size[b + 1]! += size[b]!;
  const fill = size.slice(0, blocks);
  const sorted = new Int32Array(count);
  for (let i = 0; i < count; i++) sorted[fill[ofItem[item[i]!]!]!++] = item[i]!;
  return {
    count: blocks,
    ofItem,
    members: { start: size.subarray(0, blocks + 1), item: sorted },
    main,
  };
}

const PASSES = 4;

/** Free space between two items of a row. */
export function gapOf(
  { nodes, port }: ExpandedGraph,
  u: number,
  v: number,
  spacing: Spacing,
): number {
  const line = (item: number) => (item >= nodes || port[item] !== 0 ? 1 : 0);
  const lines = line(u) + line(v);
  return lines === 0 ? spacing.nodeGap : lines === 1 ? spacing.lineGap : spacing.trackGap;
}

/** Neighborhood of the blocks, one row per block; rows as in the blocks' members, except `around`. */
interface Surroundings {
  /** Per member: the blocks left and right of it in its row (-1 for none), and their least distances. */
  left: Int32Array;
  leftGap: Float64Array;
  right: Int32Array;
  rightGap: Float64Array;
  /** Adjacent blocks by block. */
  around: CompressedRows;
  sequence: Int32Array;
  /** Side of the main line: left -1, on it 0, right 1. */
  side: Int8Array;
}

/**
 * Places the blocks: every component's main line at 0, everything else as close to it as the boxes allow; then blocks
 * move outwards towards their neighbors if there is room. Positions are integers.
 */
export function placeBlocks(
  graph: ExpandedGraph,
  order: RowOrder,
  blocks: Blocks,
  width: Float64Array,
  spacing: Spacing,
): Float64Array {
  const { ofItem, main } = blocks;
  const x = new Float64Array(blocks.count);
  const surroundings: Surroundings = {
    ...besides(graph, order, blocks, width, spacing),
    around: around(graph, blocks),
    sequence: new Int32Array(blocks.count),
    side: new Int8Array(blocks.count),
  };
  leftToRight(graph, order, blocks, surroundings);
  shift(x, blocks, surroundings, -1, true);
  shift(x, blocks, surroundings, 1, true);
  for (let pass = 0; pass < PASSES; pass++) {
    const right = shift(x, blocks, surroundings, 1, false);
    const left = shift(x, blocks, surroundings, -1, false);
    if (!left && !right) break;
  }
  const center = new Float64Array(graph.count);
  for (let v = 0; v < center.length; v++) center[v] = x[ofItem[v]!]!;
  for (let r = 0; r < main.length; r++) center[main[r]!] = 0;
  return center;
}

function besides(
  graph: ExpandedGraph,
  { item }: RowOrder,
  { members, ofItem }: Blocks,
  width: Float64Array,
  spacing: Spacing,
) {
  const { nodes, row, count } = graph;
  const slot = new Int32Array(count);
  for (let k = 0; k < count; k++) slot[members.item[k]!] = k;
  const left = new Int32Array(count).fill(-1);
  const right = new Int32Array(count).fill(-1);
  const leftGap = new Float64Array(count);
  const rightGap = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    const u = item[i - 1]!;
    const v = item[i]!;
    if (row[u] !== row[v]) continue;
    const halves = (u < nodes ? width[u]! / 2 : 0) + (v < nodes ? width[v]! / 2 : 0);
    const gap = Math.ceil(halves + gapOf(graph, u, v, spacing));
    left[slot[v]!] = ofItem[u]!;
    leftGap[slot[v]!] = gap;
    right[slot[u]!] = ofItem[v]!;
    rightGap[slot[u]!] = gap;
  }
  return { left, leftGap, right, rightGap };
}

function around({ up, down }: ExpandedGraph, { count, members, ofItem }: Blocks): CompressedRows {
  const start = new Int32Array(count + 1);
  const item = new Int32Array(up.item.length + down.item.length);
  let run = 0;
  for (let b = 0; b < count; b++) {
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const v = members.item[k]!;
      for (let q = up.start[v]!; q < up.start[v + 1]!; q++) {
        const c = ofItem[up.item[q]!]!;
        if (c !== b) item[run++] = c;
      }
      for (let q = down.start[v]!; q < down.start[v + 1]!; q++) {
        const c = ofItem[down.item[q]!]!;
        if (c !== b) item[run++] = c;
      }
    }
    start[b + 1] = run;
  }
  return { start, item };
}

function leftToRight(
  { row }: ExpandedGraph,
  { position }: RowOrder,
  { members, main, count }: Blocks,
  { left, right, sequence, side }: Surroundings,
): void {
  const missing = new Int32Array(count);
  let tail = 0;
  for (let b = 0; b < count; b++) {
    const first = members.item[members.start[b]!]!;
    side[b] = Math.sign(position[first]! - position[main[row[first]!]!]!);
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++)
      if (left[k]! >= 0) missing[b]!++;
    if (missing[b] === 0) sequence[tail++] = b;
  }
  for (let head = 0; head < tail; head++) {
    const b = sequence[head]!;
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const c = right[k]!;
      if (c >= 0 && --missing[c]! === 0) sequence[tail++] = c;
    }
  }
}

/**
 * Moves the blocks beside the main line to the right (1) or left (-1), up to the mean of their neighbors and as far as
 * there is room; those on one side first. Returns true if any moved.
 */
function shift(
  x: Float64Array,
  { count, members }: Blocks,
  { left, leftGap, right, rightGap, around, sequence, side }: Surroundings,
  way: 1 | -1,
  first: boolean,
): boolean {
  const beside = way > 0 ? right : left;
  const gap = way > 0 ? rightGap : leftGap;
  const near = around.item;
  let moved = false;
  for (let n = 0; n < count; n++) {
    const b = sequence[way > 0 ? count - 1 - n : n]!;
    if (side[b] === 0 || (first && side[b] === way)) continue;
    let to = Number.POSITIVE_INFINITY;
    if (!first) {
      const begin = around.start[b]!;
      const end = around.start[b + 1]!;
      let sum = 0;
      for (let k = begin; k < end; k++) sum += x[near[k]!]!;
      if (begin === end) continue;
      to = way * Math.floor(sum / (end - begin) + 0.5);
      if (to <= way * x[b]!) continue;
    }
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      if (beside[k]! < 0) continue;
      const most = way * x[beside[k]!]! - gap[k]!;
      if (most < to) to = most;
    }
    if (way * to === x[b]) continue;
    x[b] = way * to + 0;
    moved = true;
  }
  return moved;
}
