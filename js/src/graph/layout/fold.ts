import { at, bytesAt, groupBy } from "./adjacency.ts";
import { assignLayers } from "./layering.ts";
import { findTrunks, type Trunks } from "./trunks.ts";
import type { CompoundInput, Layering, LevelGraphs, Levels } from "./types.ts";

/** The level graphs of which each is laid out once, and where each item, edge and level of the whole is among them. */
export interface Folded {
  levels: LevelGraphs;
  layering: Layering;
  trunks: Trunks;
  hidden: Uint8Array;
  itemAt: Int32Array;
  edgeAt: Int32Array;
  levelAt: Int32Array;
  /** Per level: the one of the whole that stands for it; per item likewise. */
  levelOf: Int32Array;
  itemOf: Int32Array;
}

/** For each level the last one with the same content, frames inside included. */
function likeLevels(
  { frames }: CompoundInput,
  levels: Levels,
  trunks: Trunks,
  hidden: Uint8Array,
  width: Float64Array,
  height: Float64Array,
): Int32Array {
  const { alike, minWidth, closedHeight } = frames!;
  const { itemStart, edgeStart, frame, port, source, target, flipped, inPort, outPort } = levels;
  const count = itemStart.length - 1;
  const like = new Int32Array(count);
  const trunkStart = new Int32Array(count + 1);
  for (let k = 0; k < trunks.count; k++) trunkStart[levels.levelOf[trunks.source[k]!]! + 1]!++;
  for (let l = 0; l < count; l++) trunkStart[l + 1]! += trunkStart[l]!;

  const kindOf = (v: number) => (frame[v]! < 0 ? -1 - port[v]! : like[frame[v]! + 1]!);
  /** Where a port stands in its frame. */
  const placeOf = (at: number) => (at < 0 ? -1 : at - itemStart[levels.levelOf[at]!]!);
  const mixed = (hash: number, value: number) =>
    Math.imul(hash ^ value, 0x9e3779b1) + (hash >>> 15);
  const hashOf = (l: number): number => {
    let hash = mixed(alike[l - 1]!, minWidth[l - 1]!);
    for (let v = itemStart[l]!; v < itemStart[l + 1]!; v++) {
      hash = mixed(mixed(hash, kindOf(v)), width[v]!);
    }
    for (let e = edgeStart[l]!; e < edgeStart[l + 1]!; e++) {
      hash = mixed(mixed(hash, source[e]! - itemStart[l]!), target[e]! - itemStart[l]!);
    }
    return hash;
  };
  const same = (l: number, m: number): boolean => {
    if (alike[l - 1] !== alike[m - 1] || minWidth[l - 1] !== minWidth[m - 1]) return false;
    if (closedHeight && closedHeight[l - 1] !== closedHeight[m - 1]) return false;
    const v = itemStart[l]!;
    const w = itemStart[m]!;
    const items = itemStart[l + 1]! - v;
    const e = edgeStart[l]!;
    const f = edgeStart[m]!;
    const edges = edgeStart[l + 1]! - e;
    if (itemStart[m + 1]! - w !== items || edgeStart[m + 1]! - f !== edges) return false;
    for (let i = 0; i < items; i++) {
      if (kindOf(v + i) !== kindOf(w + i)) return false;
      if (width[v + i] !== width[w + i] || height[v + i] !== height[w + i]) return false;
    }
    const apart = trunkStart[l]! - trunkStart[m]!;
    for (let i = 0; i < edges; i++) {
      if (source[e + i]! - v !== source[f + i]! - w) return false;
      if (target[e + i]! - v !== target[f + i]! - w) return false;
      if (trunks.ofEdge[e + i]! - trunks.ofEdge[f + i]! !== apart) return false;
      if (hidden[e + i] !== hidden[f + i] || flipped[e + i] !== flipped[f + i]) return false;
      if (placeOf(inPort[e + i]!) !== placeOf(inPort[f + i]!)) return false;
      if (placeOf(outPort[e + i]!) !== placeOf(outPort[f + i]!)) return false;
    }
    return true;
  };
  const known = new Map<number, number>();
  for (let l = count - 1; l > 0; l--) {
    const hash = hashOf(l);
    const found = known.get(hash) ?? l;
    like[l] = same(l, found) ? found : l;
    known.set(hash, like[l]!);
  }
  return like;
}

/** Keeps one of the levels that are alike. */
export function fold(
  input: CompoundInput,
  whole: Levels,
  trunks: Trunks,
  hidden: Uint8Array,
  width: Float64Array,
  height: Float64Array,
): Folded {
  const like = likeLevels(input, whole, trunks, hidden, width, height);
  const levelOf = like.filter((found, l) => found === l);
  const kept = levelOf.length;
  const levelAt = new Int32Array(like.length);
  const itemStart = new Int32Array(kept + 1);
  const edgeStart = new Int32Array(kept + 1);
  for (let n = 0; n < kept; n++) {
    const l = levelOf[n]!;
    levelAt[l] = n;
    itemStart[n + 1] = itemStart[n]! + whole.itemStart[l + 1]! - whole.itemStart[l]!;
    edgeStart[n + 1] = edgeStart[n]! + whole.edgeStart[l + 1]! - whole.edgeStart[l]!;
  }
  const count = itemStart[kept]!;
  const itemOf = new Int32Array(count);
  const edgeOf = new Int32Array(edgeStart[kept]!);
  const itemAt = new Int32Array(whole.count);
  const edgeAt = new Int32Array(whole.source.length);
  for (let l = 0; l < like.length; l++) {
    const n = levelAt[like[l]!]!;
    levelAt[l] = n;
    const item = itemStart[n]! - whole.itemStart[l]!;
    const edge = edgeStart[n]! - whole.edgeStart[l]!;
    for (let v = whole.itemStart[l]!; v < whole.itemStart[l + 1]!; v++) {
      itemAt[v] = v + item;
      if (like[l] === l) itemOf[v + item] = v;
    }
    for (let e = whole.edgeStart[l]!; e < whole.edgeStart[l + 1]!; e++) {
      edgeAt[e] = e + edge;
      if (like[l] === l) edgeOf[e + edge] = e;
    }
  }
  const moved = (values: Int32Array) => {
    const picked = at(values, edgeOf);
    for (let e = 0; e < picked.length; e++) if (picked[e]! >= 0) picked[e] = itemAt[picked[e]!]!;
    return picked;
  };
  const levels: LevelGraphs = {
    count,
    itemStart,
    edgeStart,
    levelOf: at(levelAt, at(whole.levelOf, itemOf)),
    frame: itemOf.map((v) => (whole.frame[v]! < 0 ? -1 : levelAt[whole.frame[v]! + 1]! - 1)),
    port: bytesAt(whole.port, itemOf),
    source: moved(whole.source),
    target: moved(whole.target),
    slot: at(whole.slot, edgeOf),
    flipped: bytesAt(whole.flipped, edgeOf),
    outPort: moved(whole.outPort),
    inPort: moved(whole.inPort),
  };
  const outgoing = groupBy(count, levels.source);
  return {
    levels,
    layering: assignLayers(levels, outgoing),
    trunks: findTrunks(levels.source, outgoing, levels.slot, levels.flipped),
    hidden: bytesAt(hidden, edgeOf),
    itemAt,
    edgeAt,
    levelAt,
    levelOf,
    itemOf,
  };
}
