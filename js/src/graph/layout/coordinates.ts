import type { Rows } from "./adjacency.ts";
import type { Blocks } from "./blocks.ts";
import type { Order } from "./initial.ts";
import type { Expanded } from "./trunks.ts";
import type { Spacing } from "./types.ts";

const PASSES = 4;

/** Free space between two items of a row. */
export function gapOf({ nodes, port }: Expanded, u: number, v: number, spacing: Spacing): number {
  const line = (item: number) => (item >= nodes || port[item] !== 0 ? 1 : 0);
  const lines = line(u) + line(v);
  return lines === 0 ? spacing.nodeGap : lines === 1 ? spacing.lineGap : spacing.trackGap;
}

/** What stands beside and around the blocks, one row a block; rows as in the blocks' members, but for `around`. */
interface Surroundings {
  /** Per member: the block left and right of it in its row, -1 without, and how far apart the two must be. */
  left: Int32Array;
  leftGap: Float64Array;
  right: Int32Array;
  rightGap: Float64Array;
  /** Blocks with an edge to each block. */
  around: Rows;
  /** Blocks sorted so that each comes after all that stand left of it. */
  sequence: Int32Array;
  /** Left of the main line, on it, right of it: -1, 0, 1. */
  side: Int8Array;
}

/**
 * Places the blocks: each component's main line stands at 0, everything else as close to it as the boxes allow, then
 * blocks move outwards towards their neighbors where there is room. Positions are whole pixels.
 */
export function placeBlocks(
  graph: Expanded,
  order: Order,
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
  { nodes, port, row, count }: Expanded,
  { item }: Order,
  { members, ofItem }: Blocks,
  width: Float64Array,
  { nodeGap, lineGap, trackGap }: Spacing,
) {
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
    const lines = (u >= nodes || port[u] !== 0 ? 1 : 0) + (v >= nodes || port[v] !== 0 ? 1 : 0);
    const halves = (u < nodes ? width[u]! / 2 : 0) + (v < nodes ? width[v]! / 2 : 0);
    const gap = Math.ceil(halves + (lines === 0 ? nodeGap : lines === 1 ? lineGap : trackGap));
    left[slot[v]!] = ofItem[u]!;
    leftGap[slot[v]!] = gap;
    right[slot[u]!] = ofItem[v]!;
    rightGap[slot[u]!] = gap;
  }
  return { left, leftGap, right, rightGap };
}

function around({ up, down }: Expanded, { count, members, ofItem }: Blocks): Rows {
  const start = new Int32Array(count + 1);
  const item = new Int32Array(up.item.length + down.item.length);
  let found = 0;
  for (let b = 0; b < count; b++) {
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const v = members.item[k]!;
      for (let q = up.start[v]!; q < up.start[v + 1]!; q++) {
        const c = ofItem[up.item[q]!]!;
        if (c !== b) item[found++] = c;
      }
      for (let q = down.start[v]!; q < down.start[v + 1]!; q++) {
        const c = ofItem[down.item[q]!]!;
        if (c !== b) item[found++] = c;
      }
    }
    start[b + 1] = found;
  }
  return { start, item };
}

function leftToRight(
  { row }: Expanded,
  { position }: Order,
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
 * Moves the blocks beside the main line to the right (1) or to the left (-1), as far as the mean of their neighbors and as
 * there is room; at first those on one side as far as they can come. Answers whether any moved.
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
