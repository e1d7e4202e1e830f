/** Long work on the main thread, in stretches between which the page paints and takes keys. */

const STRETCH_MS = 8;

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

/** Takes the steps in stretches; rejects where the signal aborts. */
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

/** The same with a callback, which work of one stretch calls at once; after an abort nothing comes out. */
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
