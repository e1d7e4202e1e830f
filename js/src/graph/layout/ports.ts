import { addTo } from "../../shared/many.ts";
import { groupBy, sortByKey } from "./adjacency.ts";
import type { ExpandedGraph, Trunks } from "./trunks.ts";
import type { Geometry, Levels } from "./types.ts";

/** Ports of lines at boxes, x in px. */
export interface Ports {
  /** Per trunk, on the source's lower border. */
  out: Float64Array;
  /** Per edge, on the target's upper border. */
  in: Float64Array;
}

const PORT_GAP = 10;
const CORNER = 8;

/** Spreads sorted ports along a border: the one nearest to the middle stays, the others move to the sides. */
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

/** Returns a function that places the ports of the items from … to - 1, whose level must have its final x. */
export function portPlacer(
  graph: ExpandedGraph,
  trunks: Trunks,
  { target, frame, inPort, outPort }: Levels,
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

/** Number of readers in the next layer from which a tensor's branches share one horizontal line. */
const BRANCHES = 3;
/** Most horizontal lines between two layers; further branches fan out from their trunk. */
const TRACKS = 4;

/** Branches of one tensor into one layer. */
interface Bus {
  links: number[];
  /** x of the tensor's vertical line. */
  stem: number;
  low: number;
  high: number;
}

export interface Buses {
  /** Per edge: y of its horizontal line, or NaN. */
  at: Float64Array;
  /** Per edge: x of the vertical line to that horizontal one. */
  stem: Float64Array;
  /** Per edge: the edge whose stroke it leaves on that line; -1 for the edge that draws the line. */
  leaves: Int32Array;
  /** Per edge that leaves another: 1 if the line continues to the other side. */
  outer: Uint8Array;
}

/** Crossings of two lines where `a` runs above `b`. */
function crossings(a: Bus, b: Bus, inX: Float64Array): number {
  let count = b.stem > a.low && b.stem < a.high ? 1 : 0;
  for (const link of a.links) if (inX[link]! > b.low && inX[link]! < b.high) count++;
  return count;
}

/** Returns a function that finds the lines of the edges from … to - 1, whose level must have its ports and layers. */
export function busFinder(
  graph: ExpandedGraph,
  trunks: Trunks,
  { source, target }: Levels,
  ports: Ports,
  { x, layer, layerTop, layerBottom }: Geometry,
): { buses: Buses; find: (from: number, to: number) => void } {
  const { last, nodes } = graph;
  const edges = source.length;
  const at = new Float64Array(edges).fill(Number.NaN);
  const stem = new Float64Array(edges);
  const leaves = new Int32Array(edges).fill(-1);
  const outer = new Uint8Array(edges);
  const { start, item } = trunks.edges;

  const settle = (layerBelow: number, buses: Bus[]) => {
    const lines = buses.sort((a, b) => b.links.length - a.links.length).slice(0, TRACKS);
    lines.sort((a, b) => a.stem - b.stem);
    for (let round = 1; round < lines.length; round++) {
      for (let i = 0; i + 1 < lines.length; i++) {
        const [a, b] = [lines[i]!, lines[i + 1]!];
        if (crossings(b, a, ports.in) < crossings(a, b, ports.in))
          [lines[i], lines[i + 1]] = [b, a];
      }
    }
    const top = layerBottom[layerBelow - 1]!;
    const room = layerTop[layerBelow]! - top;
    lines.forEach(({ links, stem: from }, i) => {
      links.sort((a, b) => ports.in[a]! - ports.in[b]! || a - b);
      const right = links.at(-1)!;
      const left = links[0]!;
      const bearer = ports.in[right]! > from ? right : left;
      for (const link of links) {
        at[link] = top + (room * (i + 1)) / (lines.length + 1);
        stem[link] = from;
        if (link === bearer) continue;
        const side = ports.in[link]! >= from ? right : left;
        leaves[link] = link === side ? bearer : side;
        if (link === side) outer[link] = 1;
      }
    });
  };

  /** Groups the branches of one tensor by origin. */
  const gather = (k: number, channels: Map<number, Bus[]>) => {
    const byAbove = new Map<number, number[]>();
    for (let i = start[k]!; i < start[k + 1]!; i++) {
      const above = last[item[i]!]!;
      if (above < 0) continue;
      addTo(byAbove, above, item[i]!);
    }
    for (const [above, links] of byAbove) {
      if (links.length < BRANCHES) continue;
      const own = above < nodes ? ports.out[k]! : x[above]!;
      let [low, high] = [own, own];
      for (const link of links) {
        low = Math.min(low, ports.in[link]!);
        high = Math.max(high, ports.in[link]!);
      }
      const below = layer[target[links[0]!]!]!;
      const bus = { links, stem: own, low, high };
      addTo(channels, below, bus);
    }
  };
  /** Per edge: the tensor with several branches of which it is the first; -1 for most. */
  const wide = new Int32Array(edges).fill(-1);
  for (let k = 0; k < trunks.count; k++) {
    if (start[k + 1]! - start[k]! >= BRANCHES) wide[item[start[k]!]!] = k;
  }
  const find = (from: number, to: number) => {
    let channels: Map<number, Bus[]> | undefined;
    for (let e = from; e < to; e++) {
      if (wide[e]! < 0) continue;
      channels ??= new Map();
      gather(wide[e]!, channels);
    }
    if (channels) for (const [below, buses] of channels) settle(below, buses);
  };
  return { buses: { at, stem, leaves, outer }, find };
}
