/**
 * What one page keeps of the runs it shows.
 *
 * Every widget's module is its own copy (anywidget imports each from a Blob), and every view gets its own proxy of
 * the run's model, whose listeners go when that view goes. So the columns hang on the page, counted by their users.
 */
interface Kept {
  users: number;
  answers: Map<string, Promise<unknown>>;
}

const CACHE = Symbol.for("tvmdbg-widgets.page-cache");

function kept(): Map<string, Kept> {
  const page = globalThis as typeof globalThis & { [CACHE]?: Map<string, Kept> };
  page[CACHE] ??= new Map();
  return page[CACHE];
}

/** The answers kept for one run (by model reference and content); freed when its last user's signal aborts. */
export function pageCache(key: string, signal: AbortSignal): Map<string, Promise<unknown>> {
  const runs = kept();
  const run = runs.get(key) ?? { users: 0, answers: new Map() };
  run.users += 1;
  runs.set(key, run);
  signal.addEventListener("abort", () => {
    run.users -= 1;
    if (run.users === 0) runs.delete(key);
  });
  return run.answers;
}
