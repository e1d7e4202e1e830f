import type { LayoutResult } from "./types.ts";

/** The whole polyline of an edge, x and y pairs, from the source's border to the target's border. */
export function edgePath(result: LayoutResult, edge: number): Float64Array {
  const { offsets, points, trunk } = result.routes;
  const own = points.subarray(2 * offsets[edge]!, 2 * offsets[edge + 1]!);
  const owner = trunk[edge]!;
  if (owner < 0) return own;
  const along = result.direction === "down" ? 1 : 0;
  const first = offsets[owner]!;
  let end = first;
  while (end < offsets[owner + 1]! && points[2 * end + along]! < own[along]!) end++;
  const path = new Float64Array(2 * (end - first) + own.length);
  path.set(points.subarray(2 * first, 2 * end));
  path.set(own, 2 * (end - first));
  return path;
}
