import type { Expanded } from "./trunks.ts";
import type { Geometry, Layering } from "./types.ts";

/** Where each component goes. */
export interface Packing {
  /** Added to the x of the component's items. */
  shift: Float64Array;
  /** First layer of the component. */
  firstLayer: Int32Array;
  layers: number;
  /** Components, those that share a layer from left to right. */
  sequence: Int32Array;
}

/** Width of the whole against its height when many small components are stacked. */
const ASPECT = 1.6;

/**
 * Stacks the first components, tallest first, in columns no taller than the tallest (or than a pleasant page); where a column is
 * wide enough, one beside the other.
 */
export function packComponents(
  graph: Expanded,
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
  let layers = 0;
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
      layers = Math.max(layers, used);
    }
    firstLayer[c] = bandTop;
    shift[c] = column + bandWidth + gap - left[c]!;
    bandWidth += gap + size;
    columnWidth = Math.max(columnWidth, bandWidth);
  }
  return { shift, firstLayer, layers, sequence };
}
