/** Text of single values, as `tvmdbg_widgets/model/base/number_text.py` writes it. */

/** Digits of the significand, and the exponent below which steps get no smaller. */
type FloatFormat = readonly [digits: number, least: number];

const FLOAT32: FloatFormat = [24, -126];
const FLOAT64: FloatFormat = [53, -1022];
const FORMATS: Record<string, FloatFormat> = {
  float64: FLOAT64,
  float32: FLOAT32,
  float16: [11, -14],
  bfloat16: [8, -126],
  float8_e3m4: [5, -2],
  float8_e4m3: [4, -6],
  float8_e4m3b11fnuz: [4, -10],
  float8_e4m3fn: [4, -6],
  float8_e4m3fnuz: [4, -7],
  float8_e5m2: [3, -14],
  float8_e5m2fnuz: [3, -15],
  float8_e8m0fnu: [1, -127],
  float6_e2m3fn: [4, 0],
  float6_e3m2fn: [3, -2],
  float4_e2m1fn: [2, 0],
};

const MOST_DIGITS = 15;
const COMPUTED_DIGITS = 6;
const SHORT_LETTERS = 7;

function formatOf(dtype: string): FloatFormat {
  return FORMATS[dtype] ?? FORMATS[dtype.replace(/x\d+$/, "")] ?? FLOAT64;
}

/** The nearest number of a float format, ties to even; ignores its range. */
function nearest(value: number, format: FloatFormat): number {
  if (format === FLOAT64 || value === 0) return value;
  if (format === FLOAT32) return Math.fround(value);
  const [digits, least] = format;
  const step = 2 ** (Math.max(exponentOf(value), least) - digits + 1);
  const count = value / step;
  const whole = Math.round(count);
  const tie = Math.abs(count - Math.trunc(count)) === 0.5;
  return (tie && whole % 2 !== 0 ? whole - 1 : whole) * step;
}

function exponentOf(value: number): number {
  const size = Math.abs(value);
  const about = Math.floor(Math.log2(size));
  if (2 ** about > size) return about - 1;
  return 2 ** (about + 1) <= size ? about + 1 : about;
}

/** The fewest digits that give a number back in its own dtype; integers keep all that its precision has. */
export function numberText(value: number, dtype = "float64"): string {
  if (Number.isNaN(value)) return "nan";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const size = Math.abs(value);
  if (size === Infinity) return `${sign}inf`;
  const format = formatOf(dtype);
  const needed = Math.ceil(1 + format[0] * Math.log10(2));
  const most = Math.min(needed, MOST_DIGITS);
  if (Number.isInteger(size) && size < 10 ** most) return `${sign}${size}`;
  const [mantissa, exponent] = fewestDigits(size, format, needed).split("e") as [string, string];
  const digits = mantissa.replace(".", "").replace(/0+$/, "");
  const power = Number(exponent);
  if (power >= most || power < -4) {
    return `${sign}${digits[0]}${digits.length > 1 ? "." : ""}${digits.slice(1)}e${power}`;
  }
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
  const rest = digits.slice(power + 1);
  return `${sign}${whole}${rest ? `.${rest}` : ""}`;
}

function fewestDigits(size: number, format: FloatFormat, most: number): string {
  if (format === FLOAT64) return size.toExponential();
  const same = (text: string) => nearest(Number(text), format) === size;
  for (let count = 0; count < most; count++) {
    const text = size.toExponential(count);
    const even = isHalf(size, count)
      ? text.replace(/[13579](?=e)/, (digit) => String(Number(digit) - 1))
      : text;
    if (same(even)) return even;
    // A power of two has more room above than below, where the nearest decimal may be.
    const above = (Number(even) + 10 ** (Number(even.split("e")[1]) - count)).toExponential(count);
    if (same(above)) return above;
  }
  return size.toExponential(most - 1);
}

/** True if the number is exactly between two numbers of this many decimals. */
function isHalf(value: number, count: number): boolean {
  const longer = value.toExponential(count + 1);
  if (!longer.includes("5e")) return false;
  const exact = value.toExponential(100);
  return /^0*e/.test(exact.slice(longer.indexOf("e")));
}

/** A computed number with six digits and all digits before the point: `54137.6`. */
export function computedText(value: number): string {
  if (!Number.isFinite(value)) return numberText(value);
  const size = Math.abs(value);
  if (size >= 10 ** COMPUTED_DIGITS && size < 10 ** MOST_DIGITS) return value.toFixed(0);
  const rounded = Number(value.toPrecision(COMPUTED_DIGITS));
  return rounded === 0 ? "0" : numberText(rounded);
}

/** All digits of a number, in the dtype if that holds it. */
export function valueText(value: number, dtype: string): string {
  return truthText(value, dtype) || numberText(value, heldIn(value, dtype));
}

function truthText(value: number, dtype: string): string {
  if (dtype !== "bool") return "";
  return value === 0 ? "False" : value === 1 ? "True" : "";
}

/** Text of a number for the screen: with a true minus sign, and the views' names for NaN and infinities. */
export function screenText(text: string): string {
  const plain = text
    .replace(/^\((.*)\)$/, "$1")
    .replaceAll("nan", "NaN")
    .replaceAll("inf", "Inf");
  return (plain === "Inf" ? "+Inf" : plain).replaceAll("-", "−");
}

function heldIn(value: number, dtype: string): string {
  const format = formatOf(dtype);
  return format === FLOAT64 || nearest(value, format) !== value ? "float64" : dtype;
}

/** Up to four significant digits: `0.1235`, `1.5e-7`, `−2`; with a true minus sign. */
export function shortText(value: number): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "−Inf";
  const rounded = Number(value.toPrecision(4));
  const size = Math.abs(rounded);
  const text =
    size >= 1e6 || size < 1e-3 ? value.toExponential(3).replace(/\.?0*e\+?/, "e") : String(rounded);
  return text.replaceAll("-", "−");
}

/** The exact number if short, else four digits marked as rounded. */
export function aboutText(value: number, dtype = "float64"): string {
  if (!Number.isFinite(value)) return shortText(value);
  const text = valueText(value, dtype);
  if (text.length <= SHORT_LETTERS) return text === "-0" ? "0" : screenText(text);
  const rounded = nearest(Number(value.toPrecision(4)), formatOf(heldIn(value, dtype)));
  return rounded === value ? shortText(value) : `≈ ${shortText(value)}`;
}
