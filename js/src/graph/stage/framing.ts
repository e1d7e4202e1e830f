import type { Bounds } from "../layout/types.ts";
import { marginStart } from "../paint/margin_start.ts";
import { withWholeBoxes } from "../paint/whole_boxes.ts";
import { fitScale } from "../placed/legible.ts";
import type { PlacedScene } from "../placed/placed_scene.ts";
import { CUT_SCALE, LEGIBLE_SCALE, READABLE_SCALE } from "../placed/scales.ts";
import { Camera } from "./camera.ts";

/** Room that texts beside a thin graph take, where there is so much. */
const BESIDE = 340;

/** From where the bounds are seen on the stage of `camera`; a thin graph stands to the left, for the texts beside it. */
export function fitted(placed: PlacedScene, camera: Camera, bounds: Bounds): Camera {
  const target = Object.assign(new Camera(), camera);
  target.fit(bounds, fitScale(bounds, camera));
  return beside(placed, target) ?? target;
}

/** From where a graph is seen at first: whole where that is legible, else what is `wanted` (-1: its beginning), legible and uncut. */
export function opening(placed: PlacedScene, camera: Camera, wanted: number): Camera {
  const { bounds, direction, x, y } = placed.layout;
  const whole = Object.assign(new Camera(), camera);
  whole.fit(bounds, fitScale(bounds, camera));
  if (whole.scale >= LEGIBLE_SCALE) return whole;
  const along = direction === "down" ? y : x;
  const first = along.reduce((best, at, box) => (at < along[best]! ? box : best), 0);
  const box = wanted < 0 ? first : wanted;
  Object.assign(whole, { scale: READABLE_SCALE, x: x[box]!, y: y[box]! });
  whole.clamp(bounds);
  return withWholeBoxes(placed, whole, wanted);
}

/** Whether the whole graph, fitted, is too thin to be read, and would be larger in columns. */
export function isThread(placed: PlacedScene, camera: Camera): boolean {
  const { minX, minY, maxX, maxY } = placed.layout.bounds;
  const whole = fitted(placed, camera, placed.layout.bounds);
  const area = Math.max(1, (maxX - minX) * (maxY - minY));
  const inColumns = Math.sqrt((camera.width * camera.height) / area);
  return whole.scale < LEGIBLE_SCALE && inColumns > 1.6 * whole.scale;
}

/** The same with the graph to the left, for the texts beside it; null where they have no room, or are in the boxes. */
function beside(placed: PlacedScene, camera: Camera): Camera | null {
  if (camera.scale >= CUT_SCALE) return null;
  const { bounds } = placed.layout;
  const aside = Object.assign(new Camera(), camera);
  const wide = (bounds.maxX - bounds.minX) * aside.scale;
  aside.x += Math.max(0, Math.min(BESIDE, aside.width - wide)) / 2 / aside.scale;
  aside.clamp(bounds);
  return marginStart(placed, aside) !== null ? aside : null;
}
