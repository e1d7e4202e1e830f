import type { Cells, Tile } from "../../shared/client/tensor_questions.ts";
import type { Pen, Rectangle } from "../../shared/drawing/canvas.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { addTo, append } from "../../shared/many.ts";
import {
  type CellChoice,
  type ColorScale,
  cssColor,
  OUTSIDE,
  ROUNDING,
  rgb,
  SPECIAL,
  SPECIALS,
  type Special,
  specialOf,
  table,
} from "./color_scale.ts";
import { axisTicks, DIGIT, type PlaneLayout, type PlotLabels, touches } from "./plane_layout.ts";

export interface Paint {
  scale: ColorScale | null;
  cells: CellChoice;
}

export interface Painting extends Paint {
  draw: DrawCells;
  /** Largest number of signs of non-finite values; beyond it, neighboring cells share one. */
  most?: number;
}

/** Pixels from which a cell with some NaN or Inf keeps its color and gets a mark. */
export const MARK_FROM = 6;

/** Pixels from which a value below or above the colors gets a sign. */
const SIGN_FROM = 10;

/** Side of a square whose tiny cells share a sign, px. */
const SQUARE = 16;

/** Largest number of tiny cells with NaN (or +Inf, or -Inf) that are ringed. */
const RINGS = 40;

/** Special value that fills a cell: if no value is finite, or a mark would be too small. */
export function cellSpecial(tile: Cells, cell: number, size: number): Special | null {
  const special = specialOf(tile.flags[cell]!);
  return size < MARK_FROM || !Number.isFinite(tile.minimum[cell]!) ? special : null;
}

export function cellValue(tile: Cells, cell: number, choice: CellChoice): number {
  if (choice === "mean") return tile.mean[cell]!;
  const [least, largest] = [tile.minimum[cell]!, tile.maximum[cell]!];
  if (choice === "least") return least;
  if (choice === "largest") return largest;
  return Math.abs(least) > Math.abs(largest) ? least : largest;
}

function roundingOf({ mean }: Cells): number {
  return mean.BYTES_PER_ELEMENT > 4 ? 0 : ROUNDING;
}

const opaque = ([red, green, blue]: readonly number[]) =>
  (255 << 24) | (blue! << 16) | (green! << 8) | red!;
const SPECIAL_PIXEL = {
  nan: opaque(rgb(SPECIAL.nan)),
  posInf: opaque(rgb(SPECIAL.posInf)),
  negInf: opaque(rgb(SPECIAL.negInf)),
};
const OUTSIDE_PIXEL = { under: opaque(rgb(OUTSIDE.under)), over: opaque(rgb(OUTSIDE.over)) };

/** RGBA pixels, one per opaque cell. */
export function colorCells(
  tile: Cells,
  { scale, cells }: Paint,
  size: number,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint32Array(tile.mean.length);
  const colors = scale ? entries(table(scale.map)).map(opaque) : null;
  for (let cell = 0; cell < pixels.length; cell += 1) {
    const special = tile.flags[cell] ? cellSpecial(tile, cell, size) : null;
    if (special || !scale || !colors) {
      pixels[cell] = SPECIAL_PIXEL[special ?? "nan"];
      continue;
    }
    const value = cellValue(tile, cell, cells);
    const side = scale.side(value, roundingOf(tile));
    pixels[cell] =
      side === "on" ? colors[Math.round(255 * scale.share(value))]! : OUTSIDE_PIXEL[side];
  }
  return new Uint8ClampedArray(pixels.buffer);
}

export function cellColor(tile: Cells, cell: number, { scale, cells }: Paint): string {
  const special = specialOf(tile.flags[cell]!);
  if (special || !scale) return SPECIAL[special ?? "nan"];
  const value = cellValue(tile, cell, cells);
  const side = scale.side(value, roundingOf(tile));
  return side === "on" ? cssColor(scale.map, scale.share(value)) : OUTSIDE[side];
}

function entries(bytes: Uint8Array): number[][] {
  return Array.from({ length: 256 }, (_, i) => [...bytes.subarray(3 * i, 3 * i + 3)]);
}

/** Draws cells of this many px into a box in their colors. */
export type DrawCells = (tile: Tile, size: number, box: Rectangle) => void;

/** Signs on non-finite cells in a box, if cells are large enough. */
export function paintCellSigns(
  context: Pen,
  box: Rectangle,
  { rows, cols, flags }: Pick<Cells, "flags"> & { rows: number; cols: number },
): void {
  const [width, height] = [box.width / cols, box.height / rows];
  if (Math.min(width, height) < MARK_FROM) return;
  const signs = new SpecialBoxes();
  for (let cell = 0; cell < flags.length; cell += 1) {
    const special = specialOf(flags[cell]!);
    if (!special) continue;
    const [x, y] = [box.x + (cell % cols) * width, box.y + Math.floor(cell / cols) * height];
    signs.add(special, { x, y, width, height });
  }
  signs.paint(context);
}

const flagged = new WeakMap<Tile, number[]>();

