import * as tokens from "../../../../tvmdbg_widgets/figures/tokens.json";
import { layer, TextMeasure } from "../../shared/drawing/canvas.ts";
import type { Measure } from "./labels.ts";

/** Measures the two lines of a box in the host's font. */
export function measureFor(font: string): Measure {
  const [titles, smalls] = [
    `500 ${tokens.font.size}px ${font}`,
    `${tokens.font.small}px ${font}`,
  ].map((each) => {
    const { context } = layer("");
    context.font = each;
    return new TextMeasure(context);
  });
  return { title: (text) => titles!.width(text), small: (text) => smalls!.width(text) };
}
