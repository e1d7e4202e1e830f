import { largest } from "../../shared/many.ts";
import { finished } from "../../shared/stretches.ts";
import type { Direction, LayoutResult } from "../layout/index.ts";
import { isLegible, MARGIN, scaleIn } from "../placed/legible.ts";
import { PlacedScene } from "../placed/placed_scene.ts";
import { LEGIBLE_SCALE } from "../placed/scales.ts";
import type { Scene } from "../placed/scene.ts";
import { inColumns } from "../placed/wrapping.ts";
import { Camera } from "../stage/camera.ts";
import { Narrowing } from "./narrowing.ts";
import type { GraphSheet } from "./sheet.ts";

const NOWHERE = { width: 0, height: 0 };

/** A scene with places, and from where all of it is seen. */
export interface Arranged {
  placed: PlacedScene;
  camera: Camera;
}

/**
 * The first of several wordings of a scene that can be read, as large as can be within a width and the first of several
 * heights that holds it, px; null where none does. Where nothing has room in the direction that is asked for, the other
 * is tried.
 */
export function arrange(
  sheet: GraphSheet,
  wordings: readonly (() => Scene)[],
  width: number,
  heights: readonly number[],
): Arranged | null {
  const { direction } = sheet.request.options;
  const other: Direction = direction === "down" ? "right" : "down";
  const stage = { width, height: largest(heights) };
  const most = (stage.width * stage.height) / LEGIBLE_SCALE ** 2;
  for (const towards of [direction, other]) {
    for (const make of wordings) {
      const narrowing = new Narrowing(sheet, make(), towards, stage);
      if (narrowing.leastArea > most) continue;
      for (const isNarrow of [false, true]) {
        for (const height of heights) {
          const found = within(narrowing, isNarrow, { width, height });
          if (found) return found;
        }
      }
    }
  }
  return null;
}

function within(
  narrowing: Narrowing,
  isNarrow: boolean,
  stage: { width: number; height: number },
): Arranged | null {
  const room = (stage.width * stage.height) / LEGIBLE_SCALE ** 2;
  for (const { scene, input, result } of narrowing.scenes(isNarrow)) {
    if (areaOf(scene, result) > room) continue;
    const placed = inColumns(result, input, null, stage);
    if (!isLegible(placed.bounds, stage)) continue;
    return seen(scene, placed, Math.min(1, scaleIn(placed.bounds, stage)), stage.width);
  }
  return null;
}

/** The least room that a layout takes in columns, px²: its frames, and the boxes outside of them. */
function areaOf({ width, height, frameOf, frames }: Scene, result: LayoutResult): number {
  let area = 0;
  for (const [frame, parent] of frames.parent.entries()) {
    if (parent < 0) area += result.frames.width[frame]! * result.frames.height[frame]!;
  }
  for (const [box, frame] of frameOf.entries()) {
    if (frame < 0) area += width[box]! * height[box]!;
  }
  return area;
}

/** A scene at full size, however large that is. */
export function arrangeWhole(sheet: GraphSheet, scene: Scene): Arranged {
  const { direction } = sheet.request.options;
  const [plain] = new Narrowing(sheet, scene, direction, NOWHERE).scenes();
  const { minX, maxX } = plain!.result.bounds;
  return seen(scene, plain!.result, 1, maxX - minX + 2 * MARGIN);
}

export function seen(scene: Scene, result: LayoutResult, scale: number, width: number): Arranged {
  const { minX, minY, maxX, maxY } = result.bounds;
  const camera = new Camera();
  camera.resize(width, (maxY - minY) * scale + 2 * MARGIN);
  Object.assign(camera, { scale, x: (minX + maxX) / 2, y: (minY + maxY) / 2 });
  return { placed: finished(PlacedScene.steps(scene, result)), camera };
}