function flaggedCells(tile: Tile): number[] {
  let cells = flagged.get(tile);
  if (!cells) {
    cells = [];
    for (let cell = 0; cell < tile.flags.length; cell += 1) if (tile.flags[cell]) cells.push(cell);
    flagged.set(tile, cells);
  }
  return cells;
}

/** Draws tiles over each other: coarse and sampled ones at the bottom. */
export function paintPlane(
  context: Pen,
  layout: PlaneLayout,
  tiles: readonly Tile[],
  { draw, ...paint }: Painting,
  theme: Theme,
): void {
  const { plot, across, down } = layout;
  clip(context, plot);
  for (const tile of tiles) {
    const [width, height] = [tile.colStep * across, tile.rowStep * down];
    const size = Math.min(width, height);
    draw(tile, size, {
      x: plot.x + (tile.col - layout.col) * across,
      y: plot.y + (tile.row - layout.row) * down,
      width: tile.cols * width,
      height: tile.rows * height,
    });
  }
  const last = tiles.at(-1);
  if (last) paintMarks(context, layout, last, paint);
  outline(context, plot, theme);
}

/** Clips to a box until the context is restored. */
export function clip(context: Pen, { x, y, width, height }: Rectangle): void {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
}

/** Ends the clip of a plot, and frames it. */
export function outline(context: Pen, plot: Rectangle, theme: Theme): void {
  context.restore();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1);
}

/** Signs on cells that are not clear from their color. */
function paintMarks(
  context: Pen,
  layout: PlaneLayout,
  tile: Tile,
  { scale, cells, most = Infinity }: Omit<Painting, "draw">,
): void {
  const { plot, across, down } = layout;
  const [width, height] = [tile.colStep * across, tile.rowStep * down];
  const size = Math.min(width, height);
  const box = (cell: number, count = 1) => ({
    x: plot.x + (tile.col + (cell % tile.cols) * tile.colStep - layout.col) * across,
    y: plot.y + (tile.row + Math.floor(cell / tile.cols) * tile.rowStep - layout.row) * down,
    width: count * width,
    height,
  });
  const inside = flaggedCells(tile).map((cell) => [cell, specialOf(tile.flags[cell]!)!] as const);
  if (size < MARK_FROM) {
    for (const special of SPECIALS) {
      const own = inside.filter(([, kind]) => kind === special).map(([cell]) => box(cell));
      paintTiny(context, plot, own, special);
    }
    return;
  }
  const isMany = inside.length > most;
  const signs = new SpecialBoxes();
  for (let at = 0; at < inside.length; ) {
    const [cell, special] = inside[at]!;
    const whole = cellSpecial(tile, cell, size) !== null;
    let count = 1;
    while (isMany && whole && isSameRun(inside, at, count, tile, size)) count++;
    const place = box(cell, count);
    at += count;
    if (!touches(place, plot)) continue;
    if (whole) signs.add(special, place);
    else paintCorner(context, place, special);
  }
  signs.paintSigns(context);
  if (size < SIGN_FROM || !scale) return;
  const corner = hasDigits(layout, tile);
  for (let cell = 0; cell < tile.mean.length; cell += 1) {
    if (tile.flags[cell] && cellSpecial(tile, cell, size)) continue;
    const side = scale.side(cellValue(tile, cell, cells), roundingOf(tile));
    if (side !== "on") paintSign(context, corner ? cornerOf(box(cell)) : box(cell), side);
  }
}

/** True if this cell extends the run of equal special cells. */
function isSameRun(
  inside: readonly (readonly [cell: number, special: Special])[],
  at: number,
  count: number,
  tile: Tile,
  size: number,
): boolean {
  const [first, special] = inside[at]!;
  const next = inside[at + count];
  if (!next || next[0] !== first + count || next[1] !== special) return false;
  return next[0] % tile.cols !== 0 && cellSpecial(tile, next[0], size) !== null;
}

/** Signs of tiny cells: one for all that fill half of a square; a few others are ringed. */
function paintTiny(
  context: Pen,
  plot: Rectangle,
  cells: readonly Rectangle[],
  special: Special,
): void {
  const squares = new Map<string, Rectangle[]>();
  for (const cell of cells) {
    if (!touches(cell, plot)) continue;
    const key = `${Math.floor((cell.x - plot.x) / SQUARE)} ${Math.floor((cell.y - plot.y) / SQUARE)}`;
    addTo(squares, key, cell);
  }
  const [rest, signs]: [Rectangle[], Rectangle[]] = [[], []];
  for (const [key, own] of squares) {
    const area = own.reduce((sum, { width, height }) => sum + width * height, 0);
    if (area < (SQUARE * SQUARE) / 2) {
      append(rest, own);
      continue;
    }
    const [across, down] = key.split(" ").map(Number);
    const [x, y] = [plot.x + across! * SQUARE, plot.y + down! * SQUARE];
    const width = Math.min(SQUARE, plot.x + plot.width - x);
    const height = Math.min(SQUARE, plot.y + plot.height - y);
    signs.push({ x, y, width, height });
  }
  paintSpecialSigns(context, signs, special);
  if (rest.length <= RINGS) for (const cell of rest) paintRing(context, cell, special);
}

