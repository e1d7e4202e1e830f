import { finished } from "../../shared/many.ts";
import { groupBy } from "./adjacency.ts";
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
import { expand, findStubs, findTrunks, initialOrder, spreadStubs } from "./trunks.ts";
import {
  type Bounds,
  DEFAULTS,
  type Geometry,
  type LayoutColumns,
  type LayoutInput,
  type LayoutProgress,
  type LayoutResult,
  type Spacing,
} from "./types.ts";

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

  const layering = assignLayers(levels, outgoing);
  yield { phase: "layering", fraction: 0.1 };

  const trunks = findTrunks(levels.source, outgoing, levels.slot, levels.flipped);
  const far = findStubs(layering, trunks, levels, spacing.trunkBudget * count + FREE_POINTS);
  const { stub, hidden } = spreadStubs(levels, far);
  yield { phase: "trunks", fraction: 0.15 };

  const across = direction === "down" ? input.width : input.height;
  const along = direction === "down" ? input.height : input.width;
  const { width, height, tall } = measure(levels.box, nodeOf, across, along);
  const graph = expand(layering, trunks, levels, hidden);
  yield { phase: "lines", fraction: 0.2 };

  const order = initialOrder(graph);
  yield { phase: "initial", fraction: 0.25 };
  for (const _ of improveOrder(graph, order, layering.component)) {
    yield { phase: "order", fraction: 0.4 };
  }
  yield { phase: "order", fraction: 0.6 };

  const blocks = alignBlocks(graph, order, layering);
  yield { phase: "blocks", fraction: 0.7 };

  const x = placeBlocks(graph, order, blocks, nominalWidth(input, levels, width), spacing);
  yield { phase: "coordinates", fraction: 0.8 };

  const half = width.map((wide) => wide / 2);
  const geometry: Geometry = {
    x,
    nominal: x.slice(),
    layer: new Int32Array(graph.count),
    y: new Float64Array(levels.count),
    left: half,
    right: half.slice(),
    height,
    layerTop: new Float64Array(layering.rows),
    layerBottom: new Float64Array(layering.rows),
    above: new Float64Array(levels.itemStart.length - 1),
  };
  const placing = placeLevels(
    input,
    graph,
    levels,
    layering,
    order,
    blocks,
    trunks,
    geometry,
    width,
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

  const origins = originsOf(levels, geometry);
  const { routes, stubs } = joinStrokes(
    graph,
    trunks,
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
