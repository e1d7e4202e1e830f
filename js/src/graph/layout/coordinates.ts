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

/**
 * Places the blocks: each component's main line stands at 0, everything else as close to it as the boxes allow, then
 * blocks move outwards towards their neighbours where there is room. Positions are whole pixels.
 */
export function placeBlocks(
  graph: Expanded,
  order: Order,
  blocks: Blocks,
  width: Float64Array,
  spacing: Spacing,
): Float64Array {
  const { nodes, count, up, down, row } = graph;
  const { item, start, position } = order;
  const { members, ofItem, main } = blocks;
  const x = new Float64Array(blocks.count);

  const separation = (u: number, v: number): number =>
    Math.ceil(
      (u < nodes ? width[u]! / 2 : 0) +
        (v < nodes ? width[v]! / 2 : 0) +
        gapOf(graph, u, v, spacing),
    );
  const toLeft = new Float64Array(count);
  for (let i = 1; i < count; i++) {
    if (row[item[i]!] === row[item[i - 1]!]) {
      toLeft[item[i]!] = separation(item[i - 1]!, item[i]!);
    }
  }
  const leftOf = (v: number) =>
    position[v] === 0 ? -1 : item[start[row[v]!]! + position[v]! - 1]!;
  const rightOf = (v: number) => {
    const i = start[row[v]!]! + position[v]! + 1;
    return i < start[row[v]! + 1]! ? item[i]! : -1;
  };
  const leastX = (b: number): number => {
    let least = Number.NEGATIVE_INFINITY;
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const v = members.item[k]!;
      const u = leftOf(v);
      if (u >= 0) least = Math.max(least, x[ofItem[u]!]! + toLeft[v]!);
    }
    return least;
  };
  const mostX = (b: number): number => {
    let most = Number.POSITIVE_INFINITY;
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const v = rightOf(members.item[k]!);
      if (v >= 0) most = Math.min(most, x[ofItem[v]!]! - toLeft[v]!);
    }
    return most;
  };
  const wanted = (b: number): number => {
    let sum = 0;
    let weight = 0;
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const v = members.item[k]!;
      for (let q = up.start[v]!; q < up.start[v + 1]!; q++) {
        const c = ofItem[up.item[q]!]!;
        if (c === b) continue;
        sum += x[c]!;
        weight++;
      }
      for (let q = down.start[v]!; q < down.start[v + 1]!; q++) {
        const c = ofItem[down.item[q]!]!;
        if (c === b) continue;
        sum += x[c]!;
        weight++;
      }
    }
    return weight === 0 ? x[b]! : Math.floor(sum / weight + 0.5);
  };

  const { sequence, side } = leftToRight(graph, order, blocks, leftOf, rightOf);
  for (let i = 0; i < sequence.length; i++) {
    if (side[sequence[i]!]! > 0) x[sequence[i]!] = leastX(sequence[i]!);
  }
  for (let i = sequence.length - 1; i >= 0; i--) {
    if (side[sequence[i]!]! < 0) x[sequence[i]!] = mostX(sequence[i]!);
  }
  for (let pass = 0; pass < PASSES; pass++) {
    for (let i = sequence.length - 1; i >= 0; i--) {
      const b = sequence[i]!;
      if (side[b] === 0) continue;
      const goal = wanted(b);
      if (goal > x[b]!) x[b] = Math.min(goal, mostX(b));
    }
    for (let i = 0; i < sequence.length; i++) {
      const b = sequence[i]!;
      if (side[b] === 0) continue;
      const goal = wanted(b);
      if (goal < x[b]!) x[b] = Math.max(goal, leastX(b));
    }
  }
  const centre = new Float64Array(count);
  for (let v = 0; v < count; v++) centre[v] = x[ofItem[v]!]!;
  for (let r = 0; r < main.length; r++) centre[main[r]!] = 0;
  return centre;
}

/** The blocks sorted so that each comes after all that stand left of it; side is -1, 0 (main line) or 1. */
function leftToRight(
  graph: Expanded,
  order: Order,
  blocks: Blocks,
  leftOf: (v: number) => number,
  rightOf: (v: number) => number,
) {
  const { members, ofItem, main, count } = blocks;
  const { row } = graph;
  const side = new Int8Array(count);
  const missing = new Int32Array(count);
  for (let b = 0; b < count; b++) {
    const first = members.item[members.start[b]!]!;
    side[b] = Math.sign(order.position[first]! - order.position[main[row[first]!]!]!);
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      if (leftOf(members.item[k]!) >= 0) missing[b]!++;
    }
  }
  const sequence = new Int32Array(count);
  let tail = 0;
  for (let b = 0; b < count; b++) if (missing[b] === 0) sequence[tail++] = b;
  for (let head = 0; head < tail; head++) {
    const b = sequence[head]!;
    for (let k = members.start[b]!; k < members.start[b + 1]!; k++) {
      const v = rightOf(members.item[k]!);
      if (v >= 0 && --missing[ofItem[v]!]! === 0) sequence[tail++] = ofItem[v]!;
    }
  }
  return { sequence, side };
}
