import { duration, exactNs } from "../../shared/format.ts";

/** Below so many nanoseconds, all digits are read at a glance. */
const SHORT = 10_000;

/** A time to the last digit, and to read: `2,571,033 ns ≈ 2.571 ms`. */
export function exactly(ns: number): string {
  if (!Number.isFinite(ns)) return "unknown";
  const all = digits(ns);
  if (Math.abs(ns) < SHORT) return all;
  const sign = Number(ns.toPrecision(4)) === ns ? "=" : "≈";
  return `${all} ${sign} ${duration(ns)}`;
}

/** As many digits as a source prints; ≈ where the time has more. */
export function digits(ns: number): string {
  const text = exactNs(ns);
  const isAll = Number(text.replace(/,| ns/g, "")) === ns;
  return `${isAll ? "" : "≈ "}${text}`;
}
