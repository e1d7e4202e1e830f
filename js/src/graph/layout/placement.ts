import type { Blocks } from "./blocks.ts";
import { gapOf } from "./coordinates.ts";
import type { Order } from "./initial.ts";
import { ENTRY, EXIT } from "./levels.ts";
import { type Packing, packComponents } from "./pack.ts";
import { type Ports, portPlacer } from "./ports.ts";
import { type Strokes, strokeDrawer } from "./routing.ts";
import type { Expanded, Trunks } from "./trunks.ts";
import type {
  CompoundInput,
  Direction,
  Geometry,
  Layering,
  LevelGraphs,
  Levels,
  Spacing,
} from "./types.ts";
import { stackLayers } from "./vertical.ts";

export interface Placement {
  packing: Packing;
  ports: Ports;
  strokes: Strokes;
  /** Foot of the root's last layer. */
  bottom: number;
}

/** Items handled between two chances to pause. */
const PAUSE = 16_384;

/** Per item, how wide its neighbors take it to be: a frame as its closed box, whatever it holds. */
export function nominalWidth(input: CompoundInput, levels: Levels, width: Float64Array) {
  const { frames, direction } = input;
  if (!frames) return width;
  const closed = direction === "right" ? frames.closedHeight : frames.minWidth;
  const { frame } = levels;
  const nominal = width.slice();
  for (let v = 0; v < nominal.length; v++)
    if (frame[v]! >= 0) nominal[v] = closed?.[frame[v]!] ?? 0;
  return nominal;
}

/** Makes room for open frames: in their row, and there only, what is beside them gives way outwards. */
function pushRow(
  graph: Expanded,
  order: Order,
  main: number,
  { x, left, right }: Geometry,
  row: number,
  spacing: Spacing,
): void {
  const { item, start, position } = order;
  const leftOf = (v: number) => (v < graph.nodes ? left[v]! : 0);
  const rightOf = (v: number) => (v < graph.nodes ? right[v]! : 0);
  const middle = start[row]! + position[main]!;
  for (let i = middle + 1; i < start[row + 1]!; i++) {
    const u = item[i - 1]!;
    const v = item[i]!;
    const apart = Math.ceil(rightOf(u) + leftOf(v) + gapOf(graph, u, v, spacing));
    x[v] = Math.max(x[v]!, x[u]! + apart);
  }
  for (let i = middle - 1; i >= start[row]!; i--) {
    const v = item[i]!;
    const u = item[i + 1]!;
    const apart = Math.ceil(rightOf(v) + leftOf(u) + gapOf(graph, v, u, spacing));
    x[v] = Math.min(x[v]!, x[u]! - apart);
  }
}

