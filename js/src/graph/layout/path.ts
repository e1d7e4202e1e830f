import type { LayoutResult } from "./types.ts";

/** The whole polyline of an edge, x and y pairs, from the source's border to the target's border. */
export function edgePath(result: LayoutResult, edge: number): Float64Array {
  const { offsets, points, trunk } = result.routes;
  const own = points.subarray(2 * offsets[edge]!, 2 * offsets[edge + 1]!);
  if (trunk[edge]! < 0) return own;
  const along = result.direction === "down" ? 1 : 0;
  const whole = edgePath(result, trunk[edge]!);
  let end = 0;
  while (end < whole.length && whole[end + along]! < own[along]!) end += 2;
  const path = new Float64Array(end + own.length);
  path.set(whole.subarray(0, end));
  path.set(own, end);
  return path;
}
