import type { Bounds } from "./layout/types.ts";
import { LARGEST_FIT, LEGIBLE_SCALE } from "./scales.ts";
import type { Scene } from "./scene.ts";

/** Free space that a fitted graph keeps to the border of the stage, CSS px. */
export const MARGIN = 10;
/** So many boxes are never legible together: they are not even tried. */
export const MOST_LEGIBLE = 300;

interface Size {
  width: number;
  height: number;
}

/** The scale at which the bounds just fit the stage. */
export function scaleIn({ minX, minY, maxX, maxY }: Bounds, { width, height }: Size): number {
  const [roomX, roomY] = [width - 2 * MARGIN, height - 2 * MARGIN];
  return Math.min(
    Math.max(1, roomX) / Math.max(1, maxX - minX),
    Math.max(1, roomY) / Math.max(1, maxY - minY),
  );
}

/** Whether the whole can be read on the stage: every text is whole and no smaller than 11 px. */
export function isLegible(bounds: Bounds, stage: Size): boolean {
  return scaleIn(bounds, stage) >= LEGIBLE_SCALE;
}

/** The share of the stage's width or height that the whole fills once it is fitted. */
export function filled(bounds: Bounds, stage: Size): number {
  const scale = Math.min(LARGEST_FIT, scaleIn(bounds, stage));
  const { minX, minY, maxX, maxY } = bounds;
  return scale * Math.max((maxX - minX) / stage.width, (maxY - minY) / stage.height);
}

/** Whether the boxes alone have room on the stage: to be asked before they are laid out. */
export function mayBeLegible(scene: Scene, stage: Size): boolean {
  let area = 0;
  for (let box = 0; box < scene.count; box++) area += scene.width[box]! * scene.height[box]!;
  return area * LEGIBLE_SCALE ** 2 <= stage.width * stage.height;
}
