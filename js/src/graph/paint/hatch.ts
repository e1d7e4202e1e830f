import type { Pen } from "../../shared/drawing/pen.ts";
import type { Rectangle } from "../stage/camera.ts";
import type { Palette } from "./palette.ts";

/** How thick lines are, and from one to the next, px. */
const LINE = 1.2;
const APART = 5.7;

/** Covers the present path, which fills this rectangle, with diagonal lines: what it stands for is not known. */
export function paintHatch(context: Pen, palette: Palette, shape: Rectangle): void {
  const pattern = palette.hatch(context);
  if (pattern) {
    context.fillStyle = pattern;
    context.fill();
    return;
  }
  const { x, y, width, height } = shape;
  // The dashes of one line across the box, as thick as that is long.
  const long = width + height;
  context.save();
  context.clip();
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + long / 2, y + long / 2);
  context.strokeStyle = palette.hatched;
  context.lineWidth = 1.5 * long;
  context.setLineDash([LINE, APART - LINE]);
  context.stroke();
  context.setLineDash([]);
  context.restore();
}
