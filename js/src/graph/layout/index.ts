import { identity, makeAcyclic } from "./acyclic.ts";
import { at, groupBy, numbersAt } from "./adjacency.ts";
import { joinStrokes, originsOf } from "./assemble.ts";
import { alignBlocks } from "./blocks.ts";
import { placeBlocks } from "./coordinates.ts";
import {
  boundsOf,
  layersOfBoxes,
  layersOfRows,
  placeBoxes,
  placeFrames,
  transpose,
} from "./finish.ts";
import { fold } from "./fold.ts";
import { initialOrder } from "./initial.ts";
import { assignLayers } from "./layering.ts";
import { oneLevel, partLevels } from "./levels.ts";
import { improveOrder } from "./order.ts";
import { nominalWidth, placeLevels } from "./placement.ts";
import { expand, findStubs, findTrunks, spreadStubs } from "./trunks.ts";
import type { Geometry } from "./types.ts";
import {
  type Bounds,
  type Columns,
  type CompoundInput,
  DEFAULTS,
  type LayoutProgress,
  type LayoutResult,
  type Spacing,
} from "./types.ts";

export { edgePath } from "./path.ts";
export * from "./types.ts";
export { type Sizes, wrap } from "./wrap.ts";

/** Points every graph may use for its trunks, however small it is. */
const FREE_POINTS = 1024;

function check(input: CompoundInput): void {
  const { count, width, height, source, target, sourceSlot } = input;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`count is ${count}`);
  if (width.length !== count || height.length !== count) {
    throw new RangeError(`${count} nodes but ${width.length} widths, ${height.length} heights`);
  }
  if (target.length !== source.length || (sourceSlot && sourceSlot.length !== source.length)) {
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
  if (frames && frameOf?.length !== count) {
    throw new RangeError(`${count} nodes but ${frameOf?.length} frames of nodes`);
  }
  for (let f = 0; frames && f < frames.parent.length; f++) {
    if (!(frames.parent[f]! >= -1 && frames.parent[f]! < f)) {
      throw new RangeError(
        `frame ${f} is in frame ${frames.parent[f]}, which does not come before it`,
      );
    }
  }
  for (let v = 0; v < count; v++) {
    if (frames && !(frameOf![v]! >= -1 && frameOf![v]! < frames.parent.length)) {
      throw new RangeError(
        `node ${v} is in frame ${frameOf![v]}; there are ${frames.parent.length}`,
      );
    }
    if (!(width[v]! >= 0 && height[v]! >= 0 && width[v]! + height[v]! < Infinity)) {
      throw new RangeError(`node ${v} measures ${width[v]} × ${height[v]}`);
    }
  }
}

function oneColumn(layers: number, { minX, maxX, minY, maxY }: Bounds): Columns {
  return {
    firstLayer: Int32Array.of(0, layers),
    minX: Float64Array.of(minX),
    maxX: Float64Array.of(maxX),
    minY: Float64Array.of(minY),
    maxY: Float64Array.of(maxY),
    cut: new Int32Array(0),
  };
}

/** Per item, the box's extents across the flow and along it; the latter's sum. */
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

