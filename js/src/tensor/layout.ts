import type { Tile } from "../shared/tensor_questions.ts";
import { indexTicks } from "./ticks.ts";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** How the values of a plane lie in the tile that was sent: cells of rowStep x colStep values. */
export type TileShape = Pick<
  Tile,
  "rows" | "cols" | "rowStep" | "colStep" | "planeRows" | "planeCols"
>;

/** Where a tile is drawn, in CSS pixels of the stage. */
export interface Layout {
  kind: "plane" | "profile";
  plot: Box;
  cellWidth: number;
  cellHeight: number;
  tile: TileShape;
}

export const FONT_SIZE = 11;
export const DIGIT = 7;
const NAME_ROOM = 16;
const TICK_ROOM = 17;
const MAX_CELL = 40;
const THIN_SIDE = 24;
const PROFILE_HEIGHT = 240;
export const STRIP = 10;
/** About a megabyte a picture. */
const MAX_CELLS = 80_000;

/** The part of the stage that the plot of a plane may fill. */
function roomFor(planeRows: number, planeCols: number, width: number, height: number): Box {
  if (isProfile(planeRows, planeCols)) {
    const left = NAME_ROOM + 9 * DIGIT;
    const room = Math.min(PROFILE_HEIGHT, height) - STRIP - 2 * TICK_ROOM - NAME_ROOM;
    return { x: left, y: TICK_ROOM, width: width - left - 12, height: room };
  }
  const left = NAME_ROOM + String(planeRows - 1).length * DIGIT + 8;
  const top = NAME_ROOM + TICK_ROOM;
  return { x: left, y: top, width: width - left - 12, height: height - top - 8 };
}

function isProfile(planeRows: number, planeCols: number): boolean {
  return planeRows === 1 && planeCols > 1;
}

/** CSS pixels a value takes down and across, as far as the room allows. */
function valueSize(
  planeRows: number,
  planeCols: number,
  room: Box,
): [down: number, across: number] {
  if (isProfile(planeRows, planeCols)) {
    return [room.height, Math.min(MAX_CELL, room.width / planeCols)];
  }
  const square = Math.min(room.width / planeCols, room.height / planeRows, MAX_CELL);
  if (planeRows === planeCols || square * Math.min(planeRows, planeCols) >= THIN_SIDE) {
    return [square, square];
  }
  const side = (length: number, space: number) => Math.min(space / length, THIN_SIDE);
  return [
    Math.max(square, side(planeRows, room.height)),
    Math.max(square, side(planeCols, room.width)),
  ];
}

/** How many rows and columns are worth asking for: no more than can be seen. */
export function tileBudget(
  planeRows: number,
  planeCols: number,
  width: number,
  height: number,
): { rows: number; cols: number } {
  const room = roomFor(planeRows, planeCols, width, height);
  const [down, across] = valueSize(planeRows, planeCols, room);
  let rows = isProfile(planeRows, planeCols) ? 1 : seen(planeRows, down);
  let cols = seen(planeCols, across);
  const over = Math.sqrt((rows * cols) / MAX_CELLS);
  if (over > 1) [rows, cols] = [Math.max(1, rows / over), Math.max(1, cols / over)];
  return { rows: Math.floor(rows), cols: Math.floor(cols) };
}

function seen(length: number, size: number): number {
  return Math.max(1, Math.floor(length * Math.min(1, size)));
}

/** Whole device pixels a cell from one pixel on, so that all cells look alike. */
export function layoutTile(tile: TileShape, width: number, height: number, ratio: number): Layout {
  const kind = isProfile(tile.planeRows, tile.planeCols) ? "profile" : "plane";
  const room = roomFor(tile.planeRows, tile.planeCols, width, height);
  const [down, across] = valueSize(tile.planeRows, tile.planeCols, room);
  const snap = (size: number) => (size * ratio >= 1 ? Math.floor(size * ratio) / ratio : size);
  const cellWidth =
    kind === "profile" ? across * tile.colStep : snap(Math.min(MAX_CELL, across * tile.colStep));
  const cellHeight =
    kind === "profile" ? room.height : snap(Math.min(MAX_CELL, down * tile.rowStep));
  const plot = {
    x: room.x,
    y: room.y,
    width: Math.min(cellWidth * tile.cols, cellWidth * (tile.planeCols / tile.colStep)),
    height: kind === "profile" ? room.height : cellHeight * (tile.planeRows / tile.rowStep),
  };
  return { kind, plot, cellWidth, cellHeight, tile };
}

/** The value of the plane at a place of the stage, or null beside the plot. */
export function pointAt({ kind, plot, cellWidth, cellHeight, tile }: Layout, x: number, y: number) {
  const [across, down] = [x - plot.x, y - plot.y];
  const bottom = plot.height + (kind === "profile" ? STRIP + 4 : 0);
  if (across < 0 || down < 0 || across >= plot.width || down >= bottom) return null;
  const col = Math.min(tile.planeCols - 1, Math.floor((across / cellWidth) * tile.colStep));
  if (kind === "profile") return { row: 0, col };
  return { row: Math.min(tile.planeRows - 1, Math.floor((down / cellHeight) * tile.rowStep)), col };
}

/** The box of the cell that holds a value. */
export function cellBox(layout: Layout, row: number, col: number): Box {
  const { kind, plot, cellWidth, cellHeight, tile } = layout;
  const x = plot.x + Math.floor(col / tile.colStep) * cellWidth;
  const width = Math.min(cellWidth, plot.x + plot.width - x);
  if (kind === "profile") return { x, y: plot.y, width, height: plot.height + STRIP + 4 };
  const y = plot.y + Math.floor(row / tile.rowStep) * cellHeight;
  return { x, y, width, height: Math.min(cellHeight, plot.y + plot.height - y) };
}

/** Position of a cell in the tile's arrays. */
export function cellOf(tile: TileShape, row: number, col: number): number {
  return Math.floor(row / tile.rowStep) * tile.cols + Math.floor(col / tile.colStep);
}

/** Indices to write along an axis, with the middle of each in CSS pixels from the plot's start. */
export function axisTicks(
  length: number,
  step: number,
  cell: number,
  spacing: number,
): { index: number; at: number }[] {
  const pixels = (length / step) * cell;
  return indexTicks(length, pixels / spacing).map((index) => ({
    index,
    at: ((index + 0.5) / step) * cell,
  }));
}
