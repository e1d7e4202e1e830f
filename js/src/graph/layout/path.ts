import type { LayoutResult } from "./types.ts";

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
