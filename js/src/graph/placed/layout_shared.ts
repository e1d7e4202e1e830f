import type { laidOut } from "./wrapping.ts";

type Layout = typeof laidOut;
type Start = (text: string) => unknown;

const KEY = Symbol.for("tvmdbg.layout");
const page = globalThis as { [KEY]?: Layout };

let start: Start = async (text) => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
};

/** Tells how a page that lets no script start from a Blob starts the one that lends the layout. */
export function startLayoutBy(other: Start): void {
  start = other;
}

/** The layout for this thread, lent by this text where nothing has lent it yet. */
export async function borrowedLayout(text: string): Promise<Layout> {
  if (!page[KEY]) await start(text);
  const layout = page[KEY];
  if (!layout) throw new Error("this page does not allow the view to start a worker");
  return layout;
}

export function shareLayout(layout: Layout): void {
  page[KEY] = layout;
}
