import { finished } from "../../shared/many.ts";
import { at, bytesAt, groupBy, numbersAt } from "./adjacency.ts";
import { alignBlocks, placeBlocks } from "./coordinates.ts";
import {
  boundsOf,
  joinStrokes,
  layersOfBoxes,
  originsOf,
  placeBoxes,
  placeFrames,
  transpose,
} from "./finish.ts";
import { assignLayers, makeAcyclic, partLevels } from "./layering.ts";
import { improveOrder } from "./order.ts";
import { nominalWidth, placeLevels } from "./placement.ts";
import { expand, findStubs, findTrunks, initialOrder, spreadStubs, type Trunks } from "./trunks.ts";
import {
  type Bounds,
  DEFAULTS,
  type Geometry,
  type Layering,
  type LayoutColumns,
  type LayoutInput,
  type LayoutProgress,
  type LayoutResult,
  type LevelGraphs,
  type Levels,
  type Spacing,
} from "./types.ts";

/** Distinct level graphs, laid out once, and the positions of all items, edges and levels among them. */
export interface FoldedLevels {
  levels: LevelGraphs;
  layering: Layering;
  trunks: Trunks;
  hidden: Uint8Array;
  itemAt: Int32Array;
  edgeAt: Int32Array;
  levelAt: Int32Array;
  /** Level graph that stands for a level; likewise per item. */
  levelOf: Int32Array;
  itemOf: Int32Array;
}

/** Per level: the last one with equal content, nested frames included. */
function likeLevels(
  { frames }: LayoutInput,
  levels: Levels,
  trunks: Trunks,
  hidden: Uint8Array,
  width: Float64Array,
  height: Float64Array,
): Int32Array {
  const { alike, minWidth } = frames;
  const { itemStart, edgeStart, frame, port, source, target, flipped, inPort, outPort } = levels;
  const count = itemStart.length - 1;
  const like = new Int32Array(count);
  const trunkStart = new Int32Array(count + 1);
  for (let k = 0; k < trunks.count; k++) trunkStart[levels.levelOf[trunks.source[k]!]! + 1]!++;
  for (let l = 0; l < count; l++) trunkStart[l + 1]! += trunkStart[l]!;

  const kindOf = (v: number) => (frame[v]! < 0 ? -1 - port[v]! : like[frame[v]! + 1]!);
  /** Index of a port in its frame. */
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
    const twin = known.get(hash) ?? l;
    like[l] = same(l, twin) ? twin : l;
    known.set(hash, like[l]!);
  }
  return like;
}

/** Removes duplicates of equal levels. */
function fold(
  input: LayoutInput,
  whole: Levels,
  trunks: Trunks,
  hidden: Uint8Array,
  width: Float64Array,
  height: Float64Array,
): FoldedLevels {
  const like = likeLevels(input, whole, trunks, hidden, width, height);
  const levelOf = like.filter((twin, l) => twin === l);
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

/** Trunk points that even the smallest graph may use. */
const FREE_POINTS = 1024;

function check(input: LayoutInput): void {
  const { count, width, height, source, target, sourceSlot } = input;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`count is ${count}`);
  if (width.length !== count || height.length !== count) {
    throw new RangeError(`${count} nodes but ${width.length} widths, ${height.length} heights`);
  }
  if (target.length !== source.length || sourceSlot.length !== source.length) {
    throw new RangeError(`${source.length} sources but ${target.length} targets or other slots`);
  }
  for (let e = 0; e < source.length; e++) {
    const s = source[e]!;
    const t = target[e]!;
    if (s < 0 || s >= count || t < 0 || t >= count) {
      throw new RangeError(`edge ${e} runs from ${s} to ${t}; there are ${count} nodes`);
    }
  }
  const { frameOf, frames } = input;
  if (frameOf.length !== count) {
    throw new RangeError(`${count} nodes but ${frameOf.length} frames of nodes`);
  }
  for (let f = 0; f < frames.parent.length; f++) {
    if (!(frames.parent[f]! >= -1 && frames.parent[f]! < f)) {
      throw new RangeError(
        `frame ${f} is in frame ${frames.parent[f]}, which does not come before it`,
      );
    }
  }
  for (let v = 0; v < count; v++) {
    if (!(frameOf[v]! >= -1 && frameOf[v]! < frames.parent.length)) {
      throw new RangeError(
        `node ${v} is in frame ${frameOf[v]}; there are ${frames.parent.length}`,
      );
    }
    if (!(width[v]! >= 0 && height[v]! >= 0 && width[v]! + height[v]! < Infinity)) {
      throw new RangeError(`node ${v} measures ${width[v]} × ${height[v]}`);
    }
  }
}

function oneColumn(layers: number, { minX, maxX, minY, maxY }: Bounds): LayoutColumns {
  return {
    firstLayer: Int32Array.of(0, layers),
    minX: Float64Array.of(minX),
    maxX: Float64Array.of(maxX),
    minY: Float64Array.of(minY),
    maxY: Float64Array.of(maxY),
    cut: new Int32Array(0),
  };
}

