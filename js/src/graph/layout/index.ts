import { makeAcyclic } from "./acyclic.ts";
import { groupBy } from "./adjacency.ts";
import { alignBlocks } from "./blocks.ts";
import { placeBlocks } from "./coordinates.ts";
import { finish, sortNodes } from "./finish.ts";
import { initialOrder } from "./initial.ts";
import { assignLayers } from "./layering.ts";
import { improveOrder } from "./order.ts";
import { packComponents } from "./pack.ts";
import { placePorts } from "./ports.ts";
import { routeEdges } from "./routing.ts";
import { expand, findTrunks } from "./trunks.ts";
import {
  type Bounds,
  type Columns,
  type CompoundInput,
  DEFAULTS,
  type Frames,
  type LayoutInput,
  type LayoutProgress,
  type LayoutResult,
  type Spacing,
} from "./types.ts";
import { stackLayers } from "./vertical.ts";

export { edgePath } from "./path.ts";
export * from "./types.ts";

/** Points every graph may use for its trunks, however small it is. */
const FREE_POINTS = 1024;

function check(input: LayoutInput): void {
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
  for (let v = 0; v < count; v++) {
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

function noFrames(): Frames {
  return {
    x: new Float64Array(0),
    y: new Float64Array(0),
    width: new Float64Array(0),
    height: new Float64Array(0),
  };
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
  const { source, target, nodeOf, flipped } = acyclic;
  const across = direction === "down" ? input.width : input.height;
  const along = direction === "down" ? input.height : input.width;
  const width = new Float64Array(count);
  const height = new Float64Array(count);
  for (let v = 0; v < count; v++) {
    width[v] = across[nodeOf[v]!]!;
    height[v] = along[nodeOf[v]!]!;
  }
  const outgoing = groupBy(count, source);
  yield done("adjacency", 0.05);

  const layering = assignLayers(count, source, target, outgoing);
  yield done("layering", 0.1);

  const trunks = findTrunks(source, outgoing, input.sourceSlot, flipped);
  const budget = spacing.trunkBudget * count + FREE_POINTS;
  const graph = expand(layering, trunks, source, target, budget);
  yield done("trunks", 0.2);

  const order = initialOrder(graph);
  yield done("initial", 0.25);
  for (const _ of improveOrder(graph, order, layering.rowStart, spacing.sweeps)) {
    yield { phase: "order", fraction: 0.4 };
  }
  yield done("order", 0.6);

  const blocks = alignBlocks(graph, order, layering);
  yield done("blocks", 0.7);
  const x = placeBlocks(graph, order, blocks, width, spacing);
  yield done("coordinates", 0.8);

  let tall = 0;
  for (let v = 0; v < count; v++) tall += height[v]!;
  const pitch = count === 0 ? 1 : tall / count + spacing.layerGap;
  const packing = packComponents(graph, layering, x, width, pitch, spacing.componentGap);
  const layer = new Int32Array(graph.count);
  for (let v = 0; v < graph.count; v++) {
    const c = layering.component[graph.row[v]!]!;
    layer[v] = packing.firstLayer[c]! + graph.row[v]! - layering.rowStart[c]!;
    x[v]! += packing.shift[c]!;
  }
  const { layers } = packing;
  const bands = stackLayers(graph, layer, layers, height, x, spacing.layerGap);
  yield done("layers", 0.85);

  const y = new Float64Array(count);
  for (let v = 0; v < count; v++) {
    y[v] = (bands.layerTop[layer[v]!]! + bands.layerBottom[layer[v]!]!) / 2;
  }
  const ports = placePorts(graph, trunks, target, x, width);
  const placed = { x, y, layer, width, height, ...bands };
  const { routes, stubs } = routeEdges(graph, trunks, acyclic, ports, placed);
  yield done("routes", 0.95);

  const sorted = sortNodes(graph, order, layering, packing, layer, nodeOf);
  const result = finish(nodeOf, placed, routes, direction);
  done("finish", 1);
  return {
    ...result,
    ...sorted,
    direction,
    layers,
    ...bands,
    frames: noFrames(),
    columns: oneColumn(layers, result.bounds),
    routes,
    stubs,
    reversed: acyclic.reversed,
    components: layering.components,
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
