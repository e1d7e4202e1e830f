import { Fault } from "../shared/health.ts";
import { inkOn } from "../shared/theme.ts";
import type { Rectangle } from "./camera.ts";
import type { Picture } from "./picture.ts";

/** Size of the badge of a fault, CSS px; boxes lower than half of it have a smaller one. */
const BADGE = 16;
/** How much of the colour of errors lies over what a fault spread to. */
const TINT = 0.16;
/** Other colours stand for values that a legend tells: no tint falsifies them. */
const TINTED: readonly string[] = ["kind", "time"];

/** What a fault is to a box: where the colours show the health of values, they say it. */
export function faultOf({ health, colorBy }: Picture, box: number): number {
  return colorBy === "health" || !health ? Fault.NONE : health.fault[box]!;
}

/** Tints what a fault spread to, as far as it is on the stage. */
export function paintSpread(context: CanvasRenderingContext2D, picture: Picture): void {
  const { placed, camera, palette } = picture;
  const tint = TINTED.includes(picture.colorBy) ? TINT : 0;
  context.lineWidth = 1.5;
  context.strokeStyle = context.fillStyle = palette.theme.error;
  placed.eachBox(camera.view(4), (box) => {
    if (faultOf(picture, box) === Fault.NONE) return;
    const { x, y, width, height } = camera.screen(placed.rectangle(box));
    context.beginPath();
    context.roundRect(x, y, width, height, 4 * Math.min(1, camera.scale));
    context.globalAlpha = tint;
    context.fill();
    context.globalAlpha = 0.8;
    context.setLineDash(faultOf(picture, box) === Fault.SPREAD ? [4, 3] : []);
    context.stroke();
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** Sets a badge on the boxes in which a fault began: seen at every scale, and told by its sign. */
export function paintOrigins(context: CanvasRenderingContext2D, picture: Picture): void {
  const { placed, camera, palette } = picture;
  placed.eachBox(camera.view(BADGE), (box) => {
    if (faultOf(picture, box) === Fault.ORIGIN) {
      badge(context, camera.screen(placed.rectangle(box)), palette.theme);
    }
  });
}

/** A disc with an exclamation mark on the upper left corner of a box. */
function badge(
  context: CanvasRenderingContext2D,
  { x, y, height }: Rectangle,
  { error, background, font }: Picture["palette"]["theme"],
): void {
  const radius = Math.max(4, Math.min(BADGE / 2, height));
  context.beginPath();
  context.arc(x, y + 1, radius, 0, 2 * Math.PI);
  context.fillStyle = error;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = background;
  context.stroke();
  if (radius < 6) return;
  context.fillStyle = inkOn(error);
  context.font = `700 ${1.5 * radius}px ${font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText("!", x, y + 1.5);
}
