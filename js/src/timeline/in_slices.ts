/** Longest stretch of work between two chances for the page to paint. */
const MOST_MS = 5;

/** Does work that pauses by `yield` in short stretches, and hands on what comes out; an aborted signal ends it. */
export function inSlices<T>(
  work: Generator<unknown, T>,
  done: (result: T) => void,
  signal: AbortSignal,
): void {
  const go = () => {
    if (signal.aborted) return;
    const until = performance.now() + MOST_MS;
    for (;;) {
      const step = work.next();
      if (step.done) {
        done(step.value);
        return;
      }
      if (performance.now() > until) break;
    }
    setTimeout(go, 0);
  };
  go();
}
