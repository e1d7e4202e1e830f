import { element, KEEP_KEYS } from "./dom.ts";

const STEP = 0.05;

/** A bar between two panels that is dragged, or moved by arrow keys; calls back with the share of what lies before it. */
export function splitter(
  label: string,
  orientation: "vertical" | "horizontal",
  onMove: (share: number) => void,
): { node: HTMLElement; set: (share: number) => void } {
  const node = element("div", {
    class: `tvmdbg-splitter tvmdbg-splitter-${orientation}`,
    role: "separator",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": orientation,
    "aria-valuemin": 15,
    "aria-valuemax": 85,
    ...KEEP_KEYS,
  });
  let current = 0.5;
  const move = (event: PointerEvent) => {
    const box = node.parentElement!.getBoundingClientRect();
    onMove(
      orientation === "vertical"
        ? (event.clientX - box.left) / box.width
        : (event.clientY - box.top) / box.height,
    );
  };
  node.addEventListener("pointerdown", (event) => {
    node.setPointerCapture(event.pointerId);
    event.preventDefault();
    node.focus();
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) move(event);
  });
  const [less, more] =
    orientation === "vertical" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  node.addEventListener("keydown", (event) => {
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    onMove(current + (event.key === more ? STEP : -STEP));
  });
  return {
    node,
    set: (share) => {
      current = share;
      node.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    },
  };
}
