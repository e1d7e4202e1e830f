import type { GraphColumns } from "../../shared/client/answers.ts";
import { isSuspicious, Verdict } from "../../shared/client/health.ts";
import type { Pen, TextMeasure } from "../../shared/drawing/canvas.ts";
import { channels } from "../../shared/drawing/theme.ts";
import { type Camera, COMPACT, CUT_SCALE, FULL_SCALE, TITLE_SCALE } from "../camera.ts";
import type { BoxColors } from "../data/colors.ts";
import type { BoxHealth } from "../data/health.ts";
import type { Groups } from "../data/links.ts";
import type { NodeTimes } from "../data/times.ts";
import type { PlacedScene } from "../layout/placed_scene.ts";
import type { Palette } from "./palette.ts";

/** Least distance between two rows of text, CSS px. */
export const PITCH = 11.5;
const GAP = 14;
const LEAST_ROOM = 150;

/** Left end of the column of texts; null if it has no room, or the layers are too close. */
export function marginStart(placed: PlacedScene, camera: Camera): number | null {
  const { bounds, layers, direction } = placed.layout;
  if (direction === "right" || placed.columns > 1) return null;
  if (((bounds.maxY - bounds.minY) / Math.max(1, layers)) * camera.scale < PITCH) return null;
  const start = Math.max(GAP, camera.screenX(bounds.maxX) + GAP);
  return camera.width - start >= LEAST_ROOM ? start : null;
}

export interface GraphPicture {
  graph: GraphColumns;
  groups: Groups;
  times: NodeTimes;
  placed: PlacedScene;
  camera: Camera;
  palette: Palette;
  colorBy: string;
  colors: BoxColors;
  health: BoxHealth | null;
  /** Legend item that keeps its color; null for all. */
  highlight: string | null;
  /** Boxes with hits of the search, which keep their color; null without hits. */
  hits?: ReadonlyMap<number, number> | null;
  /** True without interaction. */
  isStill?: boolean;
}

/** A text on the stage and its box (-1: a line's), CSS px. */
export interface LabelRecord {
  text: string;
  node: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Level of detail of boxes: two lines of text, one, a rectangle, or merged layers. */
export type Detail = "full" | "title" | "shape" | "density";

const LAYER_PX = 2;

export function boxScale({ camera, placed }: Pick<GraphPicture, "camera" | "placed">): number {
  return camera.scale * (placed.scene.compact ? COMPACT : 1);
}

export function detail({ camera, placed }: Pick<GraphPicture, "camera" | "placed">): Detail {
  const scale = boxScale({ camera, placed });
  if (scale >= FULL_SCALE) return "full";
  const isBeside = camera.scale < CUT_SCALE && marginStart(placed, camera) !== null;
  if (scale >= TITLE_SCALE && !isBeside) return "title";
  const pitch = placed.length / Math.max(1, placed.layout.layers);
  return pitch * camera.scale >= LAYER_PX ? "shape" : "density";
}

export function isSetBack(
  { colors, highlight, hits }: Pick<GraphPicture, "colors" | "highlight" | "hits">,
  box: number,
): boolean {
  return (highlight !== null && !colors.has(box, highlight)) || (!!hits && !hits.has(box));
}

export function flatFill(
  picture: Pick<GraphPicture, "colors" | "highlight" | "hits" | "palette">,
  box: number,
): string {
  return isSetBack(picture, box) ? picture.palette.hatched : picture.colors.flat(box);
}

/** Ranks and fills of boxes without text, computed once for all frames. */
class Shades {
  readonly highlight: string | null;
  readonly hits: GraphPicture["hits"];
  /** Priority of boxes that share a place, valid if the box's color is not 0. */
  readonly rank: Float64Array;
  readonly color: Uint32Array;
  readonly #picture: Pick<GraphPicture, "colors" | "palette" | "highlight" | "hits">;
  readonly #pixels = new Map<string, number>();

  constructor({ colors, palette, highlight, hits, placed }: GraphPicture) {
    this.highlight = highlight;
    this.hits = hits ?? null;
    this.#picture = { colors, palette, highlight, hits: this.hits };
    this.rank = new Float64Array(placed.scene.count);
    this.color = new Uint32Array(placed.scene.count);
  }

  make(box: number): void {
    const fill = this.fill(box);
    let pixel = this.#pixels.get(fill);
    if (pixel === undefined) {
      const [red, green, blue] = channels(fill);
      [pixel] = new Uint32Array(Uint8Array.of(red, green, blue, 255).buffer);
      this.#pixels.set(fill, pixel!);
    }
    this.rank[box] = this.#picture.colors.rank(box);
    this.color[box] = pixel!;
  }

  fill(box: number): string {
    return flatFill(this.#picture, box);
  }
}

const kept = new WeakMap<BoxColors, Shades>();

export function shadesOf(picture: GraphPicture): Shades {
  let shades = kept.get(picture.colors);
  if (!shades || shades.highlight !== picture.highlight || shades.hits !== (picture.hits ?? null)) {
    shades = new Shades(picture);
    kept.set(picture.colors, shades);
  }
  return shades;
}

/** Side of the cells that tiny boxes share, CSS px. */
const CELL = 2;

/** Draws tiny boxes: those that share a cell become one, in the color of the slowest or worst. */
export class DensityPainter {
  readonly #context: Pen;
  #columns = 0;
  #rows = 0;
  #cells = new Int32Array(0);
  #image: ImageData | null = null;
  #canvas: HTMLCanvasElement | null = null;

