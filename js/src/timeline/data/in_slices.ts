/** Longest stretch of work between two chances for the page to paint. */
const MOST_MS = 5;

/** Does work that pauses by `yield` in short stretches; an aborted signal ends it, and then nothing comes out. */
export function inSlices<T>(work: Generator<unknown, T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, failed) => {
    stretches(work, done, signal, failed);
  });
}

/** The same with a callback, which work of one stretch calls at once. */
export function stretches<T>(
  work: Generator<unknown, T>,
  done: (result: T) => void,
  signal: AbortSignal,
  failed?: (error: unknown) => void,
): void {
  const go = () => {
    if (signal.aborted) return;
    const until = performance.now() + MOST_MS;
    try {
      for (;;) {
        const step = work.next();
        if (step.done) {
          done(step.value);
          return;
        }
        if (performance.now() > until) break;
      }
    } catch (error) {
      if (!failed) throw error;
      failed(error);
      return;
    }
    setTimeout(go, 0);
  };
  go();
}
