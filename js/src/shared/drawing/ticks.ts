import { shortText } from "../number_text.ts";

/** Round numbers between two values, and their exact short text. */
export interface Tick {
  value: number;
  text: string;
}

/** Round values (1, 2 or 5 times a power of ten) inside [low, high], about `count` of them. */
export function niceTicks(low: number, high: number, count: number): Tick[] {
  if (!(high > low) || count < 1) return [];
  const step = roundStep(high / count - low / count);
  if (!(step > 0) || !Number.isFinite(step)) return [];
  const ticks: Tick[] = [];
  for (let k = Math.ceil(low / step); ticks.length <= 4 * count; k += 1) {
    const value = Number((k * step).toPrecision(12));
    if (value > high) break;
    ticks.push({ value, text: shortText(value) });
  }
  return ticks;
}

/** The next 1, 2 or 5 times a power of ten. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((each) => each * power >= rough) ?? 10);
}

/** Whole multiples of a round distance from `first` to below `end`, about `count` of them at most. */
export function indexTicks(first: number, end: number, count: number): number[] {
  if (!(end > first)) return [];
  const step = roundStep(Math.max(1, (end - first) / Math.max(1, count)));
  const start = Math.ceil(Math.floor(first) / step);
  return Array.from({ length: Math.max(0, Math.ceil(end / step) - start) }, (_, k) => {
    return (start + k) * step;
  });
}

/** Powers of ten with their negatives, and zero, inside [low, high]. */
export function powerTicks(low: number, high: number, threshold: number): Tick[] {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const values = low <= 0 && high >= 0 ? [0] : [];
  for (let power = Math.ceil(Math.log10(threshold)); 10 ** power <= largest; power += 1) {
    values.push(10 ** power, -(10 ** power));
  }
  return values
    .filter((value) => value >= low && value <= high)
    .sort((a, b) => a - b)
    .map((value) => ({ value, text: shortText(value) }));
}
