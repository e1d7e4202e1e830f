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

/** What must be whole on the stage along each axis, in px of the graph. */
type Span = readonly [low: number, high: number];
type Kept = Readonly<Record<"x" | "y", Span>>;

/** A box, and as many of the frames around it, from the inside out, as fit along each axis; and how many fit whole. */
function keptAround(
  placed: PlacedScene,
  camera: Camera,
  box: number,
  frame: number,
): [Kept, number] {
  const spare = SPARE / camera.scale;
  const { frames, frameOf } = placed.scene;
  const rectangle = placed.rectangle(box);
  const span = { x: spanOf(rectangle, "x", spare), y: spanOf(rectangle, "y", spare) };
  let fitting = 0;
  for (let at = frame < 0 ? frameOf[box]! : frame; at >= 0; at = frames.parent[at]!) {
    let axes = 0;
    for (const axis of ["x", "y"] as const) {
      const [low, high] = spanOf(placed.frame(at), axis, spare);
      if (high - low > roomOf(camera, axis)) continue;
      span[axis] = [low, high];
      axes += 1;
    }
    fitting += Number(axes === 2);
  }
  return [span, fitting];
}

function roomOf(camera: Camera, axis: "x" | "y"): number {
  return (axis === "x" ? camera.width : camera.height) / camera.scale;
}

/** Camera near another one that cuts no box at the stage's borders and shows what is `kept`; else the same camera. */
function withWholeBoxes(placed: PlacedScene, camera: Camera, kept: Kept | null): Camera {
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
    if (kept && !(holds(tried, kept, "x") && holds(tried, kept, "y"))) break;
    if (boxes.every((box) => isWhole(placed, tried, box) !== false)) return tried;
  }
  return camera;
}

function holds(camera: Camera, kept: Kept, axis: "x" | "y"): boolean {
  const half = roomOf(camera, axis) / 2 + 1e-6;
  return camera[axis] - half <= kept[axis][0] && camera[axis] + half >= kept[axis][1];
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
  kept: Kept | null,
  axis: "x" | "y",
): void {
  const room = roomOf(camera, axis);
  const spare = SPARE / camera.scale;
  const spans = boxes
    .filter((box) => isWhole(placed, camera, box) !== null)
    .map((box) => spanOf(placed.rectangle(box), axis, spare));
  const must = kept?.[axis];
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
  Object.assign(whole, { scale: READABLE_SCALE, x: x[box]!, y: y[box]! });
  if (wanted < 0) {
    whole.clamp(bounds);
    return withWholeBoxes(placed, whole, null);
  }
  const smaller = Object.assign(new Camera(), whole, { scale: LEGIBLE_SCALE });
  const frames = (camera: Camera) => keptAround(placed, camera, box, frame)[1];
  if (frames(smaller) > frames(whole)) whole.scale = LEGIBLE_SCALE;
  whole.clamp(bounds);
  const [kept] = keptAround(placed, whole, box, frame);
  for (const axis of ["x", "y"] as const) {
    const half = roomOf(whole, axis) / 2;
    const [low, high] = kept[axis];
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
