import type { Expanded } from "./trunks.ts";

/** Height a channel gains per pixel its widest edge runs sideways, and at most. */
const SLANT = 0.06;
const MOST = 3;

export interface Bands {
  layerTop: Float64Array;
  layerBottom: Float64Array;
}

/** Stacks the layers: each as tall as its tallest box, the channels as tall as their edges need to be readable. */
export function stackLayers(
  graph: Expanded,
  layer: Int32Array,
  layers: number,
  height: Float64Array,
  centre: Float64Array,
  layerGap: number,
): Bands {
  const tall = new Float64Array(layers);
  const reach = new Float64Array(layers);
  const { nodes, count, down } = graph;
  for (let v = 0; v < count; v++) {
    const l = layer[v]!;
    if (v < nodes && height[v]! > tall[l]!) tall[l] = height[v]!;
    for (let k = down.start[v]!; k < down.start[v + 1]!; k++) {
      const sideways = Math.abs(centre[down.item[k]!]! - centre[v]!);
      if (sideways > reach[l]!) reach[l] = sideways;
    }
  }
  const layerTop = new Float64Array(layers);
  const layerBottom = new Float64Array(layers);
  let y = 0;
  for (let l = 0; l < layers; l++) {
    layerTop[l] = y;
    layerBottom[l] = y + tall[l]!;
    y += tall[l]! + layerGap + Math.min(MOST * layerGap, Math.floor(SLANT * reach[l]!));
  }
  return { layerTop, layerBottom };
}
