import type { Size } from "../../shared/drawing/canvas.ts";
import { listening, pointIn } from "../../shell/dom.ts";
import { bindPointer, type PointerSpot } from "../../shell/pointer.ts";
import type { Point } from "../plane.ts";
import { clipped, type Region } from "../state.ts";
import {
  cameraOn,
  inSight,
  isWhole,
  layoutPlane,
  maxZoom,
  nearestPoint,
  type PlaneCamera,
  type PlaneLayout,
  placeAt,
  within,
} from "./plane_layout.ts";

const NEARLY_WHOLE = 1.001;
const WHOLE: PlaneCamera = { zoom: 1, row: 0, col: 0 };

/** Visible part of a plane on a stage: all of it, or the result of zoom and pan. */
export class PlaneViewport {
  #rows = 0;
  #cols = 0;
  /** False while an answer may change the size of the plane. */
  #isAnswered = false;
  #stage: Size = { width: 0, height: 0 };
  #ratio = 1;
  #camera = WHOLE;
  /** Requested region; it stays visible when the stage changes. */
  #region: Region | null = null;
  #layout: PlaneLayout | null = null;

  /** Sets the size of the plane; the region is clipped to that of an answer. */
  over(rows: number, cols: number, isAnswered = false): void {
    if (this.isOver(rows, cols) && (this.#isAnswered || !isAnswered)) return;
    [this.#rows, this.#cols, this.#isAnswered] = [rows, cols, isAnswered];
    this.show(this.#region);
  }

  isOver(rows: number, cols: number): boolean {
    return rows === this.#rows && cols === this.#cols;
  }

  /** Returns true if the stage has changed. */
  resize(stage: Size, ratio: number): boolean {
    const { width, height } = this.#stage;
    if (width === stage.width && height === stage.height && ratio === this.#ratio) return false;
    [this.#stage, this.#ratio] = [stage, ratio];
    this.show(this.#region);
    return true;
  }

  /** Null if nothing can be drawn. */
  get layout(): PlaneLayout | null {
    const { width, height } = this.#stage;
    if (!this.#rows || !this.#cols || !width || !height) return null;
    this.#layout ??= layoutPlane(this.#rows, this.#cols, this.#camera, this.#stage, this.#ratio);
    return this.#layout;
  }

  /** Null if all is visible. */
  get region(): Region | null {
    return this.#region;
  }

  get zoomed(): boolean {
    return this.#camera.zoom > 1;
  }

  get canZoom(): boolean {
    return this.#camera.zoom < this.#most;
  }

  /** Shows a region of the next plane, or all of it. */
  resetTo(region: Region | null): void {
    [this.#rows, this.#cols, this.#isAnswered] = [0, 0, false];
    this.show(region);
  }

  show(region: Region | null): void {
    const isPlane = this.#rows > 0 && this.#cols > 0;
    const part = region && isPlane ? clipped(region, this.#rows, this.#cols) : null;
    this.#region = this.#isAnswered && isPlane ? part : region;
    const drawable = this.#stage.width > 0 && isPlane;
    this.#look(part && drawable ? cameraOn(part, this.#rows, this.#cols, this.#stage) : WHOLE);
    if (this.#camera.zoom === 1 && drawable && this.#isAnswered) this.#region = null;
  }

  /** Zooms in by a factor (out below 1) around a point of the stage, or so that `held` comes to lie there. */
  zoom(factor: number, at?: { x: number; y: number }, held?: Point): boolean {
    const before = this.layout;
    if (!before) return false;
    const { plot } = before;
    const right = within(at ? at.x - plot.x : plot.width / 2, 0, plot.width);
    const down = within(at ? at.y - plot.y : plot.height / 2, 0, plot.height);
    const wanted = Math.min(this.#most, this.#camera.zoom * factor);
    const zoom = wanted < NEARLY_WHOLE ? 1 : wanted;
    if (zoom === this.#camera.zoom && !held) return false;
    // Starts from the exact camera, not from the rounded pixels: rounding errors would add up.
    const { row, col } = this.#camera;
    const place = held ?? placeAt({ ...before, row, col }, plot.x + right, plot.y + down);
    const scaled = layoutPlane(
      this.#rows,
      this.#cols,
      { ...this.#camera, zoom },
      this.#stage,
      this.#ratio,
    );
    // If there is room to spare, the picture grows into it only beyond the fixed point.
    const whole = layoutPlane(this.#rows, this.#cols, WHOLE, this.#stage, this.#ratio).plot;
    return this.#move({
      zoom,
      row: place.row - down / scaled.down,
      col: place.col - right / scaled.across,
      filled: { width: Math.max(right, whole.width), height: Math.max(down, whole.height) },
    });
  }

  pan(right: number, down: number): boolean {
    const layout = this.layout;
    if (!layout) return false;
    return this.#move({
      ...this.#camera,
      row: this.#camera.row - down / layout.down,
      col: this.#camera.col - right / layout.across,
    });
  }

  center(row: number, col: number): boolean {
    const layout = this.layout;
    if (!layout) return false;
    return this.#move({
      zoom: this.#camera.zoom,
      row: row - layout.plot.height / layout.down / 2,
      col: col - layout.plot.width / layout.across / 2,
    });
  }

  /** Scrolls as little as makes a value visible. */
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

  #move(camera: PlaneCamera): boolean {
    this.#look(camera);
    const layout = this.layout!;
    this.#region = isWhole(layout) ? null : inSight(layout);
    if (this.#camera.zoom === 1) this.#region = null;
    return true;
  }

  #look(camera: PlaneCamera): void {
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

/** A plane that a pointer moves on. */
export interface GestureEvents {
  readonly viewport: PlaneViewport;
  /** Points at a place, or leaves. */
  point(at: PointerSpot | null): void;
  pick(at: PointerSpot): void;
  /** Marks the region between the value where dragging began and a point. */
  markTo(from: Point, to: PointerSpot): void;
  /** True if the wheel can step along another axis that way. */
  turns(by: number): boolean;
  wheel(steps: number): void;
  moved(): void;
}

const MIDDLE = 1;
const WHEEL = 0.0035;
/** Pixels per line of a wheel that scrolls in lines. */
const LINE = 33;

/** Gestures: drag marks; shift, middle button or finger drag pans; pinch, ctrl + wheel and double click zoom. */
export function gestures(
  canvas: HTMLCanvasElement,
  root: HTMLElement,
  events: GestureEvents,
  signal: AbortSignal,
): void {
  /** The value at which marking began; null while panning. */
  let start: Point | null = null;
  /** Point between two fingers, which stays there. */
  let held: Point | null = null;
  let travel = 0;
  /** Center of zoom by wheel until the pointer moves: the stage may move below it meanwhile. */
  let zoomed: { x: number; y: number; held: Point; left: Region | null } | null = null;
  const { viewport } = events;
  const focus = () => root.focus({ preventScroll: true });
  bindPointer(
    canvas,
    {
      hover: (at) => events.point(at),
      leave: () => events.point(null),
      press: (at, { pans }, { pointerType }) => {
        const { layout } = viewport;
        const byMouse = pointerType === "mouse";
        start = byMouse && !pans && layout ? nearestPoint(layout, at.x, at.y) : null;
        held = null;
        if (byMouse) focus();
        if (!viewport.zoomed && start) events.pick(at);
      },
      drag: (at, { last }) => {
        if (!start && !viewport.zoomed) return;
        events.point(null);
        if (start) events.markTo(start, at);
        else if (viewport.pan(at.x - last.x, at.y - last.y)) events.moved();
      },
      click: (at, { button, pointerType }) => {
        focus();
        if (button === MIDDLE) return;
        if (viewport.zoomed || pointerType !== "mouse") events.pick(at);
      },
      doubleClick: (at, event) => {
        event.preventDefault();
        if (viewport.zoom(event.shiftKey ? 0.5 : 2, at)) events.moved();
      },
      pinch: (factor, middle, by) => {
        const { layout } = viewport;
        held ??= layout && placeAt(layout, middle.x - by.x, middle.y - by.y);
        if (held && viewport.zoom(factor, middle, held)) events.moved();
      },
    },
    signal,
  );
  listening(canvas, signal)("wheel", (event) => {
    if (!root.contains(document.activeElement)) return;
    const lines = event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const pixels = lines ? event.deltaY * LINE : event.deltaY;
      const place = pointIn(canvas, event);
      const [{ clientX: x, clientY: y }, layout] = [event, viewport.layout];
      if (!layout) return;
      const goesOn = zoomed?.x === x && zoomed.y === y && zoomed.left === viewport.region;
      const held = zoomed && goesOn ? zoomed.held : heldAt(layout, place);
      if (viewport.zoom(Math.exp(-pixels * WHEEL), place, held)) events.moved();
      zoomed = { x, y, held, left: viewport.region };
      return;
    }
    // At the end of the axis the page scrolls on.
    if (!events.turns(event.deltaY)) return;
    event.preventDefault();
    travel += lines ? event.deltaY : event.deltaY / 100;
    const steps = Math.trunc(travel);
    travel -= steps;
    if (steps !== 0) events.wheel(steps);
  });
}

/** Point in the plane; beside the plot, that of its nearest edge. */
function heldAt(layout: PlaneLayout, { x, y }: PointerSpot): Point {
  const { plot } = layout;
  return placeAt(layout, within(x, plot.x, plot.width), within(y, plot.y, plot.height));
}
