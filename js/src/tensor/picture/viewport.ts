import type { Point } from "../plane.ts";
import type { Region } from "../state.ts";
import {
  type Camera,
  cameraOn,
  inSight,
  isWhole,
  type Layout,
  layoutPlane,
  maxZoom,
  placeAt,
  type Size,
} from "./layout.ts";

const NEARLY_WHOLE = 1.001;
const WHOLE: Camera = { zoom: 1, row: 0, col: 0 };

/** What is in sight of a plane on a stage of some size: all of it, or a part that one came to by zoom and pan. */
export class PlaneViewport {
  #rows = 0;
  #cols = 0;
  #stage: Size = { width: 0, height: 0 };
  #ratio = 1;
  #camera = WHOLE;
  /** What was asked for; it stays in sight when the stage changes. */
  #region: Region | null = null;
  #layout: Layout | null = null;

  /** Sets the size of the plane; another one is shown whole. */
  over(rows: number, cols: number): void {
    if (rows === this.#rows && cols === this.#cols) return;
    const kept = this.#rows === 0 && this.#region && fits(this.#region, rows, cols);
    [this.#rows, this.#cols] = [rows, cols];
    this.show(kept ? this.#region : null);
  }

  /** Says whether the stage has changed. */
  resize(stage: Size, ratio: number): boolean {
    const { width, height } = this.#stage;
    if (width === stage.width && height === stage.height && ratio === this.#ratio) return false;
    [this.#stage, this.#ratio] = [stage, ratio];
    this.show(this.#region);
    return true;
  }

  /** Null where nothing can be drawn. */
  get layout(): Layout | null {
    const { width, height } = this.#stage;
    if (!this.#rows || !this.#cols || !width || !height) return null;
    this.#layout ??= layoutPlane(this.#rows, this.#cols, this.#camera, this.#stage, this.#ratio);
    return this.#layout;
  }

  /** Null where all is in sight. */
  get region(): Region | null {
    return this.#region;
  }

  get zoomed(): boolean {
    return this.#camera.zoom > 1;
  }

  get canZoom(): boolean {
    return this.#camera.zoom < this.#most;
  }

  /** Shows the next plane, of whatever size, in part or whole. */
  resetTo(region: Region | null): void {
    [this.#rows, this.#cols] = [0, 0];
    this.show(region);
  }

  /** Brings a part of the plane into sight, or all of it. */
  show(region: Region | null): void {
    this.#region = region;
    const drawable = this.#stage.width > 0 && this.#rows > 0 && this.#cols > 0;
    this.#look(region && drawable ? cameraOn(region, this.#rows, this.#cols, this.#stage) : WHOLE);
    if (this.#camera.zoom === 1 && drawable) this.#region = null;
  }

  /**
   * Goes in by a factor (out where it is below 1) and keeps what is at a place of the stage there, or brings what is
   * held there.
   */
  zoom(factor: number, at?: { x: number; y: number }, held?: Point): boolean {
    const before = this.layout;
    if (!before) return false;
    const { plot } = before;
    const within = (length: number, place = length / 2) => Math.max(0, Math.min(length, place));
    const right = within(plot.width, at && at.x - plot.x);
    const down = within(plot.height, at && at.y - plot.y);
    const wanted = Math.min(this.#most, this.#camera.zoom * factor);
    const zoom = wanted < NEARLY_WHOLE ? 1 : wanted;
    if (zoom === this.#camera.zoom && !held) return false;
    // From where the camera is, not from where whole pixels drew it: what is lost at each step would add up.
    const { row, col } = this.#camera;
    const place = held ?? placeAt({ ...before, row, col }, plot.x + right, plot.y + down);
    const scaled = layoutPlane(
      this.#rows,
      this.#cols,
      { ...this.#camera, zoom },
      this.#stage,
      this.#ratio,
    );
    // Where there is room to spare the picture grows into it only beyond the place that is kept.
    const whole = layoutPlane(this.#rows, this.#cols, WHOLE, this.#stage, this.#ratio).plot;
    return this.#move({
      zoom,
      row: place.row - down / scaled.down,
      col: place.col - right / scaled.across,
      filled: {
        width: Math.max(right, whole.width),
        height: Math.max(down, whole.height),
      },
    });
  }

  /** Moves what is in sight by CSS pixels. */
  pan(right: number, down: number): boolean {
    const layout = this.layout;
    if (!layout) return false;
    return this.#move({
      ...this.#camera,
      row: this.#camera.row - down / layout.down,
      col: this.#camera.col - right / layout.across,
    });
  }

  /** Puts the middle of what is in sight at a place of the plane. */
  center(row: number, col: number): boolean {
    const layout = this.layout;
    if (!layout) return false;
    return this.#move({
      zoom: this.#camera.zoom,
      row: row - layout.plot.height / layout.down / 2,
      col: col - layout.plot.width / layout.across / 2,
    });
  }

  /** Moves by as little as brings a value into sight. */
  reveal({ row, col }: Point): boolean {
    const layout = this.layout;
    if (!layout || !this.zoomed) return false;
    const near = (at: number, first: number, seen: number) =>
      at < first ? at : at + 1 > first + seen ? at + 1 - seen : first;
    const seen = [layout.plot.height / layout.down, layout.plot.width / layout.across] as const;
    const to = { row: near(row, layout.row, seen[0]), col: near(col, layout.col, seen[1]) };
    if (layout.kind === "profile") to.row = 0;
    if (to.row === layout.row && to.col === layout.col) return false;
    return this.#move({ ...this.#camera, ...to });
  }

  get #most(): number {
    return this.#rows && this.#cols && this.#stage.width
      ? maxZoom(this.#rows, this.#cols, this.#stage)
      : 1;
  }

  #move(camera: Camera): boolean {
    this.#look(camera);
    const layout = this.layout!;
    this.#region = isWhole(layout) ? null : inSight(layout);
    if (this.#camera.zoom === 1) this.#region = null;
    return true;
  }

  /** Takes a camera over; where it is beyond the ends, as far as it could go. */
  #look(camera: Camera): void {
    this.#layout = null;
    this.#camera = camera;
    const { layout } = this;
    if (!layout) return;
    const at = (wanted: number, drawn: number, size: number) =>
      Math.abs(wanted - drawn) * size < 1 ? wanted : drawn;
    this.#camera = {
      ...camera,
      row: at(camera.row, layout.row, layout.down),
      col: at(camera.col, layout.col, layout.across),
    };
  }
}

function fits([row, col, rows, cols]: Region, planeRows: number, planeCols: number): boolean {
  return row + rows <= planeRows && col + cols <= planeCols;
}
