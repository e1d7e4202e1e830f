/** Color tables and the colors of what has no place in them. */

import { diverging, sequential, values } from "../../../../tvmdbg_widgets/figures/tokens.json";
import type { TensorStatistics } from "../../shared/client/tensor_questions.ts";
import { integer } from "../../shared/format.ts";

export type ColorMap = "sequential" | "diverging";

export const SPECIAL = { nan: values.nan, posInf: values.posInf, negInf: values.negInf } as const;
export type Special = keyof typeof SPECIAL;
/** Finite values below and above the range of the colors. */
export const OUTSIDE = { under: values.under, over: values.over } as const;
export const SPECIAL_TEXT = { nan: "NaN", posInf: "+Inf", negInf: "−Inf" } as const;

/** Bits of a cell's flags; see `TensorAnswer.tile.flags`. */
const FLAG = { nan: 1, posInf: 2, negInf: 4 } as const;

export const SPECIALS = ["nan", "posInf", "negInf"] as const;

/** All that the flags of a cell name. */
export function specialsOf(flags: number): Special[] {
  return SPECIALS.filter((each) => flags & FLAG[each]);
}

/** What there is of values that are not finite, with their counts. */
export function specialKey(statistics: TensorStatistics | null | undefined) {
  return SPECIALS.flatMap((special) => {
    const count = statistics?.[special] ?? 0;
    const text = `${SPECIAL_TEXT[special]} (${integer(count)})`;
    return count ? [{ special, color: SPECIAL[special], text }] : [];
  });
}

/** The one a cell is drawn as, where several are inside: NaN hides least. */
export function specialOf(flags: number): Special | null {
  return specialsOf(flags)[0] ?? null;
}

/**
 * Sequential: from dark indigo over teal to pale green; lightness rises evenly, so that it also reads without hue.
 * Diverging: blue, near white at zero, crimson; both arms darken alike, and blue against red survives color blindness.
 */
export const STOPS: Record<ColorMap, readonly string[]> = {
  sequential,
  diverging: diverging.light,
};

const tables = new Map<ColorMap, Uint8Array>();

/** 256 colors, three bytes each. */
export function table(map: ColorMap): Uint8Array {
  let made = tables.get(map);
  if (!made) {
    made = interpolate(STOPS[map]);
    tables.set(map, made);
  }
  return made;
}

export function cssColor(map: ColorMap, share: number): string {
  const at = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  const [red, green, blue] = table(map).subarray(at, at + 3);
  return `rgb(${red}, ${green}, ${blue})`;
}

export function rgb(hex: string): [number, number, number] {
  const bits = Number.parseInt(hex.slice(1), 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
}

function interpolate(stops: readonly string[]): Uint8Array {
  const colors = stops.map(rgb);
  const bytes = new Uint8Array(3 * 256);
  for (let i = 0; i < 256; i += 1) {
    const at = (i / 255) * (colors.length - 1);
    const low = Math.min(Math.floor(at), colors.length - 2);
    for (let channel = 0; channel < 3; channel += 1) {
      const from = colors[low]![channel]!;
      bytes[3 * i + channel] = Math.round(from + (colors[low + 1]![channel]! - from) * (at - low));
    }
  }
  return bytes;
}
