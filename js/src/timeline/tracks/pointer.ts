import { pointIn } from "../../shared/ui/dom.ts";
import { type AxisTurn, bindAxisWheel } from "../../shared/ui/scrolling.ts";
import type { Row } from "../data/row.ts";
import type { TimelineChart } from "./chart.ts";
import { type Edge, snapped } from "./measure.ts";
import type { TimelineHit, TimelineScene, Zone } from "./scene.ts";

const DRAG_FROM = 4;
/** Distance at which the pointer snaps to edges, in CSS pixels. */
const SNAP = 6;

export interface PointerEvents {
  pick: (hit: TimelineHit | null, toggle: boolean) => void;
  /** Called with a description when a track was folded or unfolded. */
  fold: (text: string) => void;
  zoomTo: (hit: TimelineHit | null) => void;
  /** Called with a dragged range, to be marked or zoomed to; null ends the drag. */
  preview: (range: readonly [number, number] | null, mark: boolean) => void;
  range: (range: readonly [number, number], row: Row | null) => void;
  hover: (hit: TimelineHit | null, x: number, y: number) => void;
  /** Called to change the visible part. */
  view: (change: () => void) => void;
  /** Called with a mark of the measure. */
  edge: (edge: Edge) => void;
  measure: () => void;
}

type DragKind = "pan" | "range" | "zoom" | "overview-move";

interface PointerDrag {
  kind: DragKind;
  zone: Zone;
  x: number;
  y: number;
  startX: number;
  startY: number;
  edge: Edge;
  moved: boolean;
}

