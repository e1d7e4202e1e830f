import type { Rectangle } from "../shared/drawing/canvas.ts";
import { Camera, CUT_SCALE, fitScale, LEGIBLE_SCALE, READABLE_SCALE } from "./camera.ts";
import type { PlacedScene } from "./layout/placed_scene.ts";
import type { Bounds } from "./layout/types.ts";
import { marginStart } from "./paint/picture.ts";

/** Largest enlargement that avoids cut boxes. */
const LARGEST = 1.3;
const STEP = 1.02;
/** From a box to the border of the stage, CSS px. */
const SPARE = 4;

type Span = readonly [low: number, high: number];

/**
 * A box with as many of the frames around it, from the inside out, as fit along each axis; of a frame that does not,
 * its start, where its tag is.
 */
function keptAround(placed: PlacedScene, camera: Camera, box: number, frame: number): Rectangle {
  const { frames, frameOf } = placed.scene;
  const spare = (2 * SPARE) / camera.scale;
  let { x, y, width, height } = placed.rectangle(box);
  for (let at = frame < 0 ? frameOf[box]! : frame; at >= 0; at = frames.parent[at]!) {
    const around = placed.frame(at);
    [x, width] = joined([x, width], [around.x, around.width], roomOf(camera, "x") - spare);
    [y, height] = joined([y, height], [around.y, around.height], roomOf(camera, "y") - spare);
  }
  return { x, y, width, height };
}

/** What is kept along one axis, as start and length, and all of a frame around it, its start alone or nothing. */
function joined([start, length]: Span, [from, whole]: Span, room: number): Span {
  if (whole <= room) return [from, whole];
  return start + length - from <= room ? [from, start + length - from] : [start, length];
}

function roomOf(camera: Camera, axis: "x" | "y"): number {
  return (axis === "x" ? camera.width : camera.height) / camera.scale;
}

/** The camera's scale, larger ones, then smaller ones at which texts are legible. */
function* scalesNear({ scale }: Camera): Generator<number> {
  for (let each = scale; each <= scale * LARGEST; each *= STEP) yield each;
  for (let each = scale / STEP; each >= LEGIBLE_SCALE; each /= STEP) yield each;
}

/** Camera near another one that cuts no box at the stage's borders and shows what is `kept`; else the same camera. */
function withWholeBoxes(placed: PlacedScene, camera: Camera, kept: Rectangle | null): Camera {
  const around = camera.view(Math.max(camera.width, camera.height));
  const boxes: number[] = [];
  placed.eachBox(around, (box) => boxes.push(box));
  for (const scale of scalesNear(camera)) {
    const tried = Object.assign(new Camera(), camera, { scale });
    // The visible part along one axis decides which boxes may be cut along the other.
    for (let round = 0; round < 2; round++) {
      shift(placed, tried, boxes, kept, "y");
      shift(placed, tried, boxes, kept, "x");
    }
    if (kept && !tried.shows(kept, 0)) continue;
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
  kept: Rectangle | null,
  axis: "x" | "y",
): void {
  const room = roomOf(camera, axis);
  const spare = SPARE / camera.scale;
  const spans = boxes
    .filter((box) => isWhole(placed, camera, box) !== null)
    .map((box) => spanOf(placed.rectangle(box), axis, spare));
  const must = kept && spanOf(kept, axis, spare);
  if (must) spans.push(must);
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

function spanOf({ x, y, width, height }: Rectangle, axis: "x" | "y", spare: number): Span {
  return axis === "x" ? [x - spare, x + width + spare] : [y - spare, y + height + spare];
}

const BESIDE = 340;

/** Camera that fits the bounds to the stage; a thin graph is at the left, to leave room for texts. */
export function fitted(placed: PlacedScene, camera: Camera, bounds: Bounds): Camera {
  const target = Object.assign(new Camera(), camera);
  target.fit(bounds, fitScale(bounds, camera));
  return beside(placed, target) ?? target;
}

/**
 * First camera of a graph: all of it if legible, else the box `wanted` (-1: the beginning), legible and uncut, with the
 * frames around it from `frame` on (-1: its own) that fit.
 */
export function opening(placed: PlacedScene, camera: Camera, wanted: number, frame = -1): Camera {
  const { bounds, direction, x, y } = placed.layout;
  const whole = Object.assign(new Camera(), camera);
  whole.fit(bounds, fitScale(bounds, camera));
  if (whole.scale >= LEGIBLE_SCALE) return whole;
  const along = direction === "down" ? y : x;
  const first = along.reduce((best, at, box) => (at < along[best]! ? box : best), 0);
  const box = wanted < 0 ? first : wanted;
  const isFramed = wanted >= 0 && placed.scene.frameOf[box]! >= 0;
  const scale = isFramed ? LEGIBLE_SCALE : READABLE_SCALE;
  Object.assign(whole, { scale, x: x[box]!, y: y[box]! });
  whole.clamp(bounds);
  if (wanted < 0) return withWholeBoxes(placed, whole, null);
  const kept = keptAround(placed, whole, box, frame);
  for (const axis of ["x", "y"] as const) {
    const half = roomOf(whole, axis) / 2;
    const [low, high] = spanOf(kept, axis, SPARE / whole.scale);
    whole[axis] = Math.max(high - half, Math.min(low + half, whole[axis]));
  }
  return withWholeBoxes(placed, whole, kept);
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
