const LINE_PX = 16;
const ZOOM_PER_PX = 1.0018;
/** As long as `wheel.css` shows it. */
const HINT_MS = 2000;
const HINT = "tvmdbg-wheel-hint";

/** What a turn of the wheel does to an axis that goes across: it pans, also with Shift, or zooms. */
export interface AxisTurn {
  panPx: number;
  zoom: number;
}

export function axisTurn(event: WheelEvent): AxisTurn {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
  const [across, down] = [event.deltaX * unit, event.deltaY * unit];
  const pans = event.shiftKey || Math.abs(across) > Math.abs(down);
  if (!pans) return { panPx: 0, zoom: ZOOM_PER_PX ** down };
  return { panPx: event.shiftKey && !across ? down : across, zoom: 1 };
}

/** Takes turns of the wheel over a stage once the view has the focus; before, it scrolls the page, and a hint says so. */
export function bindAxisWheel(
  root: HTMLElement,
  { stage, canvas }: { stage: HTMLElement; canvas: HTMLElement },
  turned: (turn: AxisTurn, event: WheelEvent) => void,
  signal: AbortSignal,
): void {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const hide = () => stage.classList.remove(HINT);
  const turn = (event: WheelEvent) => {
    if (root.matches(":focus-within")) {
      event.preventDefault();
      turned(axisTurn(event), event);
      return;
    }
    clearTimeout(hiding);
    stage.classList.add(HINT);
    hiding = setTimeout(hide, HINT_MS);
  };
  canvas.addEventListener("wheel", turn, { signal, passive: false });
  root.addEventListener("focus", hide, { signal });
  signal.addEventListener("abort", () => clearTimeout(hiding));
}
