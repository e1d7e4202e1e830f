import type { Rows } from "./adjacency.ts";
import { groupBy } from "./adjacency.ts";

/** A row is one layer of one component, so that components never meet while they are laid out. */
export interface Layering {
  /** Row of each node. */
  row: Int32Array;
  rows: number;
  components: number;
  /** Component of each row. */
  component: Int32Array;
  /** Component count + 1: rows of component c are rowStart[c] … rowStart[c + 1] - 1. */
  rowStart: Int32Array;
}

function connected(count: number, source: Int32Array, target: Int32Array) {
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
  for (let e = 0; e < source.length; e++) {
    if (source[e]! < 0) continue;
    const a = find(source[e]!);
    const b = find(target[e]!);
    if (a < b) root[b] = a;
    else root[a] = b;
  }
  const component = new Int32Array(count);
  let components = 0;
  for (let v = 0; v < count; v++) {
    const r = find(v);
    component[v] = r === v ? components++ : component[r]!;
  }
  return { component, components };
}

/**
 * Longest path from the sources; then, from the sinks up, a node moves towards its readers where that makes no more
 * lines longer than shorter (parameters and masks land beside their use). A chain of sole inputs moves along for free.
 */
export function assignLayers(
  count: number,
  source: Int32Array,
  target: Int32Array,
  outgoing: Rows,
): Layering {
  const incoming = groupBy(count, target);
  const layer = new Int32Array(count);
  const cost = new Int32Array(count);
  for (let v = 0; v < count; v++) {
    let deepest = 0;
    let sum = 0;
    for (let k = incoming.start[v]!; k < incoming.start[v + 1]!; k++) {
      const u = source[incoming.item[k]!]!;
      if (layer[u]! + 1 > deepest) deepest = layer[u]! + 1;
      sum += outgoing.start[u + 1]! - outgoing.start[u]! === 1 ? Math.min(1, cost[u]!) : 1;
    }
    layer[v] = deepest;
    cost[v] = sum;
  }
  for (let v = count - 1; v >= 0; v--) {
    const first = outgoing.start[v]!;
    const last = outgoing.start[v + 1]!;
    if (first === last || cost[v]! > 1) continue;
    let nearest = layer[target[outgoing.item[first]!]!]!;
    for (let k = first + 1; k < last; k++) {
      nearest = Math.min(nearest, layer[target[outgoing.item[k]!]!]!);
    }
    layer[v] = nearest - 1;
  }
  const { component: ofNode, components } = connected(count, source, target);
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
