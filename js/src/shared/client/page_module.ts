import { type Answer, isAbort } from "./request.ts";

const TIMEOUT_MS = 60_000;
const KEPT = Symbol.for("tvmdbg-widgets.code");

/** Asks for the text of a module, compressed by gzip. */
export type AskCode = (signal: AbortSignal) => Promise<Answer<null>>;

function kept(): Map<string, Promise<unknown>> {
  const page = globalThis as typeof globalThis & { [KEPT]?: Map<string, Promise<unknown>> };
  page[KEPT] ??= new Map();
  return page[KEPT];
}

/** A module by a name that tells its build from others: asked for once a page, by whoever needs it first. */
export async function pageModule<T>(name: string, ask: AskCode, signal: AbortSignal): Promise<T> {
  const known = kept().get(name);
  if (known) {
    try {
      return (await known) as T;
    } catch (error) {
      if (!isAbort(error) || signal.aborted) throw error;
      return pageModule(name, ask, signal); // the view that had asked has gone
    }
  }
  const module = imported(ask, signal);
  kept().set(name, module);
  module.catch(() => kept().delete(name));
  return (await module) as T;
}

async function imported(ask: AskCode, signal: AbortSignal): Promise<unknown> {
  const { buffers } = await ask(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
  const code = await unzipped(buffers[0]!);
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The text of bytes that were compressed by gzip. */
export function unzipped(bytes: DataView): Promise<string> {
  const packed = new Blob([bytes as DataView<ArrayBuffer>]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
