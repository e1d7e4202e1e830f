import type { laidOut } from "./wrapping.ts";

type Layout = typeof laidOut;

const KEY = Symbol.for("tvmdbg.layout");
const page = globalThis as { [KEY]?: Layout };

/** The layout for this thread, where something has lent it. */
export function sharedLayout(): Layout | undefined {
  return page[KEY];
}

export function shareLayout(layout: Layout): void {
  page[KEY] = layout;
}
