import { Camera } from "./camera.ts";
import type { Bounds } from "./layout/types.ts";
import { marginStart } from "./margin.ts";
import { CUT_SCALE, READABLE_SCALE, TITLE_SCALE } from "./picture.ts";
import type { Placed } from "./placed.ts";

/** Where the whole graph fits at this scale or above, it is shown whole at first. */
const WHOLE_SCALE = 0.55;
const LARGEST_FIT = 1.1;
/** Where a large graph that runs to the right opens: several boxes side by side, their titles whole for the most part. */
const RIGHT_SCALE = 0.75;
/** A row of the outline that a large graph opens with, CSS px. */
const OUTLINE_ROW = 17;
/** Room that texts beside a thin graph take, where there is so much. */
const BESIDE = 340;

/** From where the bounds are seen on the stage of `camera`; a thin graph stands to the left, for the texts beside it. */
export function fitted(placed: Placed, camera: Camera, bounds: Bounds): Camera {
  const target = Object.assign(new Camera(), camera);
  target.fit(bounds, LARGEST_FIT);
  return beside(placed, target) ?? target;
}

/**
 * From where a graph is seen at first: whole where that is legible. Else the box that is `asked` for, readable; or as many
 * rows of boxes with texts beside them as there is room for, at the `slowest` or at the graph's beginning.
 */
export function opening(
  placed: Placed,
  camera: Camera,
  asked: number | null,
  slowest: number | null,
): Camera {
  const { bounds, direction, layers, x, y } = placed.layout;
  const { minX, minY, maxX, maxY } = bounds;
  const whole = fitted(placed, camera, bounds);
  if (placed.columns > 1 || whole.scale >= WHOLE_SCALE || isBeside(placed, whole)) return whole;
  const target = Object.assign(new Camera(), camera);
  Object.assign(target, { x: (minX + maxX) / 2, y: (minY + maxY) / 2 });
  target.scale = (OUTLINE_ROW * layers) / Math.max(1, maxY - minY);
  const outline = asked === null ? beside(placed, target) : null;
  const from = outline ?? target;
  const box = asked ?? slowest;
  const right = direction === "right";
  if (!outline) {
    from.scale = asked === null && right ? RIGHT_SCALE : READABLE_SCALE;
    if (box !== null) from.x = x[box]!;
    else if (right) from.x = minX;
  }
  if (box !== null) from.y = y[box]!;
  else if (!right) from.y = minY;
  return from;
}

/** Whether the whole graph, fitted, is too thin to be read, and would be larger in columns. */
export function isThread(placed: Placed, camera: Camera): boolean {
  const { minX, minY, maxX, maxY } = placed.layout.bounds;
  const whole = fitted(placed, camera, placed.layout.bounds);
  const area = Math.max(1, (maxX - minX) * (maxY - minY));
  const inColumns = Math.sqrt((camera.width * camera.height) / area);
  const isRead = whole.scale >= TITLE_SCALE || isBeside(placed, whole);
  return !isRead && inColumns > 1.6 * whole.scale;
}

function isBeside(placed: Placed, camera: Camera): boolean {
  return marginStart(placed, camera) !== null;
}

/** The same with the graph to the left, for the texts beside it; null where they have no room, or are in the boxes. */
function beside(placed: Placed, camera: Camera): Camera | null {
  if (camera.scale >= CUT_SCALE) return null;
  const { bounds } = placed.layout;
  const aside = Object.assign(new Camera(), camera);
  const wide = (bounds.maxX - bounds.minX) * aside.scale;
  aside.x += Math.max(0, Math.min(BESIDE, aside.width - wide)) / 2 / aside.scale;
  aside.clamp(bounds);
  return isBeside(placed, aside) ? aside : null;
}
