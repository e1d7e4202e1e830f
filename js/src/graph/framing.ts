import { Camera, CUT_SCALE, fitScale, LEGIBLE_SCALE, READABLE_SCALE } from "./camera.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import type { Bounds } from "./layout/types.ts";
import { marginStart } from "./paint/picture.ts";

/** Largest enlargement that avoids cut boxes. */
const LARGEST = 1.3;
const STEP = 1.02;
/** From a box to the border of the stage, CSS px. */
const SPARE = 4;

/** Camera near another one that cuts no box at the stage's borders and contains `kept`; else the same camera. */
function withWholeBoxes(placed: PlacedScene, camera: Camera, kept: number): Camera {
  const around = camera.view(Math.max(camera.width, camera.height));
  const boxes: number[] = [];
  placed.eachBox(around, (box) => boxes.push(box));
  for (let factor = 1; factor <= LARGEST; factor *= STEP) {
    const tried = Object.assign(new Camera(), camera, { scale: camera.scale * factor });
    // The visible part along one axis decides which boxes may be cut along the other.
    for (let round = 0; round < 2; round++) {
      shift(placed, tried, boxes, kept, "y");
      shift(placed, tried, boxes, kept, "x");
    }
    if (boxes.every((box) => isWhole(placed, tried, box) !== false)) return tried;
  }
  return camera;
}

function isWhole(placed: PlacedScene, camera: Camera, box: number): boolean | null {
  const shape = placed.rectangle(box);
  if (camera.shows(shape, 0)) return true;
  const { minX, minY, maxX, maxY } = camera.view();
  const apart =
    shape.x >= maxX ||
    shape.y >= maxY ||
    shape.x + shape.width <= minX ||
    shape.y + shape.height <= minY;
  return apart ? null : false;
}

function shift(
  placed: PlacedScene,
  camera: Camera,
  boxes: readonly number[],
  kept: number,
  axis: "x" | "y",
): void {
  const room = (axis === "x" ? camera.width : camera.height) / camera.scale;
  const spare = SPARE / camera.scale;
  const spans = boxes
    .filter((box) => isWhole(placed, camera, box) !== null || box === kept)
    .map((box) => spanOf(placed, box, axis, spare));
  const must = kept < 0 ? null : spanOf(placed, kept, axis, spare);
  const from = camera[axis] - room / 2;
  const isFree = (at: number) => !spans.some(([low, high]) => low < at && at < high);
  const best = [from, ...spans.flatMap(([low, high]) => [low, high, low - room, high - room])]
    .filter((at) => isFree(at) && isFree(at + room))
    .filter((at) => !must || (at <= must[0] && at + room >= must[1]))
    .sort((a, b) => Math.abs(a - from) - Math.abs(b - from))[0];
  if (best === undefined) return;
  camera[axis] = best + room / 2;
  camera.clamp(placed.layout.bounds);
}

function spanOf(
  placed: PlacedScene,
  box: number,
  axis: "x" | "y",
  spare: number,
): readonly [low: number, high: number] {
  const { x, y, width, height } = placed.rectangle(box);
  return axis === "x" ? [x - spare, x + width + spare] : [y - spare, y + height + spare];
}

const BESIDE = 340;

/** Camera that fits the bounds to the stage; a thin graph is at the left, to leave room for texts. */
export function fitted(placed: PlacedScene, camera: Camera, bounds: Bounds): Camera {
  const target = Object.assign(new Camera(), camera);
  target.fit(bounds, fitScale(bounds, camera));
  return beside(placed, target) ?? target;
}

/** First camera of a graph: all of it if legible, else the box `wanted` (-1: the beginning), legible and uncut. */
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

export function isThread(placed: PlacedScene, camera: Camera): boolean {
  const { minX, minY, maxX, maxY } = placed.layout.bounds;
  const whole = fitted(placed, camera, placed.layout.bounds);
  const area = Math.max(1, (maxX - minX) * (maxY - minY));
  const inColumns = Math.sqrt((camera.width * camera.height) / area);
  return whole.scale < LEGIBLE_SCALE && inColumns > 1.6 * whole.scale;
}

/** Camera with the graph to the left of its texts; null if these have no room or are inside the boxes. */
function beside(placed: PlacedScene, camera: Camera): Camera | null {
  if (camera.scale >= CUT_SCALE) return null;
  const { bounds } = placed.layout;
  const aside = Object.assign(new Camera(), camera);
  const wide = (bounds.maxX - bounds.minX) * aside.scale;
  aside.x += Math.max(0, Math.min(BESIDE, aside.width - wide)) / 2 / aside.scale;
  aside.clamp(bounds);
  return marginStart(placed, aside) !== null ? aside : null;
}