/** Click selects, drag marks a range, drag on axis or overview zooms; shift, middle button or finger pans, two fingers zoom. */
export function bindPointer(
  root: HTMLElement,
  { canvas, stage }: TimelineChart,
  scene: TimelineScene,
  events: PointerEvents,
  signal: AbortSignal,
): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let drag: PointerDrag | null = null;

  const at = (event: MouseEvent) => pointIn(canvas, event);
  const edgeAt = (x: number, isFree: boolean): Edge => {
    const inside = Math.min(Math.max(0, x), scene.width);
    const within = (SNAP * scene.viewport.span) / scene.width;
    const rows = isFree || !scene.snaps ? [] : scene.visibleRows;
    return snapped(scene.slices, rows, scene.ns(inside), within);
  };
  const kindOf = (event: PointerEvent, zone: Zone, x: number): DragKind => {
    const isPan = event.shiftKey || event.button === 1 || event.pointerType === "touch";
    if (zone !== "overview") return isPan ? "pan" : zone === "axis" ? "zoom" : "range";
    const time = scene.overviewNs(x);
    const { all, start, end } = scene.viewport;
    return !all && time >= start && time <= end ? "overview-move" : "zoom";
  };
  const span = (from: PointerDrag, x: number): [number, number] => {
    const ns = (x: number) => {
      const inside = Math.min(Math.max(0, x), scene.width);
      return from.zone === "overview" ? scene.overviewNs(inside) : scene.ns(inside);
    };
    return ordered(ns(from.startX), ns(x));
  };
  const showDrag = () => {
    if (drag) stage.dataset.drag = drag.kind;
    else delete stage.dataset.drag;
  };

  const begin = (event: PointerEvent) => {
    settle();
    if (event.button > 1) return;
    root.focus({ preventScroll: true });
    const { x, y } = at(event);
    const zone = scene.zone(y);
    if (event.pointerType === "touch") fingers.set(event.pointerId, { x, y });
    const edge = edgeAt(x, event.altKey);
    const kind = kindOf(event, zone, x);
    drag = { kind, zone, x, y, startX: x, startY: y, edge, moved: fingers.size > 1 };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  const pinch = (event: PointerEvent): boolean => {
    const { x, y } = at(event);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    const before = fingers.get(event.pointerId);
    if (!other || !before) return false;
    fingers.set(event.pointerId, { x, y });
    const apart = (a: number) => Math.max(12, Math.abs(a - other.x));
    const middle = scene.ns((before.x + other.x) / 2);
    events.view(() => {
      scene.viewport.zoom(apart(before.x) / apart(x), middle);
      scene.viewport.pan(((before.x - x) / 2 / scene.width) * scene.viewport.span);
    });
    return true;
  };
  let latest: PointerEvent | null = null;
  let frame = 0;
  /** Handles the pointer events since the last frame. */
  const settle = () => {
    cancelAnimationFrame(frame);
    const event = latest;
    latest = null;
    frame = 0;
    if (event) move(event);
  };
  const moved = (event: PointerEvent) => {
    // All moves count for several fingers.
    if (fingers.size > 1) {
      settle();
      move(event);
      return;
    }
    latest = event;
    frame ||= requestAnimationFrame(settle);
  };
  signal.addEventListener("abort", () => cancelAnimationFrame(frame));
  const move = (event: PointerEvent) => {
    const { x, y } = at(event);
    scene.pointer = { x, y };
    if (fingers.size > 1 && pinch(event)) return;
    if (!drag) {
      scene.snapped = null;
      if (scene.measure?.open && scene.zone(y) !== "overview") {
        scene.snapped = edgeAt(x, event.altKey);
        scene.measure.follow(scene.snapped);
        events.measure();
      }
      canvas.style.cursor = scene.headAt(x, y) ? "pointer" : "";
      events.hover(scene.hit(x, y), x, y);
      return;
    }
    drag.moved ||= Math.abs(x - drag.startX) >= DRAG_FROM || Math.abs(y - drag.y) >= DRAG_FROM;
    if (!drag.moved) return;
    showDrag();
    events.hover(null, x, y);
    const from = drag;
    if (from.kind === "range") {
      scene.snapped = edgeAt(x, event.altKey);
      events.preview(ordered(from.edge.ns, scene.snapped.ns), true);
    } else if (from.kind === "zoom") events.preview(span(from, x), false);
    else {
      const by = x - from.x;
      events.view(() => {
        if (from.kind === "pan") {
          scene.viewport.pan((-by / scene.width) * scene.viewport.span);
          scene.scrollBy(from.y - y);
        } else scene.viewport.pan((by / scene.width) * scene.viewport.whole);
      });
      [drag.x, drag.y] = [x, y];
    }
  };
  const finish = (event: PointerEvent) => {
    settle();
    const { x, y } = at(event);
    const done = drag;
    fingers.delete(event.pointerId);
    drag = null;
    scene.snapped = null;
    showDrag();
    events.preview(null, false);
    if (!done || event.type === "pointercancel") return;
    if (!done.moved) {
      if (scene.measure?.open && done.zone !== "overview") events.edge(edgeAt(x, event.altKey));
      else if (done.zone === "tracks" && event.button === 0) {
        const folded = scene.foldAt(x, y);
        if (folded) events.fold(folded);
        else events.pick(scene.hit(x, y), event.ctrlKey || event.metaKey);
      } else if (done.zone === "overview") {
        events.view(() => scene.viewport.center(scene.overviewNs(x)));
      }
    } else if (done.kind === "range") {
      const range = ordered(done.edge.ns, edgeAt(x, event.altKey).ns);
      if (range[0] < range[1]) events.range(range, rowAt(scene, done.startY));
    } else if (done.kind === "zoom") {
      const [from, to] = span(done, x);
      events.view(() => scene.viewport.show(from, to));
    }
  };
  const leave = () => {
    if (drag) return;
    latest = null;
    scene.pointer = scene.snapped = null;
    events.hover(null, 0, 0);
  };
  const turned = ({ panPx, zoom }: AxisTurn, event: WheelEvent) =>
    events.view(() => {
      if (panPx) scene.viewport.pan((panPx / scene.width) * scene.viewport.span);
      else scene.viewport.zoom(zoom, scene.ns(at(event).x));
    });

  canvas.addEventListener("pointerdown", begin, { signal });
  canvas.addEventListener("pointermove", moved, { signal });
  canvas.addEventListener("pointerup", finish, { signal });
  canvas.addEventListener("pointercancel", finish, { signal });
  canvas.addEventListener("pointerleave", leave, { signal });
  bindAxisWheel(root, { stage, canvas }, turned, signal);
  // The middle button would start the browser's own scrolling.
  canvas.addEventListener("mousedown", (event) => event.preventDefault(), { signal });
  const doubleClick = (event: MouseEvent) => {
    const { x, y } = at(event);
    events.zoomTo(scene.zone(y) === "tracks" ? scene.hit(x, y) : null);
  };
  canvas.addEventListener("dblclick", doubleClick, { signal });
}

function rowAt(scene: TimelineScene, y: number): Row | null {
  const isThere = (row: Row) => {
    const box = scene.rowBox(row);
    return box && y >= box.y && y < box.y + box.height;
  };
  return scene.visibleRows.find(isThere) ?? null;
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}
