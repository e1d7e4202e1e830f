import { listening, pointIn } from "./dom.ts";

export interface PointerSpot {
  x: number;
  y: number;
}

/** A press of the pointer until its release. */
export interface Gesture {
  readonly start: PointerSpot;
  /** Where the pointer was at the last event. */
  last: PointerSpot;
  /** True once it is a drag, not a click. */
  moved: boolean;
  /** Began with Shift, the middle button, or a finger. */
  readonly pans: boolean;
}

/** What a pointer does on a canvas; places are CSS px of the canvas. */
export interface PointerHandlers {
  /** Handles only the last move of each frame. */
  perFrame?: boolean;
  hover(at: PointerSpot, event: PointerEvent): void;
  leave(): void;
  /** Called as a button goes down. */
  press?(at: PointerSpot, gesture: Gesture, event: PointerEvent): void;
  drag?(at: PointerSpot, gesture: Gesture, event: PointerEvent): void;
  /** Ends a drag; null if the browser took the pointer away. */
  drop?(at: PointerSpot | null, gesture: Gesture, event: PointerEvent): void;
  click(at: PointerSpot, event: PointerEvent): void;
  doubleClick?(at: PointerSpot, event: MouseEvent): void;
  /** Opens a menu; returns false to leave the browser's. */
  menu?(at: PointerSpot): boolean;
  /** Two fingers: how far they went apart, around their middle, and how far that moved. */
  pinch?(factor: number, middle: PointerSpot, by: PointerSpot): void;
}

const DRAG_FROM = 4;
const LEAST_APART = 12;

/** Gestures of mouse and fingers on a canvas until the signal aborts. */
export function bindPointer(
  canvas: HTMLElement,
  handlers: PointerHandlers,
  signal: AbortSignal,
): void {
  const fingers = new Map<number, PointerSpot>();
  let gesture: Gesture | null = null;
  const on = listening(canvas, signal);
  const at = (event: MouseEvent) => pointIn(canvas, event);
  let latest: PointerEvent | null = null;
  let frame = 0;
  const settle = () => {
    cancelAnimationFrame(frame);
    const event = latest;
    [latest, frame] = [null, 0];
    if (event) move(event);
  };
  signal.addEventListener("abort", () => cancelAnimationFrame(frame));

  on("pointerdown", (event) => {
    settle();
    if (event.button > 1) return;
    const place = at(event);
    fingers.set(event.pointerId, place);
    const isTouch = event.pointerType === "touch";
    const pans = event.shiftKey || event.button === 1 || isTouch;
    gesture = { start: place, last: place, moved: fingers.size > 1, pans };
    handlers.press?.(place, gesture, event);
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on("pointermove", (event) => {
    // All moves count for several fingers.
    if (!handlers.perFrame || fingers.size > 1) {
      settle();
      move(event);
      return;
    }
    latest = event;
    frame ||= requestAnimationFrame(settle);
  });
  const move = (event: PointerEvent) => {
    const place = at(event);
    const before = fingers.get(event.pointerId);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (before) fingers.set(event.pointerId, place);
    if (before && other) {
      pinch(before, place, other);
      return;
    }
    if (!gesture) {
      handlers.hover(place, event);
      return;
    }
    const { start } = gesture;
    gesture.moved ||= Math.hypot(place.x - start.x, place.y - start.y) >= DRAG_FROM;
    if (!gesture.moved) return;
    canvas.classList.add("tvmdbg-dragging");
    handlers.drag?.(place, gesture, event);
    gesture.last = place;
  };
  const pinch = (before: PointerSpot, now: PointerSpot, other: PointerSpot) => {
    const apart = ({ x, y }: PointerSpot) =>
      Math.max(LEAST_APART, Math.hypot(x - other.x, y - other.y));
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    const by = { x: (now.x - before.x) / 2, y: (now.y - before.y) / 2 };
    handlers.pinch?.(apart(now) / apart(before), middle, by);
  };
  const end = (event: PointerEvent) => {
    settle();
    fingers.delete(event.pointerId);
    const done = gesture;
    gesture = null;
    canvas.classList.remove("tvmdbg-dragging");
    if (!done) return;
    const place = event.type === "pointercancel" ? null : at(event);
    if (done.moved) handlers.drop?.(place, done, event);
    else if (place && fingers.size === 0) handlers.click(place, event);
  };
  on("pointerup", end);
  on("pointercancel", end);
  on("pointerleave", () => {
    if (gesture) return;
    latest = null;
    handlers.leave();
  });
  on("dblclick", (event) => handlers.doubleClick?.(at(event), event));
  on("contextmenu", (event) => {
    if (!handlers.menu?.(at(event))) return;
    event.preventDefault();
    event.stopPropagation();
  });
  // The middle button would start the browser's own scrolling.
  on("mousedown", (event) => {
    if (event.button === 1) event.preventDefault();
  });
}
