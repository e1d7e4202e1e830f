import type { TextMeasure } from "../../shared/drawing/canvas.ts";

/** As many of the parts between dots as fit: a number is written whole or not at all. */
export function whole(measure: TextMeasure, words: string, room: number): string {
  let shown = words;
  for (let cut = shown.lastIndexOf(" · "); cut > 0; cut = shown.lastIndexOf(" · ")) {
    if (measure.width(shown) <= room) break;
    shown = shown.slice(0, cut);
  }
  return shown;
}
