import { at, bytesAt, type CompressedRows, groupBy, inverse } from "./adjacency.ts";
import { findTrunks } from "./trunks.ts";
import type { Layering, LayoutInput, Levels } from "./types.ts";

/** Acyclic copy of a graph, its nodes renumbered so that every edge runs from a lower to a higher number. */
export interface AcyclicGraph {
  /** Edge ends by new number; -1 in both for a self loop. */
  source: Int32Array;
  target: Int32Array;
  /** nodeOf[new number] = node of the input. */
  nodeOf: Int32Array;
  flipped: Uint8Array;
  /** Edges that close a cycle, including self loops, ascending. */
  reversed: Int32Array;
  /** New number of the node by self loop. */
  loop: Map<number, number>;
}

export function identity(count: number): Int32Array {
  const all = new Int32Array(count);
  for (let v = 0; v < count; v++) all[v] = v;
  return all;
}

/** Kahn's topological order; shorter than count if there is a cycle. */
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
  const out: CompressedRows = groupBy(count, source);
  const next = out.start.slice(0, count);
  const state = new Uint8Array(count);
  const path = new Int32Array(count);
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
  for (let v = 0; v < count; v++) walk(v);
}

/** Reverses edges that close cycles and sorts the nodes so that edges run forward, level by level. */
export function makeAcyclic(
  count: number,
  source: Int32Array,
  target: Int32Array,
  level?: Int32Array,
): AcyclicGraph {
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

/** Ports of frames: ENTRY of a tensor, EXIT; 0 is no port. */
export const ENTRY = 1;
export const EXIT = 2;

class GrowingNumbers {
  values = new Int32Array(1024);
  count = 0;

  push(value: number): number {
    if (this.count === this.values.length) {
      const longer = new Int32Array(2 * this.count);
      longer.set(this.values);
      this.values = longer;
    }
    this.values[this.count] = value;
    return this.count++;
  }

  get all(): Int32Array {
    return this.values.subarray(0, this.count);
  }
}

/** Renumbers items; -1 stays. */
function renamed(values: Int32Array, name: Int32Array): Int32Array {
  for (let i = 0; i < values.length; i++) if (values[i]! >= 0) values[i] = name[values[i]!]!;
  return values;
}

/** Splits a graph whose edges run forward into levels. */
export function partLevels(input: LayoutInput, acyclic: AcyclicGraph): Levels {
  const { parent } = input.frames;
  const frames = parent.length;
  const { source, target, nodeOf, flipped } = acyclic;
  const boxes = nodeOf.length;
  const frameOf = at(input.frameOf, nodeOf);
  const depth = new Int32Array(frames);
  for (let f = 0; f < frames; f++) depth[f] = parent[f]! < 0 ? 1 : depth[parent[f]!]! + 1;
  const first = new Int32Array(frames).fill(boxes);
  for (let v = boxes - 1; v >= 0; v--) if (frameOf[v]! >= 0) first[frameOf[v]!] = v;
  for (let f = frames - 1; f >= 0; f--) {
    const up = parent[f]!;
    if (up >= 0) first[up] = Math.min(first[up]!, first[f]!);
  }

  // Items 0 … boxes + frames - 1 are boxes and frames, then ports; all are renumbered at the end.
  const level = new GrowingNumbers();
  const port = new GrowingNumbers();
  for (let v = 0; v < boxes + frames; v++) {
    level.push((v < boxes ? frameOf[v]! : parent[v - boxes]!) + 1);
    port.push(0);
  }
  const from = new GrowingNumbers();
  const to = new GrowingNumbers();
  const tensor = new GrowingNumbers();
  const began = new GrowingNumbers();
  const outPort = new GrowingNumbers();
  const inPort = new GrowingNumbers();
  const chain = new GrowingNumbers();
  const chainOwner = new GrowingNumbers();
  const outgoing = groupBy(boxes, source);
  const trunks = findTrunks(source, outgoing, input.sourceSlot, flipped);
  const left = new Int32Array(frames).fill(-1);
  const leftBy = new Int32Array(frames);
  const entered = new Int32Array(frames).fill(-1);
  const enteredBy = new Int32Array(frames);
  const way = new Int32Array(frames);
  let [k, e] = [0, 0];
  const link = (a: number, b: number, out: number, into: number) => {
    from.push(a);
    to.push(b);
    tensor.push(k);
    outPort.push(out);
    inPort.push(into);
    return began.push(e);
  };
  const follow = (item: number) => {
    chain.push(item);
    chainOwner.push(e);
  };
  const part = (s: number, t: number) => {
    let up = frameOf[s]!;
    let down = frameOf[t]!;
    let steps = 0;
    let here = s;
    let out = -1;
    while (up !== down) {
      if (down < 0 || (up >= 0 && depth[up]! >= depth[down]!)) {
        if (left[up] !== k) {
          left[up] = k;
          level.push(up + 1);
          leftBy[up] = link(here, port.push(EXIT), out, -1);
        }
        follow(leftBy[up]!);
        here = boxes + up;
        out = to.values[leftBy[up]!]!;
        up = parent[up]!;
      } else {
        way[steps++] = down;
        down = parent[down]!;
      }
    }
    while (steps > 0) {
      const f = way[--steps]!;
      if (entered[f] !== k) {
        entered[f] = k;
        level.push(f + 1);
        enteredBy[f] = link(here, boxes + f, out, port.push(ENTRY));
      }
      follow(enteredBy[f]!);
      here = inPort.values[enteredBy[f]!]!;
      out = -1;
    }
    follow(link(here, t, out, -1));
  };
  for (; k < trunks.count; k++) {
    for (let i = trunks.edges.start[k]!; i < trunks.edges.start[k + 1]!; i++) {
      e = trunks.edges.item[i]!;
      part(trunks.source[k]!, target[e]!);
    }
  }

  const count = level.count;
  const place = new Int32Array(count);
  for (let v = 0; v < count; v++) {
    const kind = port.values[v]!;
    place[v] =
      kind === ENTRY ? 0 : kind === EXIT ? boxes + 1 : 1 + (v < boxes ? v : first[v - boxes]!);
  }
  // In its own level a frame takes the position of its first box, which is in another level.
  const byPlace = groupBy(boxes + 2, place).item;
  const inOrder = groupBy(frames + 1, at(level.values, byPlace));
  const arranged = at(byPlace, inOrder.item);
  const levelOf = at(level.values, arranged);
  const placeName = inverse(arranged);
  const again = makeAcyclic(count, at(placeName, from.all), at(placeName, to.all), levelOf);
  const items = at(arranged, again.nodeOf);
  const nameOf = inverse(items);

  const byEdge = groupBy(source.length, began.all).item;
  const sorted = groupBy(frames + 1, at(level.values, at(from.values, byEdge)));
  const edges = at(byEdge, sorted.item);
  const box = new Int32Array(count).fill(-1);
  const frame = new Int32Array(count).fill(-1);
  for (let i = 0; i < count; i++) {
    const v = items[i]!;
    if (v < boxes) box[i] = v;
    else if (v < boxes + frames) frame[i] = v - boxes;
  }
  const chains = groupBy(source.length, chainOwner.all);
  return {
    count,
    itemStart: inOrder.start,
    edgeStart: sorted.start,
    levelOf,
    box,
    frame,
    port: Uint8Array.from(at(port.values, items)),
    itemOfFrame: nameOf.slice(boxes, boxes + frames),
    source: at(again.source, edges),
    target: at(again.target, edges),
    slot: at(tensor.values, edges),
    flipped: bytesAt(again.flipped, edges),
    outPort: renamed(at(outPort.values, edges), nameOf),
    inPort: renamed(at(inPort.values, edges), nameOf),
    chainStart: chains.start,
    chain: at(inverse(edges), at(chain.values, chains.item)),
  };
}

/** Component of every item; the inside of a frame is always one component. */
function connected({ count, source, target, levelOf }: Levels) {
  const root = new Int32Array(count);
  for (let v = 0; v < count; v++) root[v] = v;
  const find = (start: number): number => {
    let v = start;
    while (root[v] !== v) {
      root[v] = root[root[v]!]!;
      v = root[v]!;
    }
    return v;
  };
  const join = (u: number, v: number) => {
    const a = find(u);
    const b = find(v);
    if (a < b) root[b] = a;
    else root[a] = b;
  };
  for (let e = 0; e < source.length; e++) if (source[e]! >= 0) join(source[e]!, target[e]!);
  for (let v = 1; v < count; v++)
    if (levelOf[v]! > 0 && levelOf[v] === levelOf[v - 1]) join(v - 1, v);
  const component = new Int32Array(count);
  let components = 0;
  for (let v = 0; v < count; v++) {
    const r = find(v);
    component[v] = r === v ? components++ : component[r]!;
  }
  return { component, components };
}

/**
 * Longest path from the sources; then, from the sinks up, a node moves towards its readers unless more lines grow than
 * shrink (parameters and masks land beside their use). A chain of sole inputs moves along for free. Ports are in the
 * first and last rows of their frame.
 */
export function assignLayers(levels: Levels, outgoing: CompressedRows): Layering {
  const { count, source, target, port, levelOf, itemStart } = levels;
  const incoming = groupBy(count, target);
  const layer = new Int32Array(count);
  const cost = new Int32Array(count);
  const deepestOf = new Int32Array(itemStart.length - 1).fill(-1);
  for (let v = 0; v < count; v++) {
    let deepest = 0;
    let sum = 0;
    for (let k = incoming.start[v]!; k < incoming.start[v + 1]!; k++) {
      const u = source[incoming.item[k]!]!;
      if (layer[u]! + 1 > deepest) deepest = layer[u]! + 1;
      sum += outgoing.start[u + 1]! - outgoing.start[u]! === 1 ? Math.min(1, cost[u]!) : 1;
    }
    layer[v] = deepest;
    cost[v] = port[v] === ENTRY ? 1 : sum;
    const l = levelOf[v]!;
    if (port[v] !== EXIT && deepest > deepestOf[l]!) deepestOf[l] = deepest;
  }
  for (let v = count - 1; v >= 0; v--) {
    if (port[v] === EXIT) layer[v] = deepestOf[levelOf[v]!]! + 1;
    const first = outgoing.start[v]!;
    const last = outgoing.start[v + 1]!;
    if (first === last || cost[v]! > 1 || port[v] !== 0) continue;
    let nearest = layer[target[outgoing.item[first]!]!]!;
    for (let k = first + 1; k < last; k++) {
      nearest = Math.min(nearest, layer[target[outgoing.item[k]!]!]!);
    }
    layer[v] = nearest - 1;
  }
  const { component: ofNode, components } = connected(levels);
  const rowStart = new Int32Array(components + 1);
  for (let v = 0; v < count; v++) {
    const c = ofNode[v]! + 1;
    if (layer[v]! + 1 > rowStart[c]!) rowStart[c] = layer[v]! + 1;
  }
  for (let c = 0; c < components; c++) rowStart[c + 1]! += rowStart[c]!;
  for (let v = 0; v < count; v++) layer[v]! += rowStart[ofNode[v]!]!;
  const rows = rowStart[components]!;
  const component = new Int32Array(rows);
  for (let c = 0; c < components; c++) component.fill(c, rowStart[c]!, rowStart[c + 1]!);
  return { row: layer, rows, components, component, rowStart };
}
