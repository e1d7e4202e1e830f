/** What the pointer and the wheel do to the stage, in CSS px of its canvas. */
export interface PointerActions {
  click(x: number, y: number, add: boolean): void;
  focus(x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  /** What can be done to what is there; false where there is nothing. */
  menu(x: number, y: number): boolean;
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
}

const SLOP = 4;
const LINE_PX = 16;
const ZOOM_PER_PX = 0.0018;

/** Drag pans, wheel zooms at the pointer (shift+wheel pans) while the view has the focus, two fingers do both. */
export function bindPointer(
  root: HTMLElement,
  canvas: HTMLCanvasElement,
  actions: PointerActions,
  signal: AbortSignal,
): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  const place = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const on = <K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (event: HTMLElementEventMap[K]) => void,
  ) => canvas.addEventListener(type, listener, { signal });

  on("pointerdown", (event) => {
    if (event.button > 1) return;
    root.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 0) travelled = 0;
    fingers.set(event.pointerId, place(event));
    actions.leave();
  });
  on("pointermove", (event) => {
    const [now, before] = [place(event), fingers.get(event.pointerId)];
    if (!before) {
      actions.hover(now.x, now.y);
      return;
    }
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    fingers.set(event.pointerId, now);
    if (travelled < SLOP) return;
    canvas.classList.add("tvmdbg-dragging");
    const share = other ? 0.5 : 1;
    actions.pan((now.x - before.x) * share, (now.y - before.y) * share);
    if (!other) return;
    const span = Math.hypot(now.x - other.x, now.y - other.y);
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    if (was > 0) actions.zoom(span / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
  });
  const end = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return;
    canvas.classList.remove("tvmdbg-dragging");
    const { x, y } = place(event);
    if (event.type === "pointerup" && travelled < SLOP && fingers.size === 0) {
      actions.click(x, y, event.ctrlKey || event.metaKey || event.shiftKey);
    }
  };
  on("pointerup", end);
  on("pointercancel", end);
  on("pointerleave", () => actions.leave());
  on("contextmenu", (event) => {
    const { x, y } = place(event);
    if (!actions.menu(x, y)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  on("dblclick", (event) => {
    const { x, y } = place(event);
    actions.focus(x, y);
  });
  const wheel = (event: WheelEvent) => {
    if (!root.contains(document.activeElement)) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.shiftKey && !event.ctrlKey) {
      actions.pan(-(dx || dy), dx ? -dy : 0);
      return;
    }
    const { x, y } = place(event);
    actions.zoom(Math.exp(-dy * ZOOM_PER_PX * (event.ctrlKey ? 4 : 1)), x, y);
  };
  canvas.addEventListener("wheel", wheel, { passive: false, signal });
}
