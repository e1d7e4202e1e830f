import type { Picture } from "../paint/picture.ts";

/** So near to a line the pointer is on it, CSS px. */
const REACH = 5;
/** Edges that are looked at. */
const MOST = 3000;

/** The drawn edge at a point of the stage, -1 where there is none. */
export function edgeAt({ placed, camera }: Picture, x: number, y: number): number {
  const { offsets, points } = placed.layout.routes;
  const [atX, atY] = [camera.worldX(x), camera.worldY(y)];
  const reach = REACH / camera.scale;
  const view = { minX: atX - reach, maxX: atX + reach, minY: atY - reach, maxY: atY + reach };
  let [found, least, looked] = [-1, reach, 0];
  placed.eachEdge(view, (edge) => {
    if (looked++ > MOST) return;
    const start = offsets[edge]!;
    const isStub = placed.isStub[edge];
    const [first, end] = isStub ? [start, start + 4] : placed.pointsInView(edge, view);
    for (let i = first; i + 1 < end; i++) {
      if (isStub && i === start + 1) continue;
      const away = distance(atX, atY, points, i);
      if (away < least) [found, least] = [edge, away];
    }
  });
  return found;
}

/** From a point to the stretch that begins at the point `i` of a stroke. */
function distance(x: number, y: number, points: ArrayLike<number>, i: number): number {
  const [fromX, fromY] = [points[2 * i]!, points[2 * i + 1]!];
  const [wide, high] = [points[2 * i + 2]! - fromX, points[2 * i + 3]! - fromY];
  const along = ((x - fromX) * wide + (y - fromY) * high) / (wide * wide + high * high || 1);
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - fromX - share * wide, y - fromY - share * high);
}
