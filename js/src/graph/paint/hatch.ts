import type { Pen } from "../../shared/drawing/pen.ts";
import type { Rectangle } from "../stage/camera.ts";
import type { Palette } from "./palette.ts";

/** Between two lines, px. */
const APART = 8;

/** Covers the present path, which fills this rectangle, with diagonal lines: what it stands for is not known. */
export function paintHatch(context: Pen, palette: Palette, shape: Rectangle): void {
  const pattern = palette.hatch(context);
  if (pattern) {
    context.fillStyle = pattern;
    context.fill();
    return;
  }
  const { x, y, width, height } = shape;
  context.strokeStyle = palette.hatched;
  context.lineWidth = 1.2;
  context.beginPath();
  for (let start = APART; start < width + height; start += APART) {
    const [left, right] = [Math.max(0, start - height), Math.min(width, start)];
    context.moveTo(x + left, y + start - left);
    context.lineTo(x + right, y + start - right);
  }
  context.stroke();
}