/** Cell size from which a value has room for digits. */
const DIGITS_FROM = { width: 36, height: 14 } as const;

/** True if digits fit into the cells of a tile. */
export function hasDigits({ kind, down, across }: PlaneLayout, tile: Tile): boolean {
  const single = tile.rowStep * tile.colStep === 1;
  return kind === "plane" && single && across >= DIGITS_FROM.width && down >= DIGITS_FROM.height;
}

function cornerOf({ x, y, width, height }: Rectangle): Rectangle {
  const side = Math.min(12, height / 3);
  return { x: x + width - side, y, width: side, height: side };
}

/** A chevron: to the left below the colors, to the right above them. */
export function paintSign(context: Pen, box: Rectangle, side: "under" | "over"): void {
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const reach = 0.18 * Math.min(box.width, box.height, 24);
  const tip = side === "under" ? -reach : reach;
  context.beginPath();
  context.moveTo(x - tip / 2, y - reach);
  context.lineTo(x + tip / 2, y);
  context.lineTo(x - tip / 2, y + reach);
  context.lineWidth = 1.5;
  context.strokeStyle = side === "under" ? "#ffffff" : "#000000";
  context.stroke();
}

/** NaN is hatched, +Inf points up and -Inf down: distinguishable without color. */
export function paintSpecial(context: Pen, box: Rectangle, special: Special): void {
  paintSpecials(context, [box], special);
}

export function paintSpecials(context: Pen, boxes: readonly Rectangle[], special: Special): void {
  context.fillStyle = SPECIAL[special];
  for (const { x, y, width, height } of boxes) context.fillRect(x, y, width, height);
  paintSpecialSigns(context, boxes, special);
}

function paintSpecialSigns(context: Pen, boxes: readonly Rectangle[], special: Special): void {
  if (!boxes.length) return;
  context.beginPath();
  for (const box of boxes) {
    if (special === "nan") addHatch(context, box);
    else addTriangle(context, box, special === "posInf");
  }
  if (special === "nan") {
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1;
    context.stroke();
  } else {
    context.fillStyle = "#000000";
    context.fill();
  }
}

function addHatch(context: Pen, { x, y, width, height }: Rectangle): void {
  for (let start = x - height + 4; start < x + width; start += 4) {
    const [left, right] = [Math.max(x, start), Math.min(x + width, start + height)];
    context.moveTo(left, y + height - (left - start));
    context.lineTo(right, y + height - (right - start));
  }
}

function addTriangle(context: Pen, { x, y, width, height }: Rectangle, upwards: boolean): void {
  const [middle, center] = [x + width / 2, y + height / 2];
  const side = 0.3 * Math.min(width, height, 24);
  const up = upwards ? -side : side;
  context.moveTo(middle, center + up);
  context.lineTo(middle - side, center - up);
  context.lineTo(middle + side, center - up);
}

export class SpecialBoxes {
  readonly #boxes = new Map<Special, Rectangle[]>();

  add(special: Special, box: Rectangle): void {
    addTo(this.#boxes, special, box);
  }

  paint(context: Pen): void {
    for (const [special, boxes] of this.#boxes) paintSpecials(context, boxes, special);
  }

  paintSigns(context: Pen): void {
    for (const [special, boxes] of this.#boxes) paintSpecialSigns(context, boxes, special);
  }
}

/** A cell of several values, some of them NaN or Inf. */
function paintCorner(context: Pen, box: Rectangle, special: Special): void {
  const side = Math.max(4, 0.4 * Math.min(box.width, box.height));
  const right = box.x + box.width;
  context.beginPath();
  context.moveTo(right - side, box.y);
  context.lineTo(right, box.y);
  context.lineTo(right, box.y + side);
  context.closePath();
  context.fillStyle = SPECIAL[special];
  context.fill();
  context.strokeStyle = "#000000";
  context.lineWidth = 0.75;
  context.stroke();
}

function paintRing(context: Pen, box: Rectangle, special: Special): void {
  context.beginPath();
  context.arc(box.x + box.width / 2, box.y + box.height / 2, 7, 0, 2 * Math.PI);
  context.lineWidth = 4;
  context.strokeStyle = "#ffffff";
  context.stroke();
  context.lineWidth = 2;
  context.strokeStyle = SPECIAL[special];
  context.stroke();
}

export function labelPlane(
  labels: PlotLabels,
  layout: PlaneLayout,
  names: [down: string, across: string],
) {
  const { plot, down, across, planeRows, planeCols } = layout;
  const spacing = String(planeCols).length * DIGIT + 14;
  labels.write(names[1], plot.x, 8);
  for (const { index, at } of axisTicks(layout.col, plot.width, across, planeCols, spacing)) {
    labels.write(String(index), plot.x + at, plot.y - 9, { align: "center" });
  }
  for (const { index, at } of axisTicks(layout.row, plot.height, down, planeRows, 22)) {
    labels.write(String(index), plot.x - 6, plot.y + at, { align: "right" });
  }
  labels.write(names[0], 8, plot.y, { align: "right", turned: true });
}
