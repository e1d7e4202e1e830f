import { listening } from "../shared/ui/dom.ts";
import { type AxisTurn, bindAxisWheel } from "../shared/ui/wheel.ts";
import type { MemoryView } from "./view.ts";

type PointedAt = Pick<
  MemoryView,
  "scene" | "chart" | "focus" | "view" | "hoverAt" | "pickHit" | "zoomToSelection"
>;

const DRAG_FROM = 4;

/** Pointer and wheel on the stage: click selects, drag pans, the wheel zooms once the view has the focus. */
export function bindPointer(root: HTMLElement, view: PointedAt, signal: AbortSignal): void {
  const { scene } = view;
  const { canvas } = view.chart;
  const on = listening(canvas, signal);
  let drag: { x: number; y: number; startX: number; startY: number; moved: boolean } | null = null;
  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    view.focus();
    const { x, y } = at(event);
    drag = { x, y, startX: x, startY: y, moved: false };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on("pointermove", (event) => {
    const { x, y } = at(event);
    scene.pointer = { x, y };
    if (!drag) {
      view.hoverAt(scene.hit(x, y), x, y);
      return;
    }
    drag.moved ||= Math.hypot(x - drag.startX, y - drag.startY) >= DRAG_FROM;
    if (!drag.moved) return;
    const from = drag;
    view.hoverAt(null, x, y);
    view.view(() => {
      scene.viewport.pan(((from.x - x) / scene.room) * scene.viewport.span);
      scene.scrollBy(from.y - y);
    });
    [drag.x, drag.y] = [x, y];
  });
  const finish = (event: PointerEvent) => {
    const done = drag;
    drag = null;
    if (!done || done.moved || event.type === "pointercancel") return;
    const { x, y } = at(event);
    view.pickHit(scene.hit(x, y), event.ctrlKey || event.metaKey);
  };
  on("pointerup", finish);
  on("pointercancel", finish);
  on("pointerleave", () => {
    if (drag) return;
    scene.pointer = null;
    view.hoverAt(null, 0, 0);
  });
  on("dblclick", () => view.zoomToSelection());
  const turned = ({ panPx, zoom }: AxisTurn, event: WheelEvent) =>
    view.view(() => {
      if (panPx) scene.viewport.pan((panPx / scene.room) * scene.viewport.span);
      else scene.viewport.zoom(zoom, scene.step(at(event).x));
    });
  bindAxisWheel(root, view.chart, turned, signal);
}
