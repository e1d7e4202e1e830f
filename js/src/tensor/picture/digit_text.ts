import { aboutText, computedText, screenText, valueText } from "../../shared/number_text.ts";

/** Whole numbers up to here are kept by the float32 in which a picture's values come. */
const MOST_WHOLE = 2 ** 24;
const MOST_ROUNDED = 6;

/** Whether cells, which come as float32 or float64, hold a value as it is. */
function isHeld(value: number, dtype: string): boolean {
  return !/^u?int/.test(dtype) || Math.abs(value) < MOST_WHOLE;
}

/** A value of the dtype that came in a cell: as it is where that is short, else with four digits. */
export function cellText(value: number, dtype: string): string {
  const text = aboutText(value, dtype);
  return isHeld(value, dtype) || text.startsWith("≈") ? text : `≈ ${text}`;
}

/** A mean that came in a cell, with six digits. */
export function meanText(value: number): string {
  return screenText(computedText(value));
}

/**
 * Texts of a value in a picture: the exact one in its dtype, then with 6 to 1 digits, of which those that leave some out
 * are marked as rounded. Where the picture has rounded the value, all are.
 */
export function digitLevels(value: number, dtype: string): string[] {
  const full = value === 0 && dtype !== "bool" ? "0" : valueText(value, dtype);
  const exact = screenText(full);
  if (/^[FT]/.test(full)) return [exact];
  const digits = full.replace(/e.*|\D/g, "").replace(/^0+|0+$/g, "").length;
  const isKnown = isHeld(value, dtype);
  const levels = Array.from({ length: MOST_ROUNDED }, (_, k) => {
    const count = MOST_ROUNDED - k;
    return isKnown && digits <= count ? shorter(exact, value, digits) : `≈${rounded(value, count)}`;
  });
  return [isKnown ? exact : levels[0]!, ...levels];
}

/** A whole number with many zeros at its end is as exact with an exponent. */
function shorter(exact: string, value: number, digits: number): string {
  const bent = rounded(value, Math.max(1, digits));
  return bent.length < exact.length ? bent : exact;
}

/** So many digits, in whichever form is shorter. */
function rounded(value: number, count: number): string {
  const near = Number(value.toPrecision(count));
  const plain = String(near);
  const bent = near.toExponential().replace("e+", "e");
  return screenText(plain.includes("e") || bent.length < plain.length ? bent : plain);
}
