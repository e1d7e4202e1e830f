import { divergingStops, ramp, type Theme } from "../../shared/drawing/theme.ts";
import { percent } from "../../shared/format.ts";
import { element } from "../../shared/ui/dom.ts";

const STEPS = 32;

/** Colors of what is less and more than a median, from -spread to +spread of it. */
export class Diverging {
  readonly spread: number;
  readonly #fills: string[];

  constructor(theme: Theme, spread: number) {
    this.spread = spread;
    const stops = divergingStops(theme);
    this.#fills = Array.from({ length: 2 * STEPS + 1 }, (_, i) => ramp(stops, i / (2 * STEPS)));
  }

  fill(apart: number): string {
    const share = Math.min(1, Math.max(-1, apart / this.spread));
    return this.#fills[Math.round(STEPS + share * STEPS)]!;
  }

  isBeyond(apart: number): boolean {
    return Math.abs(apart) > this.spread;
  }
}

/** `+12.0 %` */
export function apartText(apart: number): string {
  if (!Number.isFinite(apart)) return "no value";
  if (apart === 0) return "0 %";
  return `${apart < 0 ? "−" : "+"}${percent(Math.abs(apart))}`;
}

/** The scale of such colors, with its ends in words. */
export function legend(theme: Theme, spread: number, of: string): HTMLElement {
  const bar = element("i", { class: "tvmdbg-timeline-ramp" });
  bar.style.background = `linear-gradient(to right, ${divergingStops(theme).join(", ")})`;
  const end = percent(spread);
  return element(
    "span",
    { class: "tvmdbg-timeline-legend", title: `time relative to the ${of}` },
    `faster −${end}`,
    bar,
    `+${end} slower than the ${of}`,
  );
}
