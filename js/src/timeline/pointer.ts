import type { Chart } from "./chart.ts";
import type { Hit, Scene, Zone } from "./scene.ts";

const DRAG_FROM = 4;
const WHEEL_ZOOM = 1.0018;

export interface PointerEvents {
  pick: (hit: Hit | null, toggle: boolean) => void;
  zoomTo: (hit: Hit | null) => void;
  /** A range is being drawn out, to be marked or to be zoomed to; null: no more. */
  preview: (range: readonly [number, number] | null, mark: boolean) => void;
  range: (range: readonly [number, number]) => void;
  hover: (hit: Hit | null, x: number, y: number) => void;
  /** The part in view is to change as `change` says. */
  view: (change: () => void) => void;
  /** The wheel was turned while it belongs to the page. */
  wheelUnfocused: () => void;
}

type Drag = "pan" | "range" | "zoom" | "overview-move";

/** Pointer and wheel on the stage: click selects, drag pans, shift+drag marks, drag on axis or overview zooms. */
export function bindPointer(
  root: HTMLElement,
  { canvas }: Chart,
  scene: Scene,
  events: PointerEvents,
  signal: AbortSignal,
): void {
  let drag: {
    kind: Drag;
    zone: Zone;
    x: number;
    y: number;
    startX: number;
    moved: boolean;
  } | null = null;

  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const kindOf = (event: PointerEvent, zone: Zone, x: number): Drag => {
    if (zone === "tracks") return event.shiftKey ? "range" : "pan";
    if (zone === "axis") return event.shiftKey ? "range" : "zoom";
    const time = scene.overviewNs(x);
    const { all, start, end } = scene.viewport;
    return !all && time >= start && time <= end ? "overview-move" : "zoom";
  };
  const span = (from: { zone: Zone; startX: number }, x: number): [number, number] => {
    const ns = (each: number) => {
      const inside = Math.min(Math.max(0, each), scene.width);
      return from.zone === "overview" ? scene.overviewNs(inside) : scene.ns(inside);
    };
    const [a, b] = [ns(from.startX), ns(x)];
    return a < b ? [a, b] : [b, a];
  };

  canvas.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0) return;
      root.focus({ preventScroll: true });
      const { x, y } = at(event);
      const zone = scene.zone(y);
      drag = { kind: kindOf(event, zone, x), zone, x, y, startX: x, moved: false };
      canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
    },
    { signal },
  );
  canvas.addEventListener(
    "pointermove",
    (event) => {
      const { x, y } = at(event);
      scene.pointer = { x, y };
      if (!drag) {
        events.hover(scene.hit(x, y), x, y);
        return;
      }
      drag.moved ||= Math.abs(x - drag.startX) >= DRAG_FROM || Math.abs(y - drag.y) >= DRAG_FROM;
      if (!drag.moved) return;
      events.hover(null, x, y);
      const from = drag;
      if (from.kind === "range" || from.kind === "zoom") {
        events.preview(span(from, x), from.kind === "range");
      } else {
        const by = x - from.x;
        events.view(() => {
          if (from.kind === "pan") {
            scene.viewport.pan((-by / scene.width) * scene.viewport.span);
            scene.scrollBy(from.y - y);
          } else scene.viewport.pan((by / scene.width) * scene.viewport.whole);
        });
        [drag.x, drag.y] = [x, y];
      }
    },
    { signal },
  );
  const finish = (event: PointerEvent) => {
    const { x, y } = at(event);
    const done = drag;
    drag = null;
    events.preview(null, false);
    if (!done || event.type === "pointercancel") return;
    if (!done.moved) {
      if (done.zone === "tracks") events.pick(scene.hit(x, y), event.ctrlKey || event.metaKey);
      else if (done.zone === "overview") {
        events.view(() => scene.viewport.centre(scene.overviewNs(x)));
      }
    } else if (done.kind === "range") events.range(span(done, x));
    else if (done.kind === "zoom") {
      const [from, to] = span(done, x);
      events.view(() => scene.viewport.show(from, to));
    }
  };
  canvas.addEventListener("pointerup", finish, { signal });
  canvas.addEventListener("pointercancel", finish, { signal });
  canvas.addEventListener(
    "pointerleave",
    () => {
      if (drag) return;
      scene.pointer = null;
      events.hover(null, 0, 0);
    },
    { signal },
  );
  canvas.addEventListener(
    "dblclick",
    (event) => {
      const { x, y } = at(event);
      events.zoomTo(scene.zone(y) === "tracks" ? scene.hit(x, y) : null);
    },
    { signal },
  );
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!root.matches(":focus-within")) {
        events.wheelUnfocused();
        return;
      }
      event.preventDefault();
      const { x } = at(event);
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const [across, down] = [event.deltaX * lines, event.deltaY * lines];
      events.view(() => {
        const sideways = event.shiftKey && !across ? down : across;
        if (event.shiftKey || Math.abs(across) > Math.abs(down)) {
          scene.viewport.pan((sideways / scene.width) * scene.viewport.span);
        } else scene.viewport.zoom(WHEEL_ZOOM ** down, scene.ns(x));
      });
    },
    { signal, passive: false },
  );
}
