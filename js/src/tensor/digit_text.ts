import { numberText } from "../shared/number_text.ts";

/** Whole numbers up to here are kept by the float32 in which a picture's values come. */
const MOST_WHOLE = 2 ** 24;
const MOST_ROUNDED = 6;

/** Texts of a value, the exact one in its dtype first where the picture knows it, then shorter ones marked as rounded. */
export function digitTexts(value: number, dtype: string): string[] {
  const whole = /^(u?int|bool)/.test(dtype);
  const known = !whole || Math.abs(value) < MOST_WHOLE;
  const full = value === 0 ? "0" : whole ? String(value) : numberText(value, dtype);
  const texts = known ? [full.replaceAll("-", "−")] : [];
  const digits = full.replace(/e.*|\D/g, "").replace(/^0+/, "").length;
  for (let count = Math.min(digits - 1, MOST_ROUNDED); count >= 1; count -= 1) {
    const text = `≈${rounded(value, count)}`;
    if (text.length < (texts.at(-1)?.length ?? Infinity)) texts.push(text);
  }
  return texts;
}

/** So many digits, in whichever form is shorter; with a true minus sign. */
function rounded(value: number, count: number): string {
  const near = Number(value.toPrecision(count));
  const plain = String(near);
  const bent = near.toExponential().replace("e+", "e");
  const text = plain.includes("e") || bent.length < plain.length ? bent : plain;
  return text.replaceAll("-", "−");
}
