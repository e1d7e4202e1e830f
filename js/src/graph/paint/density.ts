import type { Pen } from "../../shared/drawing/pen.ts";
import type { Picture } from "./picture.ts";
import { type Shades, shadesOf } from "./shades.ts";

/** Side of the cells that boxes too small to be seen alone share, CSS px. */
const CELL = 2;

/** Draws boxes too small to be seen alone: those that share a cell become one, in the color of the slowest or worst. */
export class DensityPainter {
  readonly #context: Pen;
  #columns = 0;
  #rows = 0;
  /** The box of each cell, -1 for none. */
  #cells = new Int32Array(0);
  #image: ImageData | null = null;
  #canvas: HTMLCanvasElement | null = null;

  constructor(context: Pen) {
    this.#context = context;
  }

  paint(picture: Picture): void {
    const shades = shadesOf(picture);
    this.#fill(picture, shades);
    if (takesPictures(this.#context)) this.#stamp(this.#context, shades);
    else this.#bars(shades);
  }

  #fill({ placed, camera }: Picture, shades: Shades): void {
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

  /** All cells as one picture. */
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

  /** A bar for each row of cells of one box. */
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

/** One that writes a drawing takes none. */
function takesPictures(context: Pen): context is CanvasRenderingContext2D {
  return "drawImage" in context;
}
