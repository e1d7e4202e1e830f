import { groupBy } from "./adjacency.ts";
import { sortByKey } from "./sort.ts";
import type { Expanded, Trunks } from "./trunks.ts";
import type { LevelGraphs } from "./types.ts";

/** Where lines meet the boxes, x in px. */
export interface Ports {
  /** Per trunk, on the source's lower border. */
  out: Float64Array;
  /** Per edge, on the target's upper border. */
  in: Float64Array;
}

const PORT_GAP = 10;
const CORNER = 8;

/**
 * Spreads ports (sorted by where their lines come from) along a border: the line nearest to the middle of the box keeps
 * its place, the others give way to the sides.
 */
function spread(wish: Float64Array, count: number, middle: number, width: number): void {
  const half = width / 2 - Math.min(CORNER, width / 4);
  if (count === 1) {
    wish[0] = Math.max(middle - half, Math.min(middle + half, wish[0]!));
    return;
  }
  let kept = 0;
  for (let i = 1; i < count; i++) {
    if (Math.abs(wish[i]! - middle) < Math.abs(wish[kept]! - middle)) kept = i;
  }
  for (let i = 0; i < count; i++) {
    wish[i] = Math.max(middle - half, Math.min(middle + half, wish[i]!));
  }
  const right = count - 1 - kept;
  if (right > 0) {
    const gap = Math.min(PORT_GAP, (middle + half - wish[kept]!) / right);
    for (let i = kept + 1; i < count; i++) wish[i] = Math.max(wish[i]!, wish[i - 1]! + gap);
    wish[count - 1] = Math.min(wish[count - 1]!, middle + half);
    for (let i = count - 2; i > kept; i--) wish[i] = Math.min(wish[i]!, wish[i + 1]! - gap);
  }
  if (kept > 0) {
    const gap = Math.min(PORT_GAP, (wish[kept]! - (middle - half)) / kept);
    for (let i = kept - 1; i >= 0; i--) wish[i] = Math.min(wish[i]!, wish[i + 1]! - gap);
    wish[0] = Math.max(wish[0]!, middle - half);
    for (let i = 1; i < kept; i++) wish[i] = Math.max(wish[i]!, wish[i - 1]! + gap);
  }
}

/** Answers a function that places the ports of the items from … to - 1, whose level must have its final x. */
export function portPlacer(
  graph: Expanded,
  trunks: Trunks,
  { target, frame, inPort, outPort }: LevelGraphs,
  center: Float64Array,
  width: Float64Array,
): { ports: Ports; place: (from: number, to: number) => void } {
  const { nodes, last, points, firstPoint } = graph;
  const incoming = groupBy(nodes, target);
  const ofSource = groupBy(nodes, trunks.source);
  let most = 1;
  for (let v = 0; v < nodes; v++) {
    most = Math.max(
      most,
      incoming.start[v + 1]! - incoming.start[v]!,
      ofSource.start[v + 1]! - ofSource.start[v]!,
    );
  }
  const wish = new Float64Array(most);
  const member = new Int32Array(most);
  const readAt = (e: number): number =>
    center[target[e]!]! + (inPort[e]! < 0 ? 0 : center[inPort[e]!]!);

  const meanBelow = (v: number, k: number): number => {
    let sum = 0;
    let readers = 0;
    if (points[k]! > 0) {
      sum = center[firstPoint[k]!]!;
      readers = 1;
      if (sum === center[v]) return sum;
    }
    for (let q = trunks.edges.start[k]!; q < trunks.edges.start[k + 1]!; q++) {
      const e = trunks.edges.item[q]!;
      if (last[e] !== v) continue;
      const below = readAt(e);
      if (below === center[v]) return below;
      sum += below;
      readers++;
    }
    return readers > 0 ? sum / readers : Number.POSITIVE_INFINITY;
  };
  const outX = new Float64Array(trunks.count);
  const inX = new Float64Array(target.length);
  const placeOut = (v: number) => {
    const first = ofSource.start[v]!;
    const count = ofSource.start[v + 1]! - first;
    if (frame[v]! >= 0) {
      for (let i = first; i < first + count; i++) {
        const k = ofSource.item[i]!;
        outX[k] = center[v]! + center[outPort[trunks.edges.item[trunks.edges.start[k]!]!]!]!;
      }
      return;
    }
    if (count === 1) outX[ofSource.item[first]!] = center[v]!;
    if (count < 2) return;
    for (let i = 0; i < count; i++) {
      const k = ofSource.item[first + i]!;
      member[i] = k;
      wish[i] = meanBelow(v, k);
    }
    sortByKey(member, wish, count);
    spread(wish, count, center[v]!, width[v]!);
    for (let i = 0; i < count; i++) outX[member[i]!] = wish[i]!;
  };
  const placeIn = (v: number) => {
    const first = incoming.start[v]!;
    const count = incoming.start[v + 1]! - first;
    if (count === 0) return;
    for (let i = 0; i < count; i++) {
      const e = incoming.item[first + i]!;
      if (frame[v]! >= 0) {
        inX[e] = readAt(e);
        continue;
      }
      member[i] = e;
      const u = last[e]!;
      if (u < 0) wish[i] = Number.POSITIVE_INFINITY;
      else wish[i] = u < nodes ? outX[trunks.ofEdge[e]!]! : center[u]!;
    }
    if (frame[v]! >= 0) return;
    if (count > 1) sortByKey(member, wish, count);
    spread(wish, count, center[v]!, width[v]!);
    for (let i = 0; i < count; i++) inX[member[i]!] = wish[i]!;
  };
  const place = (from: number, to: number) => {
    for (let v = from; v < to; v++) placeOut(v);
    for (let v = from; v < to; v++) placeIn(v);
  };
  return { ports: { out: outX, in: inX }, place };
}
