import type { Rows } from "./adjacency.ts";
import { groupBy } from "./adjacency.ts";
import { ENTRY, EXIT } from "./levels.ts";
import type { Layering, LevelGraphs } from "./types.ts";

/** Components; the inside of a frame is always one. */
function connected({ count, source, target, levelOf }: LevelGraphs) {
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
 * Longest path from the sources; then, from the sinks up, a node moves towards its readers where that makes no more
 * lines longer than shorter (parameters and masks land beside their use). A chain of sole inputs moves along for free.
 * Ports stand in the first and in the last row of their frame.
 */
export function assignLayers(levels: LevelGraphs, outgoing: Rows): Layering {
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
