import type { Theme } from "../../shared/drawing/theme.ts";
import type { Flows } from "../data/flows.ts";
import type { Scene } from "./scene.ts";

/** More arrows of one slice than this are no picture. */
const MOST = 200;

/** Draws the arrows of the selected slice and of the one under the pointer. */
export function paintFlows(
  context: CanvasRenderingContext2D,
  flows: Flows,
  scene: Scene,
  theme: Theme,
): void {
  const shown = [...flows.of(scene.current), ...flows.of(scene.hovered)];
  for (const flow of new Set(shown.slice(0, MOST))) {
    const [from, to] = flows.ends(flow);
    const [y1, y2] = [middleOf(scene, from), middleOf(scene, to)];
    if (y1 === null || y2 === null) continue;
    const [x1, x2] = [scene.x(scene.slices.endOf(from)), scene.x(scene.slices.startOf(to))];
    const bend = Math.max(12, Math.min(60, Math.abs(x2 - x1) / 2));
    for (const [color, width] of [
      [theme.background, 4],
      [theme.text, 1.5],
    ] as const) {
      context.strokeStyle = context.fillStyle = color;
      context.lineWidth = width;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      context.stroke();
      context.beginPath();
      context.moveTo(x2, y2);
      context.lineTo(x2 - 8, y2 - 4);
      context.lineTo(x2 - 8, y2 + 4);
      context.fill();
    }
  }
}

/** Where the row of a slice is; null where it is not drawn. */
function middleOf(scene: Scene, slice: number): number | null {
  const row = scene.slices.rows[scene.slices.rowOf(slice)];
  if (!row) return null;
  const { y, height } = scene.rowBox(row);
  return y < -1e5 ? null : y + height / 2;
}
