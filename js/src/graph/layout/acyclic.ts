import { at, groupBy, inverse, type Rows } from "./adjacency.ts";

/** The same graph without cycles, its nodes renamed so that every edge runs from a lower to a higher name. */
export interface Acyclic {
  /** Edge ends by new name; a self loop has -1 in both. */
  source: Int32Array;
  target: Int32Array;
  /** nodeOf[new name] = node of the input. */
  nodeOf: Int32Array;
  flipped: Uint8Array;
  /** Edges that close a cycle, self loops among them, ascending. */
  reversed: Int32Array;
  /** New name of the node of each self loop. */
  loop: Map<number, number>;
}

export function identity(count: number): Int32Array {
  const all = new Int32Array(count);
  for (let v = 0; v < count; v++) all[v] = v;
  return all;
}

/** First in, first out over nodes whose inputs are all out; shorter than count if there is a cycle. */
function kahn(count: number, source: Int32Array, target: Int32Array): Int32Array {
  const out = groupBy(count, source);
  const missing = new Int32Array(count);
  for (let e = 0; e < target.length; e++) if (source[e]! >= 0) missing[target[e]!]!++;
  const queue = new Int32Array(count);
  let tail = 0;
  for (let v = 0; v < count; v++) if (missing[v] === 0) queue[tail++] = v;
  for (let head = 0; head < tail; head++) {
    const v = queue[head]!;
    for (let k = out.start[v]!; k < out.start[v + 1]!; k++) {
      const w = target[out.item[k]!]!;
      if (--missing[w]! === 0) queue[tail++] = w;
    }
  }
  return queue.subarray(0, tail);
}

/** Marks the edges that lead back onto the path of a depth-first walk. */
function feedback(count: number, source: Int32Array, target: Int32Array, flipped: Uint8Array) {
  const out: Rows = groupBy(count, source);
  const next = out.start.slice(0, count);
  const state = new Uint8Array(count);
  const path = new Int32Array(count);
  const hasInput = new Uint8Array(count);
  for (let e = 0; e < target.length; e++) if (source[e]! >= 0) hasInput[target[e]!] = 1;
  const walk = (root: number) => {
    if (state[root] !== 0) return;
    let depth = 0;
    path[0] = root;
    state[root] = 1;
    while (depth >= 0) {
      const v = path[depth]!;
      if (next[v]! === out.start[v + 1]!) {
        state[v] = 2;
        depth--;
        continue;
      }
      const e = out.item[next[v]!++]!;
      const w = target[e]!;
      if (state[w] === 1) flipped[e] = 1;
      else if (state[w] === 0) {
        state[w] = 1;
        path[++depth] = w;
      }
    }
  };
  for (let v = 0; v < count; v++) if (!hasInput[v]) walk(v);
  for (let v = 0; v < count; v++) walk(v);
}

/**
 * Turns round the edges that close cycles and sorts the nodes so that edges run forward; nodes of one level, which no edge
 * leaves, stay together.
 */
export function makeAcyclic(
  count: number,
  source: Int32Array,
  target: Int32Array,
  level?: Int32Array,
): Acyclic {
  const edges = source.length;
  const flipped = new Uint8Array(edges);
  let forward = true;
  for (let e = 0; e < edges && forward; e++) forward = source[e]! < target[e]!;
  if (forward) {
    return {
      source,
      target,
      nodeOf: identity(count),
      flipped,
      reversed: new Int32Array(0),
      loop: new Map(),
    };
  }
  const from = source.slice();
  const to = target.slice();
  const reversed: number[] = [];
  const loop = new Map<number, number>();
  for (let e = 0; e < edges; e++) {
    if (from[e] === to[e]) {
      from[e] = -1;
      to[e] = -1;
    }
  }
  let nodeOf = kahn(count, from, to);
  if (nodeOf.length < count) {
    feedback(count, from, to, flipped);
    for (let e = 0; e < edges; e++) {
      if (!flipped[e]) continue;
      const s = from[e]!;
      from[e] = to[e]!;
      to[e] = s;
    }
    nodeOf = kahn(count, from, to);
  }
  if (level) {
    const levels = level.length === 0 ? 0 : level.at(-1)! + 1;
    nodeOf = at(nodeOf, groupBy(levels, at(level, nodeOf)).item);
  }
  const name = inverse(nodeOf);
  for (let e = 0; e < edges; e++) {
    if (flipped[e] || from[e]! < 0) reversed.push(e);
    if (from[e]! < 0) {
      loop.set(e, name[source[e]!]!);
      continue;
    }
    from[e] = name[from[e]!]!;
    to[e] = name[to[e]!]!;
  }
  return { source: from, target: to, nodeOf, flipped, reversed: Int32Array.from(reversed), loop };
}