/** Gives every level its final shape, innermost first: a frame must have its size before its parent is stacked. */
export function* placeLevels(
  input: CompoundInput,
  graph: Expanded,
  levels: LevelGraphs,
  layering: Layering,
  order: Order,
  { main }: Blocks,
  trunks: Trunks,
  geometry: Geometry,
  width: Float64Array,
  header: Float64Array,
  pitch: number,
  spacing: Spacing,
): Generator<void, Placement> {
  const { itemStart, edgeStart, frame, port } = levels;
  const { rowStart, component } = layering;
  const { x, nominal, y, layer, left, right, height, above } = geometry;
  const { nodes } = graph;
  const direction = input.direction ?? "down";
  const { ports, place } = portPlacer(graph, trunks, levels, x, width);
  const { strokes, draw } = strokeDrawer(graph, trunks, levels, ports, geometry);
  const rootItems = itemStart[1]!;
  const rootComponents =
    rootItems < nodes ? component[graph.row[rootItems]!]! : layering.components;
  const crowded = new Uint8Array(layering.rows);
  for (let v = 0; v < nodes; v++) if (frame[v]! >= 0) crowded[graph.row[v]!] = 1;
  for (let v = 0; v < graph.count; v++) layer[v] = graph.row[v]!;
  const sizes = new Array<FrameSize>(itemStart.length - 2);
  let packing: Packing | undefined;
  let done = 0;
  let bottom = 0;
  for (let l = itemStart.length - 2; l >= 0; l--) {
    const [from, to] = [itemStart[l]!, itemStart[l + 1]!];
    const c = l > 0 && from < to ? component[graph.row[from]!]! : -1;
    const rows =
      l === 0
        ? ([0, rowStart[rootComponents]!] as const)
        : c < 0
          ? ([0, 0] as const)
          : ([rowStart[c]!, rowStart[c + 1]!] as const);
    const edges = [edgeStart[l]!, edgeStart[l + 1]!] as const;
    for (let v = from; v < to; v++) {
      if (frame[v]! < 0) continue;
      const size = sizes[frame[v]!]!;
      left[v] = size.left;
      right[v] = size.right;
      height[v] = size.height;
    }
    for (let r = rows[0]; r < rows[1]; r++) {
      if (crowded[r]) pushRow(graph, order, main[r]!, geometry, r, spacing);
    }
    if (l === 0) {
      packing = packComponents(
        graph,
        layering,
        rootComponents,
        geometry,
        pitch,
        spacing.componentGap,
      );
      // With frames the largest component's main line stands at 0, whatever is open beside it.
      const zero = input.frames && rootComponents > 0 ? packing.shift[packing.sequence[0]!]! : 0;
      for (let v = 0; v < graph.count; v++) {
        const own = component[graph.row[v]!]!;
        if (own >= rootComponents) continue;
        layer[v] = packing.firstLayer[own]! + graph.row[v]! - rowStart[own]!;
        x[v]! += packing.shift[own]! - zero;
        if (nominal !== x) nominal[v]! += packing.shift[own]! - zero;
      }
    }
    bottom = stackLayers(graph, levels, order, geometry, rows, edges, spacing.layerGap);
    if (l > 0) {
      const inside = order.item.subarray(order.start[rows[0]]!, order.start[rows[1]]!);
      const size = frameSize(inside, port, nodes, geometry, direction, spacing, {
        length: bottom,
        header: header[l - 1]!,
      });
      above[l] = size.above;
      sizes[l - 1] = size;
      for (let v = from; v < to; v++) {
        if (port[v] === ENTRY) y[v] = -size.above;
        if (port[v] === EXIT) y[v] = size.height - size.above;
      }
    }
    place(from, to);
    draw(edges[0], edges[1]);
    done += to - from;
    if (done > PAUSE) {
      done = 0;
      yield;
    }
  }
  return { packing: packing!, ports, strokes, bottom };
}

interface FrameSize {
  above: number;
  left: number;
  right: number;
  height: number;
}

/** A frame around what is inside; where the flow runs down, no line runs through its header at the upper left. */
function frameSize(
  inside: Int32Array,
  port: Uint8Array,
  nodes: number,
  { x, left, right }: Geometry,
  direction: Direction,
  { frameHeader, framePadding }: Spacing,
  { length, header }: { length: number; header: number },
): FrameSize {
  let [least, most, entry] = [0, 0, Number.POSITIVE_INFINITY];
  let exits = false;
  for (const v of inside) {
    least = Math.min(least, x[v]! - (v < nodes ? left[v]! : 0));
    most = Math.max(most, x[v]! + (v < nodes ? right[v]! : 0));
    if (v < nodes && port[v] === ENTRY) entry = Math.min(entry, x[v]!);
    if (v < nodes && port[v] === EXIT) exits = true;
  }
  const below = exits ? 0 : framePadding;
  if (direction === "right") {
    return {
      above: framePadding,
      left: Math.ceil(framePadding + frameHeader - least),
      right: Math.ceil(most + framePadding),
      height: Math.max(header, framePadding + length + below),
    };
  }
  const clear = entry === Number.POSITIVE_INFINITY ? 0 : header + framePadding - entry;
  const toLeft = Math.ceil(Math.max(framePadding - least, clear));
  return {
    above: frameHeader,
    left: toLeft,
    right: Math.ceil(Math.max(most + framePadding, header - toLeft)),
    height: frameHeader + length + below,
  };
}
