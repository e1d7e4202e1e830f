import type { Layer, Pen } from "../shared/drawing/canvas.ts";
import type { Theme } from "../shared/drawing/theme.ts";
import { largest, smallest } from "../shared/many.ts";
import type { StagePainters } from "../shell/stage.ts";
import type { Target } from "../shell/tooltip.ts";
import { ChartPainter } from "./chart_painter.ts";
import { binLines, trialLines } from "./descriptions.ts";
import { LANE, type TrialScene } from "./scene.ts";

const DIM = 0.55;
/** Half of the ring around a trial, px. */
const RING = 5;

/** Overlay of the chart: the counted range, the current trial, the hovered trial. */
export function paintOverlay(scene: TrialScene, pen: Pen, theme: Theme): void {
  range(scene, pen, theme);
  if (scene.trial >= 0) ring(scene, pen, scene.trial, theme.text, theme.background, RING);
  if (scene.hovered >= 0 && scene.hovered !== scene.trial) {
    ring(scene, pen, scene.hovered, theme.accent, theme.background, 4);
  }
}

/** Dims everything outside the range. */
function range(scene: TrialScene, pen: Pen, theme: Theme): void {
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
  scene: TrialScene,
  pen: Pen,
  trial: number,
  color: string,
  ground: string,
  size: number,
): void {
  const { data, plot } = scene;
  const [x, y] = scene.place(trial);
  if (!(x >= plot.left && x <= plot.right)) return;
  const [across, down] = data.error[trial] ? [4, LANE / 2] : [size, size];
  pen.lineWidth = 4;
  pen.strokeStyle = ground;
  pen.strokeRect(x - across, y - down, 2 * across, 2 * down);
  pen.lineWidth = 2;
  pen.strokeStyle = color;
  pen.strokeRect(x - across, y - down, 2 * across, 2 * down);
}

/** Paints the chart of a view; its scene is another one once the log has grown. */
export class TrialChart implements StagePainters {
  #drawn = {};

  constructor(readonly view: { readonly scene: TrialScene }) {}

  base(theme: Theme, width: number, height: number, { context }: Layer): void {
    Object.assign(this.view.scene, { width, height });
    this.#drawn = new ChartPainter(this.view.scene, context).paint(theme);
  }

  over(theme: Theme, _width: number, _height: number, { context }: Layer): void {
    paintOverlay(this.view.scene, context, theme);
  }

  inspect(): object {
    const { scene } = this.view;
    const { task, trial, hovered, range, along, viewport, costs, plot, strip, laneY } = scene;
    const view = [viewport.start, viewport.end];
    const found = scene.chosen?.reduce((sum, flag) => sum + flag, 0) ?? null;
    const facts = { task, trial, hovered, range, along, view, costs, found };
    const place = (row: number) => this.view.scene.place(row);
    return { ...this.#drawn, ...facts, plot, strip, laneY, place };
  }
}

/** Lines on the trial, or the bar of the error strip, at a point, and its place; null for nothing. */
export function toldAt(
  scene: TrialScene,
  x: number,
  y: number,
): { lines: string[]; target: Target } | null {
  const trial = scene.hit(x, y);
  if (trial >= 0) {
    const [across, down] = scene.place(trial);
    const target = { x: across - RING, y: down - RING, width: 2 * RING, height: 2 * RING };
    return { lines: trialLines(scene.data, trial), target };
  }
  const bin = scene.binAt(x, y);
  if (!bin?.trials) return null;
  const { top, bottom } = scene.strip;
  const left = scene.x(bin.from);
  const target = { x: left, y: top, width: scene.x(bin.to) - left, height: bottom - top };
  return { lines: binLines(scene.data, scene.along, bin), target };
}
