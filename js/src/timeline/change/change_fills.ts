import {
  channels,
  divergingStops,
  kindFill,
  ramp,
  type Theme,
} from "../../shared/drawing/theme.ts";
import type { Change } from "./change.ts";

const STEPS = 21;

/** Colors from the largest saving to the largest loss, and behind them that of noise. */
export function changeFills(theme: Theme): string[] {
  const stops = divergingStops(theme);
  const base = channels(kindFill(theme, "other"));
  const towards = channels(theme.background);
  const noise = base.map((value, i) => Math.round(value + (towards[i]! - value) * 0.6));
  return [
    ...Array.from({ length: STEPS }, (_, i) => ramp(stops, i / (STEPS - 1))),
    `rgb(${noise.join(", ")})`,
  ];
}

/** Which of them a row has; what is noise, unknown or in no row has the last. */
export function fillOfChange(change: Change, row: number): number {
  const share = row < 0 ? null : change.share(row);
  return share === null ? STEPS : Math.round(share * (STEPS - 1));
}
