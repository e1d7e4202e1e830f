import type { PlacedScene } from "../placed/placed_scene.ts";
import type { Camera } from "../stage/camera.ts";

/** Least distance between two rows of text, CSS px. */
export const PITCH = 11.5;
const GAP = 14;
const LEAST_ROOM = 150;

/** Left end of the column of texts; null where it has no room, or the layers are too close. */
export function marginStart(placed: PlacedScene, camera: Camera): number | null {
  const { bounds, layers, direction } = placed.layout;
  if (direction === "right" || placed.columns > 1) return null;
  if (((bounds.maxY - bounds.minY) / Math.max(1, layers)) * camera.scale < PITCH) return null;
  const start = Math.max(GAP, camera.screenX(bounds.maxX) + GAP);
  return camera.width - start >= LEAST_ROOM ? start : null;
}
