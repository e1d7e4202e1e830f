import { listening } from "../../shared/ui/dom.ts";
import { type AxisTurn, bindAxisWheel } from "../../shared/ui/wheel.ts";
import type { TuningView } from "../view.ts";

type PointedAt = Pick<
  TuningView,
  "chart" | "focus" | "hoverAt" | "leave" | "pickAt" | "dragOver" | "dropRange"
> &
  Pick<TuningView, "panBy" | "zoomAt" | "showAll">;

const DRAG_FROM = 4;

/** Pointer and wheel on the chart: click selects, drag marks a range, with shift it pans; the wheel zooms once the view has the focus. */
export function bindPointer(root: HTMLElement, view: PointedAt, signal: AbortSignal): void {
  const { canvas } = view.chart;
  const on = listening(canvas, signal);
  let drag: { x: number; startX: number; moved: boolean; pans: boolean } | null = null;
  const at = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    view.focus();
    const { x } = at(event);
    drag = { x, startX: x, moved: false, pans: event.shiftKey };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on("pointermove", (event) => {
    const { x, y } = at(event);
    if (!drag) {
      view.hoverAt(x, y);
      return;
    }
    drag.moved ||= Math.abs(x - drag.startX) >= DRAG_FROM;
    if (!drag.moved) return;
    view.leave();
    if (drag.pans) view.panBy(drag.x - x);
    else view.dragOver(drag.startX, x);
    drag.x = x;
  });
  const finish = (event: PointerEvent) => {
    const done = drag;
    drag = null;
    if (!done || event.type === "pointercancel") {
      view.dropRange(null);
      return;
    }
    const { x, y } = at(event);
    if (done.moved && !done.pans) view.dropRange([done.startX, x]);
    else if (!done.moved) view.pickAt(x, y);
  };
  on("pointerup", finish);
  on("pointercancel", finish);
  on("pointerleave", () => {
    if (!drag) view.leave();
  });
  on("dblclick", () => view.showAll());
  const turned = ({ panPx, zoom }: AxisTurn, event: WheelEvent) => {
    if (panPx) view.panBy(panPx);
    else view.zoomAt(zoom, at(event).x);
  };
  bindAxisWheel(root, view.chart, turned, signal);
}
