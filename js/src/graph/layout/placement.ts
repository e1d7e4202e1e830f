import { type Blocks, gapOf } from "./coordinates.ts";
import { ENTRY, EXIT } from "./layering.ts";
import { type Ports, portPlacer } from "./ports.ts";
import { type Strokes, strokeDrawer } from "./routing.ts";
import type { ExpandedGraph, RowOrder, Trunks } from "./trunks.ts";
import type { Direction, Geometry, Layering, LayoutInput, Levels, Spacing } from "./types.ts";

export interface Packing {
  /** Offset added to the x of the component's items. */
  shift: Float64Array;
  firstLayer: Int32Array;
  /** Components; those that share a layer are in order from left to right. */
  sequence: Int32Array;
}

/** Width to height of a picture of many small components. */
const ASPECT = 1.6;

/** Stacks the first components in columns no taller than the tallest (or a pleasant page), some side by side. */
function packComponents(
  graph: ExpandedGraph,
  layering: Layering,
  components: number,
  { x, left: toLeft, right: toRight }: Geometry,
  layerPitch: number,
  gap: number,
): Packing {
  const { component, rowStart } = layering;
  const left = new Float64Array(components).fill(Number.POSITIVE_INFINITY);
  const right = new Float64Array(components).fill(Number.NEGATIVE_INFINITY);
  for (let v = 0; v < graph.count; v++) {
    const c = component[graph.row[v]!]!;
    if (c >= components) continue;
    const node = v < graph.nodes;
    left[c] = Math.min(left[c]!, x[v]! - (node ? toLeft[v]! : 0));
    right[c] = Math.max(right[c]!, x[v]! + (node ? toRight[v]! : 0));
  }
  const shift = new Float64Array(components);
  const firstLayer = new Int32Array(components);
  const rowsOf = (c: number) => rowStart[c + 1]! - rowStart[c]!;
  let tallest = 0;
  let area = 0;
  const sequence = new Int32Array(components);
  for (let c = 0; c < components; c++) {
    sequence[c] = c;
    tallest = Math.max(tallest, rowsOf(c));
    area += (right[c]! - left[c]! + gap) * rowsOf(c) * layerPitch;
  }
  sequence.sort((a, b) => rowsOf(b) - rowsOf(a) || a - b);
  const page = Math.ceil(Math.sqrt(area / ASPECT) / layerPitch);
  const limit = Math.max(tallest, components > 1 ? page : 0);
  let column = 0;
  let columnWidth = 0;
  let bandTop = 0;
  let bandWidth = Number.POSITIVE_INFINITY;
  let used = 0;
  for (let i = 0; i < components; i++) {
    const c = sequence[i]!;
    const size = right[c]! - left[c]!;
    if (bandWidth + gap + size > columnWidth) {
      if (used > 0 && used + rowsOf(c) > limit) {
        column += columnWidth + gap;
        columnWidth = 0;
        used = 0;
      }
      bandTop = used;
      bandWidth = -gap;
      used += rowsOf(c);
    }
    firstLayer[c] = bandTop;
    shift[c] = column + bandWidth + gap - left[c]!;
    bandWidth += gap + size;
    columnWidth = Math.max(columnWidth, bandWidth);
  }
  return { shift, firstLayer, sequence };
}

/** Height a channel gains per pixel its widest edge runs sideways, and the most it gains. */
const SLANT = 0.06;
const MOST = 1;

/**
 * Stacks the layers of a level from its top, those of the rows from … to - 1. A layer is as tall as its tallest box, a
 * channel as tall as its edges need to be readable; items that open frames push aside below a channel do not count, so
 * that opening one moves nothing above it. Frames hang from the top of their layer, and so do boxes beside them; items
 * without inputs are at the foot, by their readers.
 */
