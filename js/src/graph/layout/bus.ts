import { addTo } from "../../shared/many.ts";
import type { Ports } from "./ports.ts";
import type { Expanded, Trunks } from "./trunks.ts";
import type { Geometry, LevelGraphs } from "./types.ts";

/** Readers in the next layer from which on a tensor's branches leave one horizontal line. */
const BRANCHES = 3;
/** Horizontal lines between two layers; branches beyond that fan out from their trunk. */
const TRACKS = 4;

/** Branches of one tensor into one layer. */
interface Bus {
  links: number[];
  /** Where the tensor comes from, x. */
  stem: number;
  low: number;
  high: number;
}

export interface Buses {
  /** Per edge: y of the horizontal line it takes, NaN without. */
  at: Float64Array;
  /** Per edge: where the tensor comes down to that line, x. */
  stem: Float64Array;
  /** Per edge: the edge whose stroke it leaves on that line; -1 for the one that has the line from the stem on. */
  leaves: Int32Array;
  /** Per edge that leaves one: whether it goes on along the line to the other side. */
  outer: Uint8Array;
}

/** Crossings of two lines where `a` runs above `b`. */
function crossings(a: Bus, b: Bus, inX: Float64Array): number {
  let count = b.stem > a.low && b.stem < a.high ? 1 : 0;
  for (const link of a.links) if (inX[link]! > b.low && inX[link]! < b.high) count++;
  return count;
}

/** Answers a function that finds the lines of the edges from … to - 1, whose level must have its ports and layers. */
export function busFinder(
  graph: Expanded,
  trunks: Trunks,
  { source, target }: LevelGraphs,
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

  const settle = (layerBelow: number, found: Bus[]) => {
    const lines = found.sort((a, b) => b.links.length - a.links.length).slice(0, TRACKS);
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

  const fan = new Int32Array(x.length);
  /** Whether so many branches of one tensor come from one point that they share a line. */
  const fansOut = (k: number): boolean => {
    let most = 0;
    for (let i = start[k]!; i < start[k + 1]!; i++) {
      const above = last[item[i]!]!;
      if (above >= 0 && ++fan[above]! > most) most = fan[above]!;
    }
    for (let i = start[k]!; i < start[k + 1]!; i++) {
      const above = last[item[i]!]!;
      if (above >= 0) fan[above] = 0;
    }
    return most >= BRANCHES;
  };
  /** Groups the branches of one tensor by what they come from. */
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
  /** Per edge: the tensor with several branches whose first one it is, -1 for most. */
  const wide = new Int32Array(edges).fill(-1);
  for (let k = 0; k < trunks.count; k++) {
    if (start[k + 1]! - start[k]! >= BRANCHES) wide[item[start[k]!]!] = k;
  }
  const find = (from: number, to: number) => {
    let channels: Map<number, Bus[]> | undefined;
    for (let e = from; e < to; e++) {
      if (wide[e]! < 0 || !fansOut(wide[e]!)) continue;
      channels ??= new Map();
      gather(wide[e]!, channels);
    }
    if (channels) for (const [below, found] of channels) settle(below, found);
  };
  return { buses: { at, stem, leaves, outer }, find };
}
