/** Milliseconds of work between two pauses on the main thread. */
const SLICE = 8;

/** Lets the page do what waits: a frame, a key. Timers would wait for 4 ms more from the fifth in a row on. */
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

/** Takes all steps at once. */
export function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Takes the steps in slices of a few milliseconds, between which the main thread is free. */
export async function inSlices<Y, T>(
  steps: Generator<Y, T>,
  signal?: AbortSignal,
  onPause?: (at: Y) => void,
): Promise<T> {
  let started = performance.now();
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - started < SLICE) continue;
    onPause?.(step.value);
    await pause();
    started = performance.now();
  }
}