  constructor(context: Pen) {
    this.#context = context;
  }

  paint(picture: GraphPicture): void {
    const shades = shadesOf(picture);
    this.#fill(picture, shades);
    if (takesPictures(this.#context)) this.#stamp(this.#context, shades);
    else this.#bars(shades);
  }

  #fill({ placed, camera }: GraphPicture, shades: Shades): void {
    const columns = Math.ceil(camera.width / CELL) + 1;
    const rows = Math.ceil(camera.height / CELL) + 1;
    if (this.#cells.length !== columns * rows) this.#cells = new Int32Array(columns * rows);
    [this.#columns, this.#rows] = [columns, rows];
    const cells = this.#cells.fill(-1);
    const { rank, color } = shades;
    const { x, y, order, layerStart } = placed.layout;
    const { width, height } = placed.scene;
    const scale = camera.scale / CELL;
    const shiftX = camera.screenX(0) / CELL;
    const shiftY = camera.screenY(0) / CELL;
    placed.eachStretch(camera.view(), (first, end) => {
      for (let row = layerStart[first]!; row < layerStart[end]!; row++) {
        const box = order[row]!;
        const wide = width[box]! / 2;
        const high = height[box]! / 2;
        const left = (x[box]! - wide) * scale + shiftX;
        const right = (x[box]! + wide) * scale + shiftX;
        const top = (y[box]! - high) * scale + shiftY;
        const bottom = (y[box]! + high) * scale + shiftY;
        if (right < 0 || bottom < 0 || left >= columns || top >= rows) continue;
        if (color[box] === 0) shades.make(box);
        const here = rank[box]!;
        const from = left < 0 ? 0 : left | 0;
        const to = right < columns ? right | 0 : columns - 1;
        const until = (bottom < rows ? bottom | 0 : rows - 1) * columns;
        for (let at = (top < 0 ? 0 : top | 0) * columns; at <= until; at += columns) {
          for (let cell = at + from; cell <= at + to; cell++) {
            const there = cells[cell]!;
            if (there < 0 || here > rank[there]!) cells[cell] = box;
          }
        }
      }
    });
  }

  #stamp(context: CanvasRenderingContext2D, { color }: Shades): void {
    const [columns, rows, cells] = [this.#columns, this.#rows, this.#cells];
    this.#canvas ??= document.createElement("canvas");
    if (this.#image?.width !== columns || this.#image.height !== rows) {
      [this.#canvas.width, this.#canvas.height] = [columns, rows];
      this.#image = new ImageData(columns, rows);
    }
    const pixels = new Uint32Array(this.#image.data.buffer);
    for (let at = 0; at < cells.length; at++) pixels[at] = cells[at]! < 0 ? 0 : color[cells[at]!]!;
    this.#canvas.getContext("2d", { willReadFrequently: true })!.putImageData(this.#image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.#canvas, 0, 0, columns * CELL, rows * CELL);
  }

  #bars(shades: Shades): void {
    const [columns, cells] = [this.#columns, this.#cells];
    for (let at = 0; at < cells.length; ) {
      const [box, from] = [cells[at]!, at];
      const row = Math.floor(from / columns);
      while (at < (row + 1) * columns && cells[at] === box) at++;
      if (box < 0) continue;
      this.#context.fillStyle = shades.fill(box);
      this.#context.fillRect((from - row * columns) * CELL, row * CELL, (at - from) * CELL, CELL);
    }
  }
}

/** False for the recorder of figures. */
function takesPictures(context: Pen): context is CanvasRenderingContext2D {
  return "drawImage" in context;
}

/** As many of the parts between dots as fit: numbers are never cut. */
export function whole(measure: TextMeasure, words: string, room: number): string {
  let shown = words;
  for (let cut = shown.lastIndexOf(" · "); cut > 0; cut = shown.lastIndexOf(" · ")) {
    if (measure.width(shown) <= room) break;
    shown = shown.slice(0, cut);
  }
  return shown;
}

/** Least size of suspicious boxes without text, CSS px. */
const LEAST = 6;

export function isMarked({ colorBy, health }: GraphPicture, box: number): boolean {
  return colorBy === "health" && health !== null && isSuspicious(health.verdict(box));
}

/** Crosses out faulty boxes without text and strikes suspicious ones: color is not the only sign. */
export function paintSuspicious(context: Pen, picture: GraphPicture): void {
  const { placed, camera, palette, health } = picture;
  placed.eachBox(camera.view(8), (box) => {
    if (!isMarked(picture, box)) return;
    const { x, y, width, height } = placed.rectangle(box);
    const wide = Math.max(LEAST, width * camera.scale);
    const high = Math.max(LEAST, height * camera.scale);
    const left = camera.screenX(x + width / 2) - wide / 2;
    const top = camera.screenY(y + height / 2) - high / 2;
    context.fillStyle = palette.verdict(health!.verdict(box));
    context.fillRect(left, top, wide, high);
    context.strokeStyle = palette.theme.text;
    context.lineWidth = 1;
    context.strokeRect(left, top, wide, high);
    context.beginPath();
    context.moveTo(left, top + high);
    context.lineTo(left + wide, top);
    if (health!.verdict(box) === Verdict.FAULTY) {
      context.moveTo(left, top);
      context.lineTo(left + wide, top + high);
    }
    context.stroke();
  });
}