/** Extents of the boxes across and along the flow, and the sum of the latter. */
function measure(
  box: Int32Array,
  nodeOf: Int32Array,
  across: ArrayLike<number>,
  along: ArrayLike<number>,
) {
  const width = new Float64Array(box.length);
  const height = new Float64Array(box.length);
  let tall = 0;
  for (let v = 0; v < box.length; v++) {
    const b = box[v]!;
    if (b < 0) continue;
    width[v] = across[nodeOf[b]!]!;
    height[v] = along[nodeOf[b]!]!;
    tall += height[v]!;
  }
  return { width, height, tall };
}

function itemsOf(box: Int32Array, boxes: number): Int32Array {
  const item = new Int32Array(boxes);
  for (let v = 0; v < box.length; v++) if (box[v]! >= 0) item[box[v]!] = v;
  return item;
}

/** Layout in steps; the caller may pause or stop between them. */
export function* layoutSteps(input: LayoutInput): Generator<LayoutProgress, LayoutResult> {
  check(input);
  const { count, direction } = input;
  const spacing: Spacing = { ...DEFAULTS, ...input.options };

  const acyclic = makeAcyclic(count, input.source, input.target);
  const { nodeOf } = acyclic;
  const levels = partLevels(input, acyclic);
  const itemOfBox = itemsOf(levels.box, count);
  const outgoing = groupBy(levels.count, levels.source);
  yield { phase: "adjacency", fraction: 0.05 };

  const rows = assignLayers(levels, outgoing);
  yield { phase: "layering", fraction: 0.1 };

  const tensors = findTrunks(levels.source, outgoing, levels.slot, levels.flipped);
  const far = findStubs(rows, tensors, levels, spacing.trunkBudget * count + FREE_POINTS);
  const { stub, hidden } = spreadStubs(levels, far);
  yield { phase: "trunks", fraction: 0.15 };

  const across = direction === "down" ? input.width : input.height;
  const along = direction === "down" ? input.height : input.width;
  const { width, height, tall } = measure(levels.box, nodeOf, across, along);
  const nominal = nominalWidth(input, levels, width);
  const own = fold(input, levels, tensors, hidden, width, height);
  const { layering, trunks, levels: kinds } = own;
  const graph = expand(layering, trunks, kinds, own.hidden);
  yield { phase: "fold", fraction: 0.2 };

  const order = initialOrder(graph);
  yield { phase: "initial", fraction: 0.25 };
  for (const _ of improveOrder(graph, order, layering.component, spacing.sweeps)) {
    yield { phase: "order", fraction: 0.4 };
  }
  yield { phase: "order", fraction: 0.6 };

  const blocks = alignBlocks(graph, order, layering);
  yield { phase: "blocks", fraction: 0.7 };

  const wide = numbersAt(width, own.itemOf);
  const x = placeBlocks(graph, order, blocks, numbersAt(nominal, own.itemOf), spacing);
  yield { phase: "coordinates", fraction: 0.8 };

  const half = wide.map((w) => w / 2);
  const once: Geometry = {
    x,
    nominal: x.slice(),
    layer: new Int32Array(graph.count),
    y: new Float64Array(kinds.count),
    left: half,
    right: half.slice(),
    height: numbersAt(height, own.itemOf),
    layerTop: new Float64Array(layering.rows),
    layerBottom: new Float64Array(layering.rows),
    above: new Float64Array(kinds.itemStart.length - 1),
  };
  const placing = placeLevels(
    direction,
    graph,
    kinds,
    layering,
    order,
    blocks,
    trunks,
    once,
    wide,
    Float64Array.from(own.levelOf.subarray(1), (l) => input.frames.minWidth[l - 1]!),
    count === 0 ? 1 : tall / count + spacing.layerGap,
    spacing,
  );
  let placed = placing.next();
  while (!placed.done) {
    yield { phase: "layers", fraction: 0.85 };
    placed = placing.next();
  }
  const placement = placed.value;
  yield { phase: "layers", fraction: 0.9 };

  const geometry: Geometry = {
    ...once,
    x: numbersAt(x, own.itemAt),
    y: numbersAt(once.y, own.itemAt),
    left: numbersAt(once.left, own.itemAt),
    right: numbersAt(once.right, own.itemAt),
    height: numbersAt(once.height, own.itemAt),
    layer: at(once.layer, own.itemAt),
    above: numbersAt(once.above, own.levelAt),
  };
  const origins = originsOf(levels, geometry);
  const { routes, stubs } = joinStrokes(
    graph,
    trunks,
    own.edgeAt,
    acyclic,
    levels,
    itemOfBox,
    geometry,
    origins,
    placement,
    stub,
  );
  yield { phase: "routes", fraction: 0.95 };

  const boxes = placeBoxes(itemOfBox, nodeOf, levels, geometry, origins);
  const layers = layersOfBoxes(boxes.x, boxes.y, along);
  const frames = placeFrames(levels, geometry, origins);
  const bounds = boundsOf(boxes.x, across, frames, routes, placement.bottom);
  let drawn = { ...boxes, frames, bounds, routes };
  if (direction === "right") drawn = transpose(drawn);
  return {
    direction,
    ...drawn,
    ...layers,
    columns: oneColumn(layers.layers, drawn.bounds),
    stubs,
    reversed: acyclic.reversed,
    components: placement.packing.sequence.length,
  };
}

export function layout(input: LayoutInput): LayoutResult {
  return finished(layoutSteps(input));
}
