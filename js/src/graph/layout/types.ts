/** Input and output of the layout: typed arrays, so that both cross a worker boundary. */

export type Direction = "down" | "right";

export interface LayoutInput {
  count: number;
  /** Box sizes, px, one per node. */
  width: Float32Array | Float64Array;
  height: Float32Array | Float64Array;
  /** Node positions, one per edge; operand order is the order of the edges of one target. */
  source: Int32Array;
  target: Int32Array;
  /** Output an edge reads; edges of one (source, slot) share a trunk. */
  sourceSlot: Int32Array;
  direction: Direction;
  options?: Partial<Spacing>;
  /** Innermost frame of each box, -1 for none; its content is laid out by itself, and is one box in its parent. */
  frameOf: Int32Array;
  frames: {
    /** The frame around a frame, -1 for none; parents come before their children. */
    parent: Int32Array;
    /** Width of the header, px: the least width of a frame, and if the flow runs down its width when neighbors are placed. */
    minWidth: Float64Array;
  };
}

export interface Bounds {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/**
 * Strokes, drawn once: the edge to the farthest reader of a tensor (its trunk) has the complete polyline from the
 * source's border to the target's; an edge that leaves that trunk has only the piece from the trunk to its target, and
 * `trunk[e]` names the edge it leaves (-1: complete). `edgePath` returns complete polylines.
 */
export interface Routes {
  /** Edge count + 1, into points (in points, not in numbers). */
  offsets: Int32Array;
  points: Float64Array;
  trunk: Int32Array;
}

export interface Frames {
  x: Float64Array;
  y: Float64Array;
  width: Float64Array;
  height: Float64Array;
}

/** Stretches of the layers that are side by side: one, unless the layout was wrapped. */
export interface LayoutColumns {
  /** Columns + 1: column c holds the layers firstLayer[c] … firstLayer[c + 1] - 1. */
  firstLayer: Int32Array;
  minX: Float64Array;
  maxX: Float64Array;
  minY: Float64Array;
  maxY: Float64Array;
  /** Edges between columns: along the flow their points go back and forth. */
  cut: Int32Array;
}

export interface LayoutResult {
  direction: Direction;
  x: Float64Array;
  y: Float64Array;
  layer: Int32Array;
  layers: number;
  /**
   * Extents of the layers along the flow (y, or x for "right"); sorted and disjoint within a column, so that binary
   * search finds the visible ones. With frames, a layer is a cluster of boxes whose extents overlap.
   */
  layerTop: Float64Array;
  layerBottom: Float64Array;
  /** Nodes sorted by layer, then across it; layer l is order[layerStart[l] … layerStart[l + 1]). */
  order: Int32Array;
  layerStart: Int32Array;
  bounds: Bounds;
  frames: Frames;
  columns: LayoutColumns;
  routes: Routes;
  /** Edges too long to be drawn: of their four points only the first two and the last two are joined. */
  stubs: Int32Array;
  /** Edges that close a cycle; drawn against the flow. */
  reversed: Int32Array;
  components: number;
}

export interface LayoutProgress {
  phase: string;
  fraction: number;
}

export interface Spacing {
  /** Free space between two boxes of one layer, between a box and a line passing it, and between lines, px. */
  nodeGap: number;
  lineGap: number;
  trackGap: number;
  /** Height of the channel between two layers, px; it grows with the sideways reach of its edges. */
  layerGap: number;
  /** Free space between two components, px. */
  componentGap: number;
  /** Limit of the trunk points, per node; edges beyond it become stubs. */
  trunkBudget: number;
  frameHeader: number;
  framePadding: number;
}

export const DEFAULTS: Spacing = {
  nodeGap: 24,
  lineGap: 14,
  trackGap: 10,
  layerGap: 36,
  componentGap: 48,
  trunkBudget: 4,
  frameHeader: 24,
  framePadding: 12,
};

/** Positions within every level: x from its main line, y from the top of its first layer. */
export interface Geometry {
  /** Per item, from the main line of its level; `nominal` is with all frames closed. */
  x: Float64Array;
  nominal: Float64Array;
  layer: Int32Array;
  /** Per node: the middle along the flow, the extents to both sides of x, and the extent along the flow. */
  y: Float64Array;
  left: Float64Array;
  right: Float64Array;
  height: Float64Array;
  /** Layers of all levels: the rows of a frame, the root's first. */
  layerTop: Float64Array;
  layerBottom: Float64Array;
  above: Float64Array;
}

/**
 * Items to be laid out: boxes, frames as boxes, and the ports of frames, by level. Level 0 is outside of all frames,
 * level f + 1 the inside of frame f; no edge crosses levels. Items and edges are sorted by level; an edge between boxes
 * of different levels is a chain of edges that meet at ports.
 */
export interface Levels {
  count: number;
  /** Items of level l: itemStart[l] … itemStart[l + 1] - 1; edges likewise. */
  itemStart: Int32Array;
  edgeStart: Int32Array;
  levelOf: Int32Array;
  /** Per item: its frame or -1; ENTRY, EXIT or 0. */
  frame: Int32Array;
  port: Uint8Array;
  source: Int32Array;
  target: Int32Array;
  slot: Int32Array;
  flipped: Uint8Array;
  /** Per edge: the port inside the frame at its source or target, -1 without a frame. */
  outPort: Int32Array;
  inPort: Int32Array;
  box: Int32Array;
  itemOfFrame: Int32Array;
  /** Edges of level graphs by input edge, from its source to its target; none for a self loop. */
  chainStart: Int32Array;
  chain: Int32Array;
}

/** Rows: a row is one layer of one component, so components never meet during the layout. */
export interface Layering {
  row: Int32Array;
  rows: number;
  components: number;
  component: Int32Array;
  /** Component count + 1: rows of component c are rowStart[c] … rowStart[c + 1] - 1. */
  rowStart: Int32Array;
}

/** The complete polyline of an edge, x and y pairs, from the source's border to the target's. */
export function edgePath(result: LayoutResult, edge: number): Float64Array {
  const { offsets, points, trunk } = result.routes;
  const own = points.subarray(2 * offsets[edge]!, 2 * offsets[edge + 1]!);
  if (trunk[edge]! < 0) return own;
  const along = result.direction === "down" ? 1 : 0;
  const { minX, maxX, minY, maxY } = result.columns;
  const within = (c: number, x: number, y: number) =>
    x >= minX[c]! && x <= maxX[c]! && y >= minY[c]! && y <= maxY[c]!;
  const column = minX.findIndex((_, c) => within(c, own[0]!, own[1]!));
  const whole = edgePath(result, trunk[edge]!);
  let end = 0;
  while (
    end < whole.length &&
    !(whole[end + along]! >= own[along]! && within(column, whole[end]!, whole[end + 1]!))
  ) {
    end += 2;
  }
  // On a horizontal line it leaves the trunk between two points.
  if (whole[end + along] === own[along] && whole[end + 2 + along] === own[along]) end += 2;
  const path = new Float64Array(end + own.length);
  path.set(whole.subarray(0, end));
  path.set(own, end);
  return path;
}
