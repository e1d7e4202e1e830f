import { listening } from "../../shared/ui/dom.ts";
import type { Point } from "../plane.ts";
import type { Region } from "../state.ts";
import { type Layout, nearestPoint, placeAt } from "./layout.ts";
import type { PlaneViewport } from "./viewport.ts";

interface Events {
  /** Places are in CSS pixels of the stage. */
  hover(x: number, y: number): void;
  leave(): void;
  pick(x: number, y: number): void;
  /** Marks what lies between the value where dragging began and a place. */
  mark(from: Point, to: Place): void;
  wheel(steps: number): void;
  moved(): void;
}

interface Place {
  x: number;
  y: number;
}

const MIDDLE = 1;
const WHEEL = 0.0035;
/** A wheel that moves in lines is as fast as one that moves in pixels. */
const LINE = 33;
const FAR = 4;

/**
 * Lets the pointer mark by dragging, and pointer and wheel move what is in sight: shift or the middle button and drag, a
 * finger, pinch, ctrl + wheel, double click.
 */
export function gestures(
  canvas: HTMLCanvasElement,
  root: HTMLElement,
  viewport: PlaneViewport,
  events: Events,
  signal: AbortSignal,
): void {
  const down = new Map<number, Place>();
  let dragged = false;
  /** The value at which marking began, wherever it is drawn by then; null while what is in sight is moved. */
  let start: Point | null = null;
  /** What two fingers hold: it stays between them. */
  let held: Point | null = null;
  let travel = 0;
  /** What turns of the wheel zoom at, until the pointer moves: the stage may move below it meanwhile. */
  let zoomed: { x: number; y: number; held: Point; left: Region | null } | null = null;
  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.x, y: event.clientY - box.y };
  };
  const listen = listening(canvas, signal);

  listen("pointerdown", (event) => {
    const byMouse = event.pointerType === "mouse";
    if (event.button !== 0 && !(byMouse && event.button === MIDDLE)) return;
    if (event.button === MIDDLE) event.preventDefault();
    const place = at(event);
    const { layout } = viewport;
    const marks = byMouse && event.button === 0 && !event.shiftKey;
    start = marks && layout ? nearestPoint(layout, place.x, place.y) : null;
    down.set(event.pointerId, place);
    dragged = down.size > 1;
    held = null;
    const [one, other] = [...down.values()];
    if (other && layout) held = placeAt(layout, (one!.x + other.x) / 2, (one!.y + other.y) / 2);
    if (!viewport.zoomed && start) events.pick(place.x, place.y);
  });
  listen("pointermove", (event) => {
    const [before, now] = [down.get(event.pointerId), at(event)];
    if (!before) {
      events.hover(now.x, now.y);
      return;
    }
    const [right, below] = [now.x - before.x, now.y - before.y];
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)![1];
      const apart = (a: typeof now) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
      const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
      down.set(event.pointerId, now);
      const factor = apart(now) / apart(before);
      if (held && viewport.zoom(factor, middle, held)) events.moved();
      return;
    }
    if (!(start || viewport.zoomed) || (!dragged && Math.hypot(right, below) < FAR)) return;
    if (!dragged) {
      dragged = true;
      canvas.setPointerCapture(event.pointerId);
      events.leave();
    }
    if (start) {
      events.mark(start, now);
      return;
    }
    down.set(event.pointerId, now);
    if (viewport.pan(right, below)) events.moved();
  });
  const up = (event: PointerEvent) => {
    const place = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!place || dragged || event.type === "pointercancel" || event.button === MIDDLE) return;
    if (viewport.zoomed || event.pointerType !== "mouse") events.pick(place.x, place.y);
  };
  listen("pointerup", up);
  listen("pointercancel", up);
  listen("pointerleave", () => events.leave());
  listen("dblclick", (event) => {
    event.preventDefault();
    const moved = viewport.zoom(event.shiftKey ? 0.5 : 2, at(event));
    if (moved) events.moved();
  });
  listen("wheel", (event) => {
    if (!root.contains(document.activeElement)) return;
    event.preventDefault();
    const lines = event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL;
    if (event.ctrlKey || event.metaKey) {
      const pixels = lines ? event.deltaY * LINE : event.deltaY;
      const place = at(event);
      const [{ clientX: x, clientY: y }, layout] = [event, viewport.layout];
      if (!layout) return;
      const goesOn = zoomed?.x === x && zoomed.y === y && zoomed.left === viewport.region;
      const held = zoomed && goesOn ? zoomed.held : heldAt(layout, place);
      if (viewport.zoom(Math.exp(-pixels * WHEEL), place, held)) events.moved();
      zoomed = { x, y, held, left: viewport.region };
      return;
    }
    travel += lines ? event.deltaY : event.deltaY / 100;
    const steps = Math.trunc(travel);
    travel -= steps;
    if (steps !== 0) events.wheel(steps);
  });
}

/** The place in the plane; beside the plot that of its nearest edge. */
function heldAt(layout: Layout, { x, y }: Place): Point {
  const { plot } = layout;
  const within = (at: number, first: number, length: number) =>
    Math.max(first, Math.min(first + length, at));
  return placeAt(layout, within(x, plot.x, plot.width), within(y, plot.y, plot.height));
}
