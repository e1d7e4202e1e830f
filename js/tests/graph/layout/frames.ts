// Graphs with nested groups, some of them open: what a view draws when a reader opens and closes groups.
import type { LayoutInput } from "../../../src/graph/layout/types.ts";
import { random } from "./graphs.ts";

/** Groups are intervals start … end - 1 of the nodes, nested, parents first. */
export interface Groups {
  start: number[];
  end: number[];
  parent: number[];
}

/** Random nested intervals of a graph whose edges run from lower to higher numbers. */
export function someGroups(count: number, seed: number, most = 12): Groups {
  const next = random(seed);
  const groups: Groups = { start: [], end: [], parent: [] };
  const part = (from: number, to: number, parent: number, depth: number) => {
    let at = from;
    while (at + 2 <= to && groups.start.length < most * 8) {
      const size = 2 + Math.floor(next() * Math.min(to - at, 2 + (to - from) / 2));
      const end = Math.min(to, at + size);
      if (next() < 0.6 && end - at < to - from) {
        const id = groups.start.push(at) - 1;
        groups.end.push(end);
        groups.parent.push(parent);
        if (depth < 4 && end - at > 3) part(at, end, id, depth + 1);
      }
      at = end;
    }
  };
  part(0, count, -1, 0);
  return groups;
}

export interface Shown {
  input: LayoutInput;
  /** Per box: its node, or -1 - group for a closed group. */
  what: number[];
  /** Group of each frame. */
  groupOf: number[];
}

const CLOSED = 120;

/** The graph with the groups of `open` as frames (where all groups around are open too), the others as one box each. */
export function shown(graph: LayoutInput, groups: Groups, open: ReadonlySet<number>): Shown {
  const { start, end, parent } = groups;
  const visible = (g: number): boolean => g < 0 || (open.has(g) && visible(parent[g]!));
  const frameOfGroup = new Map<number, number>();
  const groupOf: number[] = [];
  for (let g = 0; g < start.length; g++) {
    if (visible(g)) frameOfGroup.set(g, groupOf.push(g) - 1);
  }
  const inner = new Int32Array(graph.count).fill(-1);
  for (let g = 0; g < start.length; g++) inner.fill(g, start[g]!, end[g]!);
  const what: number[] = [];
  const boxOf = new Int32Array(graph.count);
  const frameOf: number[] = [];
  for (let v = 0; v < graph.count; v++) {
    let closed = -1;
    for (let g = inner[v]!; g >= 0; g = parent[g]!) if (!visible(g)) closed = g;
    if (closed >= 0 && what.at(-1) === -1 - closed) {
      boxOf[v] = what.length - 1;
      continue;
    }
    boxOf[v] = what.push(closed >= 0 ? -1 - closed : v) - 1;
    const around = closed >= 0 ? parent[closed]! : inner[v]!;
    frameOf.push(frameOfGroup.get(around) ?? -1);
  }
  const width = what.map((w) => (w < 0 ? CLOSED : graph.width[w]!));
  const height = what.map((w) => (w < 0 ? 40 : graph.height[w]!));
  const source: number[] = [];
  const target: number[] = [];
  const slot: number[] = [];
  const known = new Set<string>();
  for (let e = 0; e < graph.source.length; e++) {
    const [s, t] = [graph.source[e]!, graph.target[e]!];
    const [a, b] = [boxOf[s]!, boxOf[t]!];
    const tensor = 8 * s + graph.sourceSlot[e]!;
    const key = `${a} ${b} ${tensor}`;
    const group = what[a]! < 0 || what[b]! < 0;
    if ((group && known.has(key)) || a === b) continue;
    known.add(key);
    source.push(a);
    target.push(b);
    slot.push(what[a]! < 0 ? tensor : graph.sourceSlot[e]!);
  }
  const input: LayoutInput = {
    count: what.length,
    width: Float64Array.from(width),
    height: Float64Array.from(height),
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    sourceSlot: Int32Array.from(slot),
    direction: graph.direction,
    frameOf: Int32Array.from(frameOf),
    frames: {
      parent: Int32Array.from(groupOf, (g) => frameOfGroup.get(parent[g]!) ?? -1),
      minWidth: new Float64Array(groupOf.length).fill(CLOSED),
    },
  };
  return { input, what, groupOf };
}
