import type { Layering } from "./layering.ts";
import type { Expanded } from "./trunks.ts";

/** Where each component goes. */
export interface Packing {
  /** Added to the x of the component's items. */
  shift: Float64Array;
  /** First layer of the component. */
  firstLayer: Int32Array;
  layers: number;
  /** Components from left to right. */
  sequence: Int32Array;
}

/** Width of the whole against its height when many small components are stacked. */
const ASPECT = 1.6;

/** Stacks the components, tallest first, in columns no taller than the tallest (or than a pleasant page). */
export function packComponents(
  graph: Expanded,
  layering: Layering,
  centre: Float64Array,
  width: Float64Array,
  layerPitch: number,
  gap: number,
): Packing {
  const { components, component, rowStart } = layering;
  const left = new Float64Array(components).fill(Number.POSITIVE_INFINITY);
  const right = new Float64Array(components).fill(Number.NEGATIVE_INFINITY);
  for (let v = 0; v < graph.count; v++) {
    const c = component[graph.row[v]!]!;
    const half = v < graph.nodes ? width[v]! / 2 : 0;
    left[c] = Math.min(left[c]!, centre[v]! - half);
    right[c] = Math.max(right[c]!, centre[v]! + half);
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
  let widest = 0;
  let used = 0;
  let layers = 0;
  for (let i = 0; i < components; i++) {
    const c = sequence[i]!;
    if (used > 0 && used + rowsOf(c) > limit) {
      column += widest + gap;
      widest = 0;
      used = 0;
    }
    shift[c] = column - left[c]!;
    firstLayer[c] = used;
    used += rowsOf(c);
    layers = Math.max(layers, used);
    widest = Math.max(widest, right[c]! - left[c]!);
  }
  return { shift, firstLayer, layers, sequence };
}