/** The layout in steps; between two steps the caller may pause or stop. */
export function* layoutSteps(input: CompoundInput): Generator<LayoutProgress, LayoutResult> {
  check(input);
  const { count } = input;
  const spacing: Spacing = { ...DEFAULTS, ...input.options };
  const direction = input.direction ?? "down";
  const timings: Record<string, number> = {};
  let started = performance.now();
  const done = (phase: string, fraction: number): LayoutProgress => {
    const now = performance.now();
    timings[phase] = now - started;
    started = now;
    return { phase, fraction };
  };

  const acyclic = makeAcyclic(count, input.source, input.target);
  const { nodeOf } = acyclic;
  const levels = input.frames
    ? partLevels(input, acyclic)
    : oneLevel(count, acyclic, input.sourceSlot);
  const itemOfBox = itemsOf(levels.box, count);
  const outgoing = groupBy(levels.count, levels.source);
  yield done("adjacency", 0.05);

  const rows = assignLayers(levels, outgoing);
  yield done("layering", 0.1);

  const tensors = findTrunks(levels.source, outgoing, levels.slot, levels.flipped);
  const far = findStubs(rows, tensors, levels, spacing.trunkBudget * count + FREE_POINTS);
  const { stub, hidden } = input.frames ? spreadStubs(levels, far) : { stub: far, hidden: far };
  yield done("trunks", 0.15);

  const across = direction === "down" ? input.width : input.height;
  const along = direction === "down" ? input.height : input.width;
  const { width, height, tall } = measure(levels.box, nodeOf, across, along);
  const nominal = nominalWidth(input, levels, width);
  const own = input.frames ? fold(input, levels, tensors, hidden, width, height) : undefined;
  const { layering, trunks } = own ?? { layering: rows, trunks: tensors };
  const kinds = own?.levels ?? levels;
  const graph = expand(layering, trunks, kinds, own?.hidden ?? hidden);
  yield done("fold", 0.2);

  const order = initialOrder(graph);
  yield done("initial", 0.25);
  for (const _ of improveOrder(graph, order, layering.component, spacing.sweeps)) {
    yield { phase: "order", fraction: 0.4 };
  }
  yield done("order", 0.6);

  const blocks = alignBlocks(graph, order, layering);
  yield done("blocks", 0.7);

  const wide = own ? numbersAt(width, own.itemOf) : width;
  const x = placeBlocks(
    graph,
    order,
    blocks,
    own ? numbersAt(nominal, own.itemOf) : nominal,
    spacing,
  );
  yield done("coordinates", 0.8);

  const half = wide.map((w) => w / 2);
  const once: Geometry = {
    x,
    nominal: own ? x.slice() : x,
    layer: new Int32Array(graph.count),
    y: new Float64Array(kinds.count),
    left: half,
    right: half.slice(),
    height: own ? numbersAt(height, own.itemOf) : height,
    layerTop: new Float64Array(layering.rows),
    layerBottom: new Float64Array(layering.rows),
    above: new Float64Array(kinds.itemStart.length - 1),
  };
  const placing = placeLevels(
    input,
    graph,
    kinds,
    layering,
    order,
    blocks,
    trunks,
    once,
    wide,
    own
      ? Float64Array.from(own.levelOf.subarray(1), (l) => input.frames!.minWidth[l - 1]!)
      : new Float64Array(0),
    count === 0 ? 1 : tall / count + spacing.layerGap,
    spacing,
  );
  let placed = placing.next();
  while (!placed.done) {
    yield { phase: "layers", fraction: 0.85 };
    placed = placing.next();
  }
  const placement = placed.value;
  yield done("layers", 0.9);

  const geometry: Geometry = own
    ? {
        ...once,
        x: numbersAt(x, own.itemAt),
        y: numbersAt(once.y, own.itemAt),
        left: numbersAt(once.left, own.itemAt),
        right: numbersAt(once.right, own.itemAt),
        height: numbersAt(once.height, own.itemAt),
        layer: at(once.layer, own.itemAt),
        above: numbersAt(once.above, own.levelAt),
      }
    : once;
  const origins = originsOf(levels, geometry);
  const { routes, stubs } = joinStrokes(
    graph,
    trunks,
    own?.edgeAt ?? identity(levels.source.length),
    acyclic,
    levels,
    itemOfBox,
    geometry,
    origins,
    placement,
    stub,
  );
  yield done("routes", 0.95);

  const boxes = placeBoxes(itemOfBox, nodeOf, levels, geometry, origins);
  const layers = input.frames
    ? layersOfBoxes(boxes.x, boxes.y, along)
    : layersOfRows(graph, order, layering, placement.packing, geometry, nodeOf);
  const frames = placeFrames(levels, geometry, origins);
  const bounds = boundsOf(boxes.x, across, frames, routes, placement.bottom);
  let drawn = { ...boxes, frames, bounds, routes };
  if (direction === "right") drawn = transpose(drawn);
  done("finish", 1);
  return {
    direction,
    ...drawn,
    ...layers,
    columns: oneColumn(layers.layers, drawn.bounds),
    stubs,
    reversed: acyclic.reversed,
    components: placement.packing.sequence.length,
    timings,
  };
}

/** The layout in one go. */
export function layout(input: CompoundInput): LayoutResult {
  const steps = layoutSteps(input);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
