/**
 * What takes any number of values: an array spread as the arguments of a call ends in a `RangeError` where it is
 * long, of 65,535 values in the engine that draws figures.
 */

/** The largest of some numbers, and of `least`; NaN where one of them is. */
export function largest(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let found = least;
  for (const value of values) found = Math.max(found, value);
  return found;
}

/** The smallest of some numbers, and of `most`; NaN where one of them is. */
export function smallest(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let found = most;
  for (const value of values) found = Math.min(found, value);
  return found;
}

/** Adds values to the end of an array. */
export function append<T>(array: T[], values: Iterable<T>): void {
  for (const value of values) array.push(value);
}

/** Adds a value to those of a key. */
export function addTo<K, T>(groups: Map<K, T[]>, key: K, value: T): void {
  const known = groups.get(key);
  if (known) known.push(value);
  else groups.set(key, [value]);
}

/** Text of one character a byte. */
export function ofBytes(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(
      String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[]),
    );
  }
  return parts.join("");
}

/** Arguments of one call. */
const CHUNK = 4096;
