import type { Pen } from "../../shared/pen.ts";
import { ramp, rampStops, type Theme } from "../../shared/theme.ts";
import { errorFill } from "../chart/colors.ts";
import type { TilesScene } from "../data/tiles.ts";
import { seconds } from "../data/words.ts";

const MOST_LINES = 4000;
const PLAIN_ALPHA = 0.35;

/** Parallel coordinates: a line for each trial over its tile sizes to its cost; the cheapest lie on top. */
export function paintTiles(scene: TilesScene, pen: Pen, theme: Theme, marked: ReadonlySet<number>) {
  const { tiles } = scene;
  const order = Array.from(tiles.rows.keys()).sort(
    (a, b) => dearness(scene, b) - dearness(scene, a),
  );
  const drawn = order.slice(-MOST_LINES);
  const stops = rampStops(theme, "sequential");
  pen.lineWidth = 1;
  for (const at of drawn) {
    const rank = scene.rank(at);
    pen.globalAlpha = rank < 0.1 ? 0.9 : PLAIN_ALPHA;
    pen.strokeStyle = Number.isNaN(rank) ? errorFill(theme, 4) : ramp(stops, 1 - 0.85 * rank);
    trace(scene, pen, at);
  }
  pen.globalAlpha = 1;
  pen.lineWidth = 2.5;
  pen.strokeStyle = theme.accent;
  for (const at of drawn) {
    if (at === scene.hovered || marked.has(tiles.rows[at]!)) trace(scene, pen, at);
  }
  axes(scene, pen, theme);
  return drawn.length;
}

function dearness(scene: TilesScene, at: number): number {
  const rank = scene.rank(at);
  return Number.isNaN(rank) ? 2 : rank;
}

function trace(scene: TilesScene, pen: Pen, at: number): void {
  pen.beginPath();
  for (let axis = 0; axis < scene.count; axis++) {
    const [x, y] = [scene.x(axis), scene.y(at, axis)];
    if (axis) pen.lineTo(x, y);
    else pen.moveTo(x, y);
  }
  pen.stroke();
}

function axes(scene: TilesScene, pen: Pen, theme: Theme): void {
  const { tiles, top, bottom } = scene;
  pen.font = `11px ${theme.font}`;
  pen.textBaseline = "middle";
  for (let axis = 0; axis < scene.count; axis++) {
    const x = scene.x(axis);
    const isCost = axis === scene.count - 1;
    pen.strokeStyle = theme.muted;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.textAlign = "center";
    pen.fillStyle = theme.text;
    pen.fillText(isCost ? "cost" : tiles.info.axes[axis]!, x, top - 14);
    pen.fillStyle = theme.muted;
    if (isCost) {
      pen.textAlign = "left";
      pen.fillText(seconds(scene.costs[0]), x + 6, top);
      pen.fillText(seconds(scene.costs[1]), x + 6, bottom);
    } else {
      pen.textAlign = "left";
      pen.fillText(String(tiles.most(axis)), x + 4, top + 4);
      pen.textAlign = "center";
    }
  }
  pen.textAlign = "left";
}
