import type { Pen } from "../../shared/drawing/pen.ts";
import { ramp, sequentialStops, type Theme } from "../../shared/drawing/theme.ts";
import { seconds } from "../data/descriptions.ts";
import type { TilesScene } from "../data/tiles.ts";

const MOST_LINES = 4000;
const PLAIN_ALPHA = 0.35;
/** The share of trials that is drawn strongly. */
const CHEAP = 0.1;
/** Numbers beside an axis that would be nearer are left out, px. */
const NUMBER_GAP = 13;
const LABEL_APART = 8;

/** Parallel coordinates: a line for each trial over its tile sizes to its cost; the cheapest lie on top. */
export function paintTiles(scene: TilesScene, pen: Pen, theme: Theme, marked: ReadonlySet<number>) {
  const { tiles } = scene;
  const order = Array.from(tiles.rows.keys()).sort(
    (a, b) => dearness(scene, b) - dearness(scene, a),
  );
  const drawn = order.slice(-MOST_LINES);
  const stops = sequentialStops(theme);
  const colorOf = (at: number) => {
    const rank = scene.rank(at);
    return Number.isNaN(rank) ? theme.error : ramp(stops, 0.95 - 0.75 * rank);
  };
  pen.lineWidth = 1;
  for (const at of drawn) {
    pen.globalAlpha = scene.rank(at) < CHEAP ? 0.9 : PLAIN_ALPHA;
    pen.strokeStyle = colorOf(at);
    trace(scene, pen, at);
  }
  pen.globalAlpha = 1;
  const isMarked = (at: number) => at !== scene.hovered && marked.has(tiles.rows[at]!);
  for (const at of drawn) if (isMarked(at)) strong(scene, pen, at, theme.text, theme);
  if (scene.hovered >= 0) strong(scene, pen, scene.hovered, theme.accent, theme);
  axes(scene, pen, theme);
  costScale(scene, pen, drawn, colorOf);
  return drawn.length;
}

function dearness(scene: TilesScene, at: number): number {
  const rank = scene.rank(at);
  return Number.isNaN(rank) ? 2 : rank;
}

/** A line that stands out of those behind it. */
function strong(scene: TilesScene, pen: Pen, at: number, color: string, theme: Theme): void {
  for (const [width, stroke] of [
    [6, theme.background],
    [2.5, color],
  ] as const) {
    pen.lineWidth = width;
    pen.strokeStyle = stroke;
    trace(scene, pen, at);
  }
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
  const { tiles, top, bottom, hovered } = scene;
  pen.font = `11px ${theme.font}`;
  pen.textBaseline = "middle";
  const room = scene.count > 1 ? scene.x(1) - scene.x(0) - LABEL_APART : scene.width;
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
    pen.fillText(shortened(isCost ? "cost" : tiles.info.axes[axis]!, room, pen), x, top - 16);
    pen.textAlign = "left";
    if (isCost) {
      pen.fillStyle = theme.muted;
      pen.fillText(seconds(scene.costs[0]), x + 8, top);
      pen.fillText(seconds(scene.costs[1]), x + 8, bottom);
      continue;
    }
    const own = hovered < 0 ? undefined : tiles.value(hovered, axis);
    let last = Number.POSITIVE_INFINITY;
    for (const value of tiles.levels(axis)) {
      const y = scene.yOf(value, axis);
      const isNear = own !== undefined && Math.abs(scene.yOf(own, axis) - y) < NUMBER_GAP;
      if (last - y < NUMBER_GAP || (isNear && value !== own)) continue;
      last = y;
      number(String(value), x + 4, y, value === own ? theme.text : theme.muted, pen, theme);
    }
  }
  pen.textAlign = "left";
}

/** A number that lines behind it leave legible. */
function number(text: string, x: number, y: number, color: string, pen: Pen, theme: Theme): void {
  const wide = pen.measureText(text).width + 4;
  pen.fillStyle = theme.background;
  pen.globalAlpha = 0.8;
  pen.fillRect(x - 2, y - 7, wide, 14);
  pen.globalAlpha = 1;
  pen.fillStyle = color;
  pen.fillText(text, x, y);
}

/** The colors that costs have, along their axis. */
function costScale(
  scene: TilesScene,
  pen: Pen,
  drawn: readonly number[],
  colorOf: (at: number) => string,
): void {
  const axis = scene.count - 1;
  const x = scene.x(axis);
  for (const at of drawn) {
    pen.fillStyle = colorOf(at);
    pen.fillRect(x - 3, scene.y(at, axis) - 1, 7, 2);
  }
}

function shortened(text: string, room: number, pen: Pen): string {
  if (pen.measureText(text).width <= room) return text;
  for (let length = text.length - 1; length > 1; length--) {
    const cut = `…${text.slice(-length)}`;
    if (pen.measureText(cut).width <= room) return cut;
  }
  return text.slice(-1);
}
