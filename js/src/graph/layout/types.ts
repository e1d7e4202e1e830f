/** What goes into the layout and what comes out of it. Typed arrays throughout, so that both cross a worker boundary. */

export type Direction = "down" | "right";

export interface LayoutOptions {
  /** Free space between two boxes of one layer, px. */
  nodeGap?: number;
  /** Free space between a box and a line passing it, px. */
  lineGap?: number;
  trackGap?: number;
  /** Height of the channel between two layers, px; it grows with the sideways reach of its edges. */
  layerGap?: number;
  /** Free space between two components, px. */
  componentGap?: number;
  /** Ordering sweeps per stretch of the graph before it settles for the best found. */
  sweeps?: number;
  /** Bound of the trunk points, per node; edges beyond it become stubs. */
  trunkBudget?: number;
  frameHeader?: number;
  framePadding?: number;
}

export interface LayoutInput {
  count: number;
  /** Box sizes, px, one per node. */
  width: Float32Array | Float64Array;
  height: Float32Array | Float64Array;
  /** Node positions, one per edge; operand order is the order of the edges of one target. */
  source: Int32Array;
  target: Int32Array;
  /** The output each edge reads; edges of one (source, slot) share a trunk. Default: all zero. */
  sourceSlot?: Int32Array;
  direction?: Direction;
  options?: LayoutOptions;
}

/** Boxes in frames; a frame's boxes and edges are laid out by themselves, and stand in its parent as one box. */
export interface CompoundInput extends LayoutInput {
  /** Innermost frame of each box, -1 for none. */
  frameOf?: Int32Array;
  /** Where they are given, even none, the main line stands at 0 across the flow; otherwise the outermost box begins there. */
  frames?: {
    /** The frame around each frame, -1 for none; parents come before their children. */
    parent: Int32Array;
    /** Frames of one number whose content is the same are laid out once. */
    alike: Int32Array;
    /** Width of the header, px: a frame is at least so wide, and its neighbors are placed as if it were just so wide. */
    minWidth: Float64Array;
    /** Height of each closed box, px; neighbors are placed by it where the flow runs to the right. */
    closedHeight?: Float64Array;
  };
}

export interface Bounds {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/**
 * The strokes. Each stroke is drawn once: the edge to the farthest reader of a tensor (its trunk) has the whole polyline
 * from the source's border to the target's border; an edge that leaves that trunk on the way has only the piece from the
 * trunk to its target, and `trunk[e]` names the edge it leaves (-1: the polyline is whole). `edgePath` gives whole ones.
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

/** Stretches of the layers that stand side by side: one, unless the layout was wrapped. */
export interface LayoutColumns {
  /** Columns + 1: column c holds the layers firstLayer[c] … firstLayer[c + 1] - 1. */
  firstLayer: Int32Array;
  minX: Float64Array;
  maxX: Float64Array;
  minY: Float64Array;
  maxY: Float64Array;
  /** Edges that lead from one column to another: along the flow their points go back and forth. */
  cut: Int32Array;
}

export interface LayoutResult {
  direction: Direction;
  x: Float64Array;
  y: Float64Array;
  layer: Int32Array;
  layers: number;
  /**
   * Extent of each layer along the flow (y, or x for "right"); sorted and disjoint within a column: binary search finds
   * what is visible. With frames, a layer is a cluster of boxes whose extents overlap.
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
  /** Milliseconds per phase. */
  timings: Record<string, number>;
}

export interface LayoutProgress {
  phase: string;
  fraction: number;
}

export interface Spacing {
  nodeGap: number;
  lineGap: number;
  trackGap: number;
  layerGap: number;
  componentGap: number;
  sweeps: number;
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
  sweeps: 8,
  trunkBudget: 4,
  frameHeader: 24,
  framePadding: 12,
};

/** Where everything is, each level by itself: x from its main line, y from the top of its first layer. */
export interface Geometry {
  /** Per item, and as if all frames were closed. */
  x: Float64Array;
  nominal: Float64Array;
  layer: Int32Array;
  /** Per node: the middle along the flow, the extents to both sides of x, and the one along the flow. */
  y: Float64Array;
  left: Float64Array;
  right: Float64Array;
  height: Float64Array;
  /** Layers of all levels: those of a frame are its rows, the root's come first. */
  layerTop: Float64Array;
  layerBottom: Float64Array;
  above: Float64Array;
}

/**
 * What is laid out: boxes, frames as boxes, and the ports of frames, each in the level it stands in. Level 0 is outside
 * of all frames, level f + 1 the inside of frame f; no edge leads from one level to another. Items and edges are sorted by
 * level; an edge between boxes of different levels is a chain of edges that meet at ports.
 */
export interface LevelGraphs {
  count: number;
  /** Items of level l: itemStart[l] … itemStart[l + 1] - 1; edges likewise. */
  itemStart: Int32Array;
  edgeStart: Int32Array;
  levelOf: Int32Array;
  /** Per item: its frame, else -1; ENTRY or EXIT. */
  frame: Int32Array;
  port: Uint8Array;
  source: Int32Array;
  target: Int32Array;
  slot: Int32Array;
  flipped: Uint8Array;
  /** Per edge: the port inside the frame it comes from or leads to, -1 where that is no frame. */
  outPort: Int32Array;
  inPort: Int32Array;
}

/** All of them, and how they make up the input. */
export interface Levels extends LevelGraphs {
  box: Int32Array;
  itemOfFrame: Int32Array;
  /** Edges of level graphs per edge of the input, from its source to its target; none for a self loop. */
  chainStart: Int32Array;
  chain: Int32Array;
}

/** A row is one layer of one component, so that components never meet while they are laid out. */
export interface Layering {
  row: Int32Array;
  rows: number;
  components: number;
  /** Component of each row. */
  component: Int32Array;
  /** Component count + 1: rows of component c are rowStart[c] … rowStart[c + 1] - 1. */
  rowStart: Int32Array;
}

/** The whole polyline of an edge, x and y pairs, from the source's border to the target's border. */
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
