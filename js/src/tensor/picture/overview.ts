import type { Cells, Tile } from "../../shared/client/tensor_questions.ts";
import { layer, type Rectangle } from "../../shared/drawing/canvas.ts";
import { element, listening } from "../../shell/dom.ts";
import { part } from "../parts.ts";
import { inSight, type PlaneLayout } from "./plane_layout.ts";
import { colorCells, MARK_FROM, type Paint } from "./plane_painter.ts";

type Grid = Cells & { rows: number; cols: number };

interface PaintedTile extends Paint {
  special: boolean;
  canvas: HTMLCanvasElement;
}

const painted = new WeakMap<Grid, PaintedTile>();

/** The cells of a tile or channel in colors; cached until the colors change. */
function tileImage(tile: Grid, paint: Paint, size: number): HTMLCanvasElement {
  const special = size >= MARK_FROM;
  const known = painted.get(tile);
  const same =
    known?.scale === paint.scale && known.cells === paint.cells && known.special === special;
  if (same) return known.canvas;
  const canvas = known?.canvas ?? document.createElement("canvas");
  if (canvas.width !== tile.cols) canvas.width = tile.cols;
  if (canvas.height !== tile.rows) canvas.height = tile.rows;
  const image = new ImageData(colorCells(tile, paint, size), tile.cols, tile.rows);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  painted.set(tile, { ...paint, special, canvas });
  return canvas;
}

/** Draws tiles on a canvas, larger cells with sharp edges. */
export function canvasCells(context: CanvasRenderingContext2D, paint: Paint) {
  return (tile: Grid, size: number, { x, y, width, height }: Rectangle) => {
    context.imageSmoothingEnabled = size * (devicePixelRatio || 1) < 1;
    context.drawImage(tileImage(tile, paint, size), x, y, width, height);
  };
}

const LONGEST = 72;
const SHORTEST = 10;
/** Its position in the stage and the frame around it, as in tensor.css. */
const [RIGHT, BOTTOM, FRAME] = [14, 12, 3];

/** Map of a partly visible plane: all of it in small, with a frame around the visible part. */
export class PlaneOverview {
  readonly node: HTMLElement;
  readonly #frame = part("overview-frame");
  readonly #small = layer("");
  #painted: { tile: Tile | null; paint: Paint; width: number } | null = null;
  #size = { width: 0, height: 0 };
  #plane = { rows: 0, cols: 0 };

  constructor(picture: { center(row: number, col: number): void }, signal: AbortSignal) {
    this.node = element("div", {
      class: "tvmdbg-tensor-overview",
      role: "img",
      hidden: true,
      title: "Visible region of the heatmap: click or drag to move",
    });
    this.node.append(this.#small.canvas, this.#frame);
    const listen = listening(this.node, signal);
    const move = (event: PointerEvent) => {
      if (event.buttons % 2 === 0) return;
      event.preventDefault();
      event.stopPropagation();
      const box = this.node.getBoundingClientRect();
      const { rows, cols } = this.#plane;
      picture.center(
        ((event.clientY - box.y) / this.#size.height) * rows,
        ((event.clientX - box.x) / this.#size.width) * cols,
      );
    };
    listen("pointerdown", (event) => {
      this.node.setPointerCapture(event.pointerId);
      move(event);
    });
    listen("pointermove", move);
  }

  hide(): void {
    this.node.hidden = true;
  }

  /** The part of a stage that it covers; null if it is hidden. */
  boxIn(stage: HTMLElement): Rectangle | null {
    if (this.node.hidden) return null;
    const { width, height } = this.#size;
    return {
      x: stage.clientWidth - RIGHT - width - FRAME,
      y: stage.clientHeight - BOTTOM - height - FRAME,
      width: width + 2 * FRAME,
      height: height + 2 * FRAME,
    };
  }

  show(layout: PlaneLayout, zoomed: boolean, of: { whole: () => Tile | null; paint: Paint }): void {
    this.node.hidden = !zoomed;
    if (!zoomed) return;
    const { planeRows, planeCols } = layout;
    const longest = Math.max(planeRows, planeCols);
    const side = (length: number) => Math.max(SHORTEST, Math.round((LONGEST * length) / longest));
    const size = { width: side(planeCols), height: side(planeRows) };
    this.#size = size;
    this.#plane = { rows: planeRows, cols: planeCols };
    this.node.style.width = `${size.width}px`;
    this.node.style.height = `${size.height}px`;
    this.#paint(of.whole(), of.paint);
    const [row, col, rows, cols] = inSight(layout);
    const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
    Object.assign(this.#frame.style, {
      top: percent(row, planeRows),
      left: percent(col, planeCols),
      height: `max(4px, ${percent(rows, planeRows)})`,
      width: `max(4px, ${percent(cols, planeCols)})`,
    });
    this.node.setAttribute(
      "aria-label",
      `Visible: rows ${row} to ${row + rows - 1} of ${planeRows}, columns ${col} to ${col + cols - 1} of ${planeCols}`,
    );
  }

  #paint(tile: Tile | null, paint: Paint): void {
    const { width, height } = this.#size;
    const known = this.#painted;
    const same = known?.paint.scale === paint.scale && known.paint.cells === paint.cells;
    if (same && known.tile === tile && known.width === width) return;
    this.#painted = { tile, paint, width };
    const { canvas, context } = this.#small;
    canvas.width = width;
    canvas.height = height;
    if (!tile) return;
    const [rows, cols] = [tile.planeRows / tile.rowStep, tile.planeCols / tile.colStep];
    context.drawImage(tileImage(tile, paint, 0), 0, 0, cols, rows, 0, 0, width, height);
  }
}
