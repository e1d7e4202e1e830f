import { Fault } from "../../shared/client/health.ts";
import { BADGE, paintBadge } from "../../shared/drawing/fault_badge.ts";
import type { Pen } from "../../shared/drawing/pen.ts";
import type { Picture } from "./picture.ts";

/** How much of the color of errors lies over what a fault spread to. */
const TINT = 0.16;
/** Other colors stand for values that a legend tells: no tint falsifies them. */
const TINTED: readonly string[] = ["kind", "time"];

/** What a fault is to a box: where the colors show the health of values, they say it. */
export function faultOf({ health, colorBy }: Picture, box: number): number {
  return colorBy === "health" || !health ? Fault.NONE : health.fault[box]!;
}

/** Tints what a fault spread to, as far as it is on the stage. */
export function paintSpread(context: Pen, picture: Picture): void {
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

/** Sets a badge on the upper left corner of the boxes in which a fault began: seen at every scale, and told by its sign. */
export function paintOrigins(context: Pen, picture: Picture): void {
  const { placed, camera, palette } = picture;
  placed.eachBox(camera.view(BADGE), (box) => {
    if (faultOf(picture, box) === Fault.ORIGIN) {
      const { x, y, height } = camera.screen(placed.rectangle(box));
      const radius = Math.max(4, Math.min(BADGE / 2, height));
      paintBadge(context, x, y + 1, radius, palette.theme);
    }
  });
}
