import type { Pen } from "../../shared/drawing/pen.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { largest, smallest } from "../../shared/many.ts";
import { LANE, type Scene } from "./scene.ts";

const DIM = 0.55;

/** What lies over the chart: the trials that are counted, the one that is looked at, the one pointed at. */
export function paintOverlay(scene: Scene, pen: Pen, theme: Theme): void {
  range(scene, pen, theme);
  if (scene.trial >= 0) ring(scene, pen, scene.trial, theme.text, theme.background, 5);
  if (scene.hovered >= 0 && scene.hovered !== scene.trial) {
    ring(scene, pen, scene.hovered, theme.accent, theme.background, 4);
  }
}

/** Dims what is not in the range. */
function range(scene: Scene, pen: Pen, theme: Theme): void {
  const span = scene.dragged ?? scene.rangeValues;
  if (!span) return;
  const { plot, strip } = scene;
  const [low, high] = [smallest(span), largest(span)];
  const from = Math.max(plot.left, Math.min(plot.right, scene.x(low)));
  const to = Math.max(plot.left, Math.min(plot.right, scene.x(high)));
  pen.fillStyle = theme.background;
  pen.globalAlpha = DIM;
  pen.fillRect(plot.left, 0, from - plot.left, strip.bottom);
  pen.fillRect(to, 0, plot.right - to, strip.bottom);
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.accent;
  pen.lineWidth = 1;
  pen.strokeRect(from + 0.5, 0.5, Math.max(1, to - from - 1), strip.bottom - 1);
}

function ring(
  scene: Scene,
  pen: Pen,
  trial: number,
  color: string,
  ground: string,
  size: number,
): void {
  const { data, plot } = scene;
  const x = scene.x(scene.value(trial));
  if (!(x >= plot.left && x <= plot.right)) return;
  const failed = data.error[trial] !== 0;
  const y = failed ? scene.laneY : scene.y(data.cost[trial]!);
  const [across, down] = failed ? [4, LANE / 2] : [size, size];
  pen.lineWidth = 4;
  pen.strokeStyle = ground;
  pen.strokeRect(x - across, y - down, 2 * across, 2 * down);
  pen.lineWidth = 2;
  pen.strokeStyle = color;
  pen.strokeRect(x - across, y - down, 2 * across, 2 * down);
}
