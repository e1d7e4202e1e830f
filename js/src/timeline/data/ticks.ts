import { niceStep } from "../../shared/drawing/nice_step.ts";
import { UNITS } from "../../shared/format.ts";

/** The unit that times up to `ns` are read in. */
function unitOf(ns: number): readonly [size: number, name: string] {
  return UNITS.find(([size]) => Math.abs(ns) >= size) ?? [1, "ns"];
}

/** A time on an axis: as many decimals as tell neighbors that are `step` apart. */
export function timeText(ns: number, step: number, largest = ns): string {
  if (ns === 0) return "0";
  const [size, name] = unitOf(largest);
  const decimals = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ns / size).toFixed(decimals)} ${name}`;
}

/** Of `count` columns, each so wide, those whose numbers stand `apart` when written below them; from 1. */
export function numbered(count: number, wide: number, apart: number): number[] {
  const step = niceStep(Math.max(1, apart / wide));
  return Array.from({ length: Math.floor(count / step) }, (_, i) => (i + 1) * step);
}

export interface Tick {
  ns: number;
  text: string;
}

/** Ticks of [start, end] at most `most` in number, at multiples of a nice step. */
export function ticks(start: number, end: number, most: number): Tick[] {
  const step = niceStep((end - start) / Math.max(1, most));
  const largest = Math.max(Math.abs(start), Math.abs(end));
  const found: Tick[] = [];
  for (let i = Math.ceil(start / step - 1e-9); i * step <= end + step * 1e-9; i++) {
    found.push({ ns: i * step, text: timeText(i * step, step, largest) });
  }
  return found;
}
