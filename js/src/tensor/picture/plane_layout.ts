import type { Tile } from "../../shared/client/tensor_questions.ts";
import { type Pen, type Rectangle, type Size, TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { indexTicks } from "../../shared/drawing/value_axis.ts";

/** Zoom and position in a plane: the first visible row and column. */
export interface PlaneCamera {
  /** 1 shows all of the plane. */
  zoom: number;
  row: number;
  col: number;
  /** CSS pixels from the plot's corner that stay filled when the camera moves beyond the plane; default: all. */
  filled?: Size;
}

/** Geometry of the visible values, in CSS pixels of the stage. */
export interface PlaneLayout {
  kind: "plane" | "profile";
  plot: Rectangle;
  planeRows: number;
  planeCols: number;
  /** First visible value; a part of it may be outside. */
  row: number;
  col: number;
  down: number;
  across: number;
  /** Values per cell that can be seen. */
  rowStep: number;
  colStep: number;
}

/** The cells of a tile on the grid of its plane. */
export type TileGrid = Pick<Tile, "row" | "col" | "rows" | "cols" | "rowStep" | "colStep">;

export const FONT_SIZE = 11;
export const DIGIT = 7;
const NAME_ROOM = 16;
const TICK_ROOM = 17;
/** Cell size that has room for a few digits: there is no use to zoom farther. */
const MAX_CELL = 56;
/** Largest cell and bar of a small plane that fills the room. */
const LARGEST = 240;
const MAX_BAR = 80;
const THIN_SIDE = 24;
const PROFILE_HEIGHT = 420;
export const STRIP = 10;
/** Cell size below which cells may differ by a pixel: rounding would cost too much of the picture. */
const WHOLE_FROM = 2;
/** About a megabyte a picture. */
const MAX_CELLS = 80_000;

function roomFor(planeRows: number, planeCols: number, { width, height }: Size): Rectangle {
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

/** CSS pixels per value down and across if all are shown and there is room. */
function valueSize(
  planeRows: number,
  planeCols: number,
  room: Rectangle,
): [down: number, across: number] {
  if (isProfile(planeRows, planeCols)) {
    return [room.height, Math.min(MAX_BAR, room.width / planeCols)];
  }
  const square = Math.min(room.width / planeCols, room.height / planeRows, LARGEST);
  if (planeRows === planeCols || square * Math.min(planeRows, planeCols) >= THIN_SIDE) {
    return [square, square];
  }
  const side = (length: number, space: number) => Math.min(space / length, THIN_SIDE);
  return [
    Math.max(square, side(planeRows, room.height)),
    Math.max(square, side(planeCols, room.width)),
  ];
}

/** Zoom at which a value reaches its largest useful size. */
export function maxZoom(planeRows: number, planeCols: number, stage: Size): number {
  const room = roomFor(planeRows, planeCols, stage);
  const [down, across] = valueSize(planeRows, planeCols, room);
  const least = isProfile(planeRows, planeCols) ? across : Math.min(down, across);
  return Math.max(1, MAX_CELL / least);
}

/** The camera that centers these values and has all of them visible. */
export function cameraOn(
  [row, col, rows, cols]: readonly [number, number, number, number],
  planeRows: number,
  planeCols: number,
  stage: Size,
): PlaneCamera {
  const room = roomFor(planeRows, planeCols, stage);
  const [down, across] = valueSize(planeRows, planeCols, room);
  const zoomFor = (space: number, length: number, size: number) =>
    length * MAX_CELL <= space ? Infinity : space / (length * size);
  const most = maxZoom(planeRows, planeCols, stage);
  const high = isProfile(planeRows, planeCols) ? Infinity : zoomFor(room.height, rows, down);
  const zoom = Math.max(1, Math.min(most, high, zoomFor(room.width, cols, across)));
  const seen = layoutPlane(planeRows, planeCols, { zoom, row, col }, stage, 1);
  const before = (space: number, length: number) => Math.max(0, (space - length) / 2);
  return {
    zoom,
    row: row - before(seen.plot.height / seen.down, rows),
    col: col - before(seen.plot.width / seen.across, cols),
  };
}

/** Cells of integer device pixels from two pixels on, so that all look the same. */
export function layoutPlane(
  planeRows: number,
  planeCols: number,
  camera: PlaneCamera,
  stage: Size,
  ratio: number,
): PlaneLayout {
  const kind = isProfile(planeRows, planeCols) ? "profile" : "plane";
  const room = roomFor(planeRows, planeCols, stage);
  const [downFit, acrossFit] = valueSize(planeRows, planeCols, room);
  const grown = (size: number) => Math.min(Math.max(size, MAX_CELL), size * camera.zoom);
  let [down, across] = [kind === "profile" ? downFit : grown(downFit), grown(acrossFit)];
  const seen = (space: number, length: number, size: number) => Math.min(length, space / size);
  let rowStep = kind === "profile" ? 1 : step(down, ratio);
  let colStep = step(across, ratio);
  const cells =
    (seen(room.height, planeRows, down) / rowStep) *
    (seen(room.width, planeCols, across) / colStep);
  const over = Math.sqrt(cells / MAX_CELLS);
  if (over > 1) {
    if (rowStep < planeRows) rowStep = Math.ceil(rowStep * over);
    if (colStep < planeCols) colStep = Math.ceil(colStep * over);
  }
  if (kind === "plane") down = snapped(down, rowStep, ratio);
  if (kind === "plane" || across * ratio >= 4) across = snapped(across, colStep, ratio);
  const [rows, cols] = [seen(room.height, planeRows, down), seen(room.width, planeCols, across)];
  const { filled } = camera;
  const place = (wanted: number, length: number, seen: number, size: number, least = Infinity) => {
    const within = Math.max(0, Math.min(length - Math.min(seen, least / size), wanted));
    const first = Math.round(within * size * ratio) / (size * ratio);
    return [first, (filled ? Math.min(seen, length - first) : seen) * size] as const;
  };
  const [row, height] = place(camera.row, planeRows, rows, down, filled?.height);
  const [col, width] = place(camera.col, planeCols, cols, across, filled?.width);
  return {
    kind,
    plot: { x: room.x, y: room.y, width, height },
    planeRows,
    planeCols,
    row,
    col,
    down,
    across,
    rowStep,
    colStep,
  };
}

/** The least number of values that fills a device pixel. */
function step(size: number, ratio: number): number {
  return size * ratio >= 1 ? 1 : Math.ceil(1 / (size * ratio) - 1e-9);
}

function snapped(size: number, values: number, ratio: number): number {
  const pixels = size * values * ratio;
  return pixels >= WHOLE_FROM ? Math.floor(pixels + 1e-9) / (values * ratio) : size;
}

/** The visible rows and columns, without cut ones. */
export function inSight({ kind, plot, row, col, down, across, planeRows, planeCols }: PlaneLayout) {
  const [first, left] = [Math.floor(row + 1e-6), Math.floor(col + 1e-6)];
  const last = kind === "profile" ? 1 : Math.ceil(row + plot.height / down - 1e-6);
  const right = Math.ceil(col + plot.width / across - 1e-6);
  return [
    first,
    left,
    Math.min(planeRows, last) - first,
    Math.min(planeCols, right) - left,
  ] as const;
}

export function isWhole(layout: PlaneLayout): boolean {
  const [, , rows, cols] = inSight(layout);
  return rows >= layout.planeRows && cols >= layout.planeCols;
}

/** The value of the plane at a point of the stage, or null beside the plot. */
export function pointAt(layout: PlaneLayout, x: number, y: number) {
  const { kind, plot, planeRows, planeCols } = layout;
  const bottom = plot.y + plot.height + (kind === "profile" ? STRIP + 4 : 0);
  if (x < plot.x || y < plot.y || x >= plot.x + plot.width || y >= bottom) return null;
  const { row, col } = placeAt(layout, x, y);
  return {
    row: kind === "profile" ? 0 : Math.min(planeRows - 1, Math.floor(row)),
    col: Math.min(planeCols - 1, Math.floor(col)),
  };
}

/** The visible value nearest to a point of the stage. */
export function nearestPoint(layout: PlaneLayout, x: number, y: number) {
  const { plot } = layout;
  const right = within(x, plot.x, plot.width - 1e-3);
  return pointAt(layout, right, within(y, plot.y, plot.height - 1e-3))!;
}

/** The nearest place in a stretch. */
export function within(at: number, first: number, length: number): number {
  return Math.max(first, Math.min(first + length, at));
}

/** Fractional row and column at a point of the stage. */
export function placeAt({ plot, row, col, down, across }: PlaneLayout, x: number, y: number) {
  return { row: row + (y - plot.y) / down, col: col + (x - plot.x) / across };
}

/** Box of a value's cell, cut at the plot; null if it is not visible. */
export function cellBox(layout: PlaneLayout, row: number, col: number): Rectangle | null {
  const { kind, plot, rowStep, colStep } = layout;
  const [left, right] = span(col, colStep, layout.col, layout.across, plot.width);
  const [top, bottom] =
    kind === "profile"
      ? [0, plot.height + STRIP + 4]
      : span(row, rowStep, layout.row, layout.down, plot.height);
  if (right <= left || bottom <= top) return null;
  return { x: plot.x + left, y: plot.y + top, width: right - left, height: bottom - top };
}

function span(index: number, step: number, first: number, size: number, room: number) {
  const start = Math.floor(index / step) * step;
  const at = (value: number) => Math.max(0, Math.min(room, (value - first) * size));
  return [at(start), at(start + step)] as const;
}

/** Index in a tile's arrays of a value's cell, or null. */
export function cellOf(tile: TileGrid, row: number, col: number): number | null {
  const down = Math.floor((row - tile.row) / tile.rowStep);
  const across = Math.floor((col - tile.col) / tile.colStep);
  if (down < 0 || across < 0 || down >= tile.rows || across >= tile.cols) return null;
  return down * tile.cols + across;
}

/** Indices to write along an axis, with their middles in CSS pixels from the plot's start. */
export function axisTicks(
  first: number,
  room: number,
  size: number,
  length: number,
  spacing: number,
): { index: number; at: number }[] {
  const seen = Math.min(length, room / size);
  return indexTicks(first, Math.min(length, first + seen), room / spacing)
    .map((index) => ({ index, at: (index + 0.5 - first) * size }))
    .filter(({ at }) => at >= 0 && at <= room);
}

export interface PlacedLabel extends Rectangle {
  text: string;
}

/** Least space beside a label. */
const APART = 2;

interface LabelStyle {
  align?: "left" | "center" | "right";
  color?: string;
  /** Text runs upwards. */
  turned?: boolean;
  bold?: boolean;
}

/** Writes labels on a canvas unless they overlap earlier ones, and remembers their boxes. */
export class PlotLabels {
  readonly written: PlacedLabel[] = [];
  readonly #measure: TextMeasure;
  readonly #bounds: Rectangle;

  constructor(
    readonly context: Pen,
    readonly theme: Theme,
    width: number,
    height: number,
  ) {
    this.#measure = new TextMeasure(context);
    this.#bounds = { x: 0, y: 0, width, height };
  }

  /** Writes the text on a background, moved inside if it would stick out. */
  plate(text: string, x: number, y: number, align: "center" | "right"): void {
    const context = this.context;
    context.font = `600 ${FONT_SIZE}px ${this.theme.font}`;
    const width = this.#measure.width(text) + 8;
    const start = align === "center" ? x - width / 2 : x - width;
    const left = Math.max(0, Math.min(this.#bounds.width - width, start));
    context.fillStyle = this.theme.text;
    context.fillRect(left, y - 8, width, 16);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = this.theme.background;
    context.fillText(text, left + width / 2, y + 0.5);
    this.written.push({ text, x: left, y: y - 8, width, height: 16 });
  }

  /** Writes the text with its line centered on (x, y); returns true if there was room. */
  write(text: string, x: number, y: number, place: LabelStyle = {}): boolean {
    if (!text) return false;
    const { align = "left", color = this.theme.muted, turned = false, bold = false } = place;
    const context = this.context;
    context.font = `${bold ? "600 " : ""}${FONT_SIZE}px ${this.theme.font}`;
    const length = this.#measure.width(text);
    const before = align === "left" ? 0 : align === "center" ? length / 2 : length;
    const half = FONT_SIZE / 2 + 1;
    const box = turned
      ? { x: x - half, y: y - (length - before), width: 2 * half, height: length }
      : { x: x - before, y: y - half, width: length, height: 2 * half };
    const apart = { ...box, x: box.x - APART, width: box.width + 2 * APART };
    if (!inside(box, this.#bounds) || this.written.some((other) => touches(other, apart))) {
      return false;
    }
    context.save();
    context.translate(x, y);
    if (turned) context.rotate(-Math.PI / 2);
    context.textAlign = align;
    context.textBaseline = "middle";
    context.fillStyle = color;
    context.fillText(text, 0, 0.5);
    context.restore();
    this.written.push({ text, ...box });
    return true;
  }
}

export function inside(box: Rectangle, bounds: Rectangle): boolean {
  return (
    box.x >= bounds.x &&
    box.y >= bounds.y &&
    box.x + box.width <= bounds.x + bounds.width &&
    box.y + box.height <= bounds.y + bounds.height
  );
}

export function touches(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}
