/** Floating-point numbers as `model/number_text.py` writes them. */

/** The digits of a positive number and the power of ten of the first one, the fewest that give it back. */
function shortest(value: number, single: boolean): [digits: string, power: number] {
  const text = single ? shortestSingle(value) : value.toExponential();
  const [mantissa, power] = text.split("e");
  return [mantissa!.replace(".", ""), Number(power)];
}

function shortestSingle(value: number): string {
  const same = (text: string) => Math.fround(Number(text)) === value;
  for (let count = 0; count < 8; count++) {
    const text = value.toExponential(count);
    if (same(text)) return isHalf(value, count) ? evened(text) : text;
    // A power of two has more room above than below, where the nearest decimal may be.
    const above = (Number(text) + 10 ** (Number(text.split("e")[1]) - count)).toExponential(count);
    if (same(above)) return above;
  }
  return value.toExponential(8);
}

/** Whether the number lies in the very middle between two of so many decimals. */
function isHalf(value: number, count: number): boolean {
  const longer = value.toExponential(count + 1);
  if (!longer.includes("5e")) return false;
  const exact = value.toExponential(100);
  return /^0*e/.test(exact.slice(longer.indexOf("e")));
}

/** JavaScript rounds halves up, numpy to the even digit. */
function evened(text: string): string {
  return text.replace(/[13579](?=e)/, (digit) => String(Number(digit) - 1));
}

/**
 * A float64; a float32 where `limit` is given, the power of ten from which numpy writes it in scientific notation
 * (releases of numpy differ).
 */
export function floatText(value: number, limit?: number): string {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const size = Math.abs(value);
  if (size === Infinity) return `${sign}inf`;
  if (size < 1e16 && Number.isInteger(size)) return `${sign}${size}.0`;
  const [digits, power] = shortest(size, limit !== undefined);
  if (power >= (limit ?? 16) || size < 1e-4) {
    const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    const exponent = String(Math.abs(power)).padStart(2, "0");
    return `${sign}${mantissa}e${power < 0 ? "-" : "+"}${exponent}`;
  }
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
  return `${sign}${whole}.${digits.slice(power + 1) || "0"}`;
}
