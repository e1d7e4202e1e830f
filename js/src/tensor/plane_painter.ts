import type { Theme } from "../shared/theme.ts";
import type { ColorScale } from "./color_scale.ts";
import { rgb, SPECIAL, type Special, specialOf, table } from "./colors.ts";
import type { Labels } from "./labels.ts";
import { axisTicks, type Box, DIGIT, type Layout } from "./layout.ts";

export interface Tile {
  minimum: Float32Array;
  maximum: Float32Array;
  mean: Float32Array;
  flags: Uint8Array;
}

/** From this many pixels on a cell with some NaN or Inf keeps its colour and gets a mark. */
const MARK_FROM = 6;

/** So few cells with NaN (or +Inf, or -Inf), each too small to be noticed, are ringed. */
const RINGS = 40;

/** What a cell is drawn as: a special where nothing in it is finite, or where a mark would be too small to see. */
export function cellSpecial(tile: Tile, cell: number, size: number): Special | null {
  const special = specialOf(tile.flags[cell]!);
  if (special === null || size < MARK_FROM || Number.isNaN(tile.mean[cell]!)) return special;
  return Number.isFinite(tile.mean[cell]!) ? null : special;
}

/** One pixel a cell, opaque. */
export function colorCells(
  tile: Tile,
  scale: ColorScale | null,
  size: number,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(4 * tile.mean.length);
  const colors = scale ? table(scale.map) : null;
  const specials = {
    nan: rgb(SPECIAL.nan),
    posInf: rgb(SPECIAL.posInf),
    negInf: rgb(SPECIAL.negInf),
  };
  for (let cell = 0; cell < tile.mean.length; cell += 1) {
    const special = tile.flags[cell] ? cellSpecial(tile, cell, size) : null;
    if (special || !scale || !colors) {
      pixels.set(specials[special ?? "nan"], 4 * cell);
    } else {
      const at = 3 * Math.round(255 * scale.share(tile.mean[cell]!));
      pixels[4 * cell] = colors[at]!;
      pixels[4 * cell + 1] = colors[at + 1]!;
      pixels[4 * cell + 2] = colors[at + 2]!;
    }
    pixels[4 * cell + 3] = 255;
  }
  return pixels;
}

export function paintPlane(
  context: CanvasRenderingContext2D,
  layout: Layout,
  tile: Tile,
  scale: ColorScale | null,
  theme: Theme,
): void {
  const { plot, cellWidth, cellHeight } = layout;
  const { rows, cols } = layout.tile;
  const size = Math.min(cellWidth, cellHeight);
  const small = document.createElement("canvas");
  small.width = cols;
  small.height = rows;
  small
    .getContext("2d")
    ?.putImageData(new ImageData(colorCells(tile, scale, size), cols, rows), 0, 0);
  context.save();
  context.beginPath();
  context.rect(plot.x, plot.y, plot.width, plot.height);
  context.clip();
  context.imageSmoothingEnabled = size * (devicePixelRatio || 1) < 1;
  context.drawImage(small, plot.x, plot.y, cols * cellWidth, rows * cellHeight);
  const inside = Array.from(tile.flags, specialOf);
  const rare = (special: Special) => inside.filter((each) => each === special).length <= RINGS;
  const ringed = { nan: rare("nan"), posInf: rare("posInf"), negInf: rare("negInf") };
  for (let cell = 0; cell < inside.length; cell += 1) {
    const special = inside[cell];
    if (!special || (size < MARK_FROM && !ringed[special])) continue;
    const box = {
      x: plot.x + (cell % cols) * cellWidth,
      y: plot.y + Math.floor(cell / cols) * cellHeight,
      width: cellWidth,
      height: cellHeight,
    };
    if (size < MARK_FROM) paintRing(context, box, special);
    else if (cellSpecial(tile, cell, size)) paintSpecial(context, box, special);
    else paintCorner(context, box, special);
  }
  context.restore();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(plot.x - 0.5, plot.y - 0.5, plot.width + 1, plot.height + 1);
}

/** NaN is hatched, +Inf points up and -Inf down: told apart without colour. */
export function paintSpecial(context: CanvasRenderingContext2D, box: Box, special: Special): void {
  const { x, y, width, height } = box;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = SPECIAL[special];
  context.fillRect(x, y, width, height);
  context.beginPath();
  if (special === "nan") {
    for (let start = x - height; start < x + width; start += 4) {
      context.moveTo(start, y + height);
      context.lineTo(start + height, y);
    }
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1;
    context.stroke();
  } else {
    const [middle, centre] = [x + width / 2, y + height / 2];
    const side = 0.3 * Math.min(width, height, 24);
    const up = special === "posInf" ? -side : side;
    context.moveTo(middle, centre + up);
    context.lineTo(middle - side, centre - up);
    context.lineTo(middle + side, centre - up);
    context.fillStyle = "#000000";
    context.fill();
  }
  context.restore();
}

/** A cell of several values, some of them NaN or Inf. */
function paintCorner(context: CanvasRenderingContext2D, box: Box, special: Special): void {
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

function paintRing(context: CanvasRenderingContext2D, box: Box, special: Special): void {
  context.beginPath();
  context.arc(box.x + box.width / 2, box.y + box.height / 2, 7, 0, 2 * Math.PI);
  context.lineWidth = 4;
  context.strokeStyle = "#ffffff";
  context.stroke();
  context.lineWidth = 2;
  context.strokeStyle = SPECIAL[special];
  context.stroke();
}

/** Indices along both axes, and what the axes are. */
export function labelPlane(labels: Labels, layout: Layout, names: [down: string, across: string]) {
  const { plot, cellWidth, cellHeight, tile } = layout;
  const spacing = String(tile.planeCols).length * DIGIT + 14;
  labels.write(names[1], plot.x, 8);
  for (const { index, at } of axisTicks(tile.planeCols, tile.colStep, cellWidth, spacing)) {
    labels.write(String(index), plot.x + at, plot.y - 9, { align: "center" });
  }
  for (const { index, at } of axisTicks(tile.planeRows, tile.rowStep, cellHeight, 22)) {
    labels.write(String(index), plot.x - 6, plot.y + at, { align: "right" });
  }
  labels.write(names[0], 8, plot.y, { align: "right", turned: true });
}
