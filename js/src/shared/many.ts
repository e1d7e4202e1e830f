/** Functions of arbitrarily many values: spreading 65,535 arguments is a `RangeError` in the figures' engine. */

/** The largest of `values` and `least`; NaN if one of them is. */
export function largest(values: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let result = least;
  for (const value of values) result = Math.max(result, value);
  return result;
}

/** The smallest of `values` and `most`; NaN if one of them is. */
export function smallest(values: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let result = most;
  for (const value of values) result = Math.min(result, value);
  return result;
}

export function append<T>(array: T[], values: Iterable<T>): void {
  for (const value of values) array.push(value);
}

export function addTo<K, T>(groups: Map<K, T[]>, key: K, value: T): void {
  const known = groups.get(key);
  if (known) known.push(value);
  else groups.set(key, [value]);
}

export function ofBytes(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(
      String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[]),
    );
  }
  return parts.join("");
}

const CHUNK = 4096;

/** First position in [low, high) with a value of at least `value`; else `high`. */
export function lowerBound(
  values: ArrayLike<number>,
  value: number,
  low = 0,
  high = values.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First position in [low, high) with a value above `value`; else `high`. */
export function upperBound(
  values: ArrayLike<number>,
  value: number,
  low = 0,
  high = values.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Long work on the main thread, in stretches between which the page paints and handles keys. */

const STRETCH_MS = 8;

/** Lets the page handle a frame or a key. Timers would wait 4 ms longer from the fifth in a row on. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

export function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export async function inStretches<Y, T>(
  steps: Generator<Y, T>,
  signal?: AbortSignal,
  onPause?: (at: Y) => void,
): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const step = stretch(steps);
    if (step.done) return step.value;
    onPause?.(step.value);
    await pause();
  }
}

/** Runs work in stretches and calls back with the result, at once after a single stretch; never after an abort. */
export async function stretches<T>(
  steps: Generator<unknown, T>,
  done: (result: T) => void,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    if (signal.aborted) return;
    const step = stretch(steps);
    if (step.done) return done(step.value);
    await pause();
  }
}

function stretch<Y, T>(steps: Generator<Y, T>): IteratorResult<Y, T> {
  const until = performance.now() + STRETCH_MS;
  for (;;) {
    const step = steps.next();
    if (step.done || performance.now() >= until) return step;
  }
}
