import * as tokens from "../../../tvmdbg_widgets/figures/tokens.json";
import type { Rectangle, Size } from "../shared/drawing/canvas.ts";
import type { GraphScene } from "./layout/scene.ts";
import type { Bounds } from "./layout/types.ts";

/** Scale from which boxes have two lines. */
export const FULL_SCALE = 0.85;
/** Scale from which the texts of boxes are uncut and at least 11 px; views open and fit at this scale or above. */
export const LEGIBLE_SCALE = 0.92;
/** Scale below which boxes have no text. */
export const TITLE_SCALE = 0.35;
/** Scale below which titles are beside the graph, if there is room, since most would be cut. */
export const CUT_SCALE = 0.6;
/** Scale from which edges have texts. */
export const EDGE_TEXT_SCALE = 1.15;
/** Scale at which one node is shown. */
export const READABLE_SCALE = 1;
const LARGEST_FIT = 1.5;
/** Largest scale of a fit for graphs that fill little of the stage. */
const LARGEST_OF_FEW = 3;
/** Height of a one-line box as a share of a two-line one. */
export const COMPACT = tokens.compact.height / tokens.node.height;

/** Space between a fitted graph and the border of the stage, CSS px. */
export const STAGE_MARGIN = 10;
export const MOST_LEGIBLE = 300;
/** Share of the stage's width or height that a fitted graph of a few boxes fills. */
const ENOUGH = 0.55;

export function scaleIn({ minX, minY, maxX, maxY }: Bounds, { width, height }: Size): number {
  const [roomX, roomY] = [width - 2 * STAGE_MARGIN, height - 2 * STAGE_MARGIN];
  return Math.min(
    Math.max(1, roomX) / Math.max(1, maxX - minX),
    Math.max(1, roomY) / Math.max(1, maxY - minY),
  );
}

/** True if all texts are uncut and at least 11 px when the complete graph is on the stage. */
export function isLegible(bounds: Bounds, stage: Size): boolean {
  return scaleIn(bounds, stage) >= LEGIBLE_SCALE;
}

function share({ minX, minY, maxX, maxY }: Bounds, { width, height }: Size): number {
  return Math.max((maxX - minX) / width, (maxY - minY) / height);
}

export function filled(bounds: Bounds, stage: Size): number {
  return Math.min(LARGEST_FIT, scaleIn(bounds, stage)) * share(bounds, stage);
}

export function fitScale(bounds: Bounds, stage: Size): number {
  const enough = Math.min(LARGEST_OF_FEW, ENOUGH / share(bounds, stage));
  return Math.min(scaleIn(bounds, stage), Math.max(LARGEST_FIT, enough));
}

/** True if the boxes alone fit on the stage; tested before their layout. */
export function mayBeLegible(scene: GraphScene, stage: Size): boolean {
  let area = 0;
  for (let box = 0; box < scene.count; box++) area += scene.width[box]! * scene.height[box]!;
  return area * LEGIBLE_SCALE ** 2 <= stage.width * stage.height;
}

export function isIn(part: Rectangle, x: number, y: number, slack = 0): boolean {
  return (
    x >= part.x - slack &&
    y >= part.y - slack &&
    x <= part.x + part.width + slack &&
    y <= part.y + part.height + slack
  );
}

const SMALLEST = 1e-4;
const LARGEST = 3;

/** Visible part and scale of the graph: CSS px = (graph px − center) × scale + half the stage. */
export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  width = 1;
  height = 1;

  resize(width: number, height: number): void {
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
  }

  /** Resizes with a fixed upper left corner. */
  widen(width: number, height: number): void {
    this.x += (width - this.width) / 2 / this.scale;
    this.y += (height - this.height) / 2 / this.scale;
    this.resize(width, height);
  }

  screenX(x: number): number {
    return (x - this.x) * this.scale + this.width / 2;
  }

  screenY(y: number): number {
    return (y - this.y) * this.scale + this.height / 2;
  }

  screen({ x, y, width, height }: Rectangle): Rectangle {
    return {
      x: this.screenX(x),
      y: this.screenY(y),
      width: width * this.scale,
      height: height * this.scale,
    };
  }

  worldX(x: number): number {
    return (x - this.width / 2) / this.scale + this.x;
  }

  worldY(y: number): number {
    return (y - this.height / 2) / this.scale + this.y;
  }

  view(margin = 0): Bounds {
    return {
      minX: this.worldX(-margin),
      minY: this.worldY(-margin),
      maxX: this.worldX(this.width + margin),
      maxY: this.worldY(this.height + margin),
    };
  }

  pan(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
  }

  zoomAt(factor: number, x: number, y: number): void {
    const [worldX, worldY] = [this.worldX(x), this.worldY(y)];
    this.scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    this.x = worldX - (x - this.width / 2) / this.scale;
    this.y = worldY - (y - this.height / 2) / this.scale;
  }

  fit(bounds: Bounds, largest = 1): void {
    this.scale = Math.max(SMALLEST, Math.min(largest, scaleIn(bounds, this)));
    this.x = (bounds.minX + bounds.maxX) / 2;
    this.y = (bounds.minY + bounds.maxY) / 2;
  }

  /** Keeps some of the graph on the stage, and all of it along an axis on which it fits. */
  clamp(bounds: Bounds): void {
    this.x = clampAxis(this.x, this.width / this.scale, bounds.minX, bounds.maxX, this.scale);
    this.y = clampAxis(this.y, this.height / this.scale, bounds.minY, bounds.maxY, this.scale);
  }

  /** True if the rectangle (graph px) is on the stage with `margin` CSS px to spare. */
  shows(box: Rectangle, margin: number): boolean {
    const view = this.view(-margin);
    return (
      box.x >= view.minX &&
      box.y >= view.minY &&
      box.x + box.width <= view.maxX &&
      box.y + box.height <= view.maxY
    );
  }
}

function clampAxis(at: number, room: number, low: number, high: number, scale: number): number {
  const margin = STAGE_MARGIN / scale;
  const slack = Math.max(0, (room - (high - low)) / 2 - margin);
  const reach = Math.max(0, (high - low - room) / 2 + margin);
  const middle = (low + high) / 2;
  return Math.min(middle + slack + reach, Math.max(middle - slack - reach, at));
}
