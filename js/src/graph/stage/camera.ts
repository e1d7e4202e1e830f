import type { Bounds } from "../layout/types.ts";
import { MARGIN, scaleIn } from "../placed/legible.ts";

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Whether a point is in a rectangle, or no farther than `slack` from it. */
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

/** Which part of the graph is on the stage, and how large: CSS px = (graph px − center) × scale + half the stage. */
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

  /** Resizes so that the upper left corner stays. */
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

  /** Where a rectangle of the graph is on the stage, CSS px. */
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

  /** The part of the graph on the stage, with `margin` CSS px around it. */
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

  /** Scales by `factor` so that what is at CSS px (x, y) stays there. */
  zoomAt(factor: number, x: number, y: number): void {
    const [worldX, worldY] = [this.worldX(x), this.worldY(y)];
    this.scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    this.x = worldX - (x - this.width / 2) / this.scale;
    this.y = worldY - (y - this.height / 2) / this.scale;
  }

  /** Shows all of the bounds, at a scale of at most `largest`. */
  fit(bounds: Bounds, largest = 1): void {
    this.scale = Math.max(SMALLEST, Math.min(largest, scaleIn(bounds, this)));
    this.x = (bounds.minX + bounds.maxX) / 2;
    this.y = (bounds.minY + bounds.maxY) / 2;
  }

  /** Keeps some of the graph on the stage; what fits along an axis is kept whole. */
  clamp(bounds: Bounds): void {
    this.x = clampAxis(this.x, this.width / this.scale, bounds.minX, bounds.maxX, this.scale);
    this.y = clampAxis(this.y, this.height / this.scale, bounds.minY, bounds.maxY, this.scale);
  }

  /** Whether the rectangle (graph px) lies on the stage with `margin` CSS px to spare. */
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
  const margin = MARGIN / scale;
  const slack = Math.max(0, (room - (high - low)) / 2 - margin);
  const reach = Math.max(0, (high - low - room) / 2 + margin);
  const middle = (low + high) / 2;
  return Math.min(middle + slack + reach, Math.max(middle - slack - reach, at));
}
