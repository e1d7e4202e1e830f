const LINE_PX = 16;
const ZOOM_PER_PX = 1.0018;

/** What a turn of the wheel does to an axis that goes across: it pans, also with Shift, or zooms. */
export function axisTurn(event: WheelEvent): { panPx: number; zoom: number } {
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
  const [across, down] = [event.deltaX * unit, event.deltaY * unit];
  const pans = event.shiftKey || Math.abs(across) > Math.abs(down);
  if (!pans) return { panPx: 0, zoom: ZOOM_PER_PX ** down };
  return { panPx: event.shiftKey && !across ? down : across, zoom: 1 };
}
