import type { Bounds } from "../layout/types.ts";
import { LARGEST_FIT, LARGEST_OF_FEW, LEGIBLE_SCALE } from "./scales.ts";
import type { Scene } from "./scene.ts";

/** Free space that a fitted graph keeps to the border of the stage, CSS px. */
export const MARGIN = 10;
/** So many boxes are never legible together: they are not even tried. */
export const MOST_LEGIBLE = 300;
/** The share of the stage's width or height that a fitted graph of a few boxes fills. */
const ENOUGH = 0.55;

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

/** The share of the stage's width or height that the bounds take at scale 1. */
function share({ minX, minY, maxX, maxY }: Bounds, { width, height }: Size): number {
  return Math.max((maxX - minX) / width, (maxY - minY) / height);
}

/** The share of the stage's width or height that the whole fills, drawn no larger than usual. */
export function filled(bounds: Bounds, stage: Size): number {
  return Math.min(LARGEST_FIT, scaleIn(bounds, stage)) * share(bounds, stage);
}

/** The scale at which the bounds fit the stage: a few boxes are drawn larger than others, so that they fill enough of it. */
export function fitScale(bounds: Bounds, stage: Size): number {
  const enough = Math.min(LARGEST_OF_FEW, ENOUGH / share(bounds, stage));
  return Math.min(scaleIn(bounds, stage), Math.max(LARGEST_FIT, enough));
}

/** Whether the boxes alone have room on the stage: to be asked before they are laid out. */
export function mayBeLegible(scene: Scene, stage: Size): boolean {
  let area = 0;
  for (let box = 0; box < scene.count; box++) area += scene.width[box]! * scene.height[box]!;
  return area * LEGIBLE_SCALE ** 2 <= stage.width * stage.height;
}