function stackLayers(
  graph: ExpandedGraph,
  levels: Levels,
  order: RowOrder,
  geometry: Geometry,
  rows: readonly [from: number, to: number],
  edges: readonly [from: number, to: number],
  layerGap: number,
): number {
  const { nodes, down, up, last } = graph;
  const { frame, outPort, target } = levels;
  const { x, nominal, y, height, layer, layerTop, layerBottom } = geometry;
  const items = order.item.subarray(order.start[rows[0]]!, order.start[rows[1]]!);
  const count = rows[1] - rows[0];
  const tall = new Float64Array(count);
  const plain = new Float64Array(count);
  const reach = new Float64Array(count);
  let layers = 0;
  for (const v of items) {
    const l = layer[v]! - rows[0];
    layers = Math.max(layers, l + 1);
    if (v < nodes) {
      tall[l] = Math.max(tall[l]!, height[v]!);
      if (frame[v]! < 0) plain[l] = Math.max(plain[l]!, height[v]!);
    }
    for (let k = down.start[v]!; k < down.start[v + 1]!; k++) {
      reach[l] = Math.max(reach[l]!, Math.abs(nominal[down.item[k]!]! - x[v]!));
    }
  }
  for (let e = edges[0]; e < edges[1]; e++) {
    const v = last[e]!;
    if (v < 0 || v >= nodes || outPort[e]! < 0) continue;
    const sideways = Math.abs(nominal[target[e]!]! - x[v]! - x[outPort[e]!]!);
    const l = layer[v]! - rows[0];
    reach[l] = Math.max(reach[l]!, sideways);
  }
  let top = 0;
  let bottom = 0;
  for (let l = 0; l < layers; l++) {
    bottom = top + tall[l]!;
    layerTop[rows[0] + l] = top;
    layerBottom[rows[0] + l] = bottom;
    top += tall[l]! + layerGap + Math.min(MOST * layerGap, Math.floor(SLANT * reach[l]!));
  }
  for (const v of items) {
    if (v >= nodes) continue;
    const l = layer[v]! - rows[0];
    const own = frame[v]! < 0 ? plain[l]! : height[v]!;
    const source = own < tall[l]! && up.start[v] === up.start[v + 1];
    const from = source ? layerBottom[layer[v]!]! - own : layerTop[layer[v]!]!;
    y[v] = (from + (from + own)) / 2;
  }
  return bottom;
}

export interface Placement {
  packing: Packing;
  ports: Ports;
  strokes: Strokes;
  /** Bottom of the root's last layer. */
  bottom: number;
}

const PAUSE = 16_384;

/** Widths of boxes, and of frames when neighbors are placed. */
export function nominalWidth(
  { frames, direction }: LayoutInput,
  { frame }: Levels,
  width: Float64Array,
): Float64Array {
  return width.map((wide, v) =>
    frame[v]! < 0 ? wide : direction === "right" ? 0 : frames.minWidth[frame[v]!]!,
  );
}

/** Makes room for open frames: their neighbors in the row move outwards, other rows stay. */
function pushRow(
  graph: ExpandedGraph,
  order: RowOrder,
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

/** Sizes and stacks every level, innermost first: a frame must have its size before its parent is stacked. */
export function* placeLevels(
  { direction, frames }: LayoutInput,
  graph: ExpandedGraph,
  levels: Levels,
  layering: Layering,
  order: RowOrder,
  { main }: Blocks,
  trunks: Trunks,
  geometry: Geometry,
  width: Float64Array,
  pitch: number,
  spacing: Spacing,
): Generator<void, Placement> {
  const { itemStart, edgeStart, frame, port } = levels;
  const { rowStart, component } = layering;
  const { x, nominal, y, layer, left, right, height, above } = geometry;
  const { nodes } = graph;
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
      // The largest component's main line is at 0, whatever is open beside it.
      const zero = rootComponents > 0 ? packing.shift[packing.sequence[0]!]! : 0;
      for (let v = 0; v < graph.count; v++) {
        const own = component[graph.row[v]!]!;
        if (own >= rootComponents) continue;
        layer[v] = packing.firstLayer[own]! + graph.row[v]! - rowStart[own]!;
        x[v]! += packing.shift[own]! - zero;
        nominal[v]! += packing.shift[own]! - zero;
      }
    }
    bottom = stackLayers(graph, levels, order, geometry, rows, edges, spacing.layerGap);
    if (l > 0) {
      const inside = order.item.subarray(order.start[rows[0]]!, order.start[rows[1]]!);
      const size = frameSize(inside, port, nodes, geometry, direction, spacing, {
        length: bottom,
        header: frames.minWidth[l - 1]!,
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

/** Size of a frame around its content; if the flow runs down, no line runs through its header at the upper left. */
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
