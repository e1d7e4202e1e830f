import type { Pen } from "./pen.ts";
import { inkOn, type Theme } from "./theme.ts";

/** Size of the badge of what a fault began in, CSS px. */
export const BADGE = 16;

/** A disc with an exclamation mark. */
export function paintBadge(
  context: Pen,
  x: number,
  y: number,
  radius: number,
  { error, background, font }: Theme,
): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
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
  context.fillText("!", x, y + 0.5);
  context.textAlign = "left";
}
