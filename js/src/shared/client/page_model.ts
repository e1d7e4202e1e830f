import type { AnyModel } from "@anywidget/types";
import { type Answer, errorText, isAbort } from "./request.ts";

/**
 * Answers that one page keeps of a run.  Every widget's module is its own copy (anywidget imports each from a Blob),
 * and every view gets its own proxy of the run's model, whose listeners go when that view goes. So the columns hang on
 * the page, counted by their users.
 */
interface CachedRun {
  users: number;
  answers: Map<string, Promise<unknown>>;
}

const CACHE = Symbol.for("tvmdbg-widgets.page-cache");

function keptRuns(): Map<string, CachedRun> {
  const page = globalThis as typeof globalThis & { [CACHE]?: Map<string, CachedRun> };
  page[CACHE] ??= new Map();
  return page[CACHE];
}

/** Cached answers of one run (by model reference and content); freed when its last user's signal aborts. */
export function pageCache(key: string, signal: AbortSignal): Map<string, Promise<unknown>> {
  const runs = keptRuns();
  const run = runs.get(key) ?? { users: 0, answers: new Map() };
  run.users += 1;
  runs.set(key, run);
  signal.addEventListener("abort", () => {
    run.users -= 1;
    if (run.users === 0) runs.delete(key);
  });
  return run.answers;
}

const TIMEOUT_MS = 60_000;
const KEPT = Symbol.for("tvmdbg-widgets.code");

/** Asks for the text of a module, compressed with gzip. */
export type AskCode = (signal: AbortSignal) => Promise<Answer<null>>;

function keptModules(): Map<string, Promise<unknown>> {
  const page = globalThis as typeof globalThis & { [KEPT]?: Map<string, Promise<unknown>> };
  page[KEPT] ??= new Map();
  return page[KEPT];
}

/** Module by a name that identifies its build; asked for once a page, by the first view that needs it. */
export async function pageModule<T>(name: string, ask: AskCode, signal: AbortSignal): Promise<T> {
  const known = keptModules().get(name);
  if (known) {
    try {
      return (await known) as T;
    } catch (error) {
      if (!isAbort(error) || signal.aborted) throw error;
      return pageModule(name, ask, signal); // the view that asked is gone
    }
  }
  const module = imported(ask, signal);
  keptModules().set(name, module);
  module.catch(() => keptModules().delete(name));
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

export function unzipped(bytes: DataView): Promise<string> {
  const packed = new Blob([bytes as DataView<ArrayBuffer>]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

type Listener = (...args: never[]) => void;

/** Replies to the messages of a page's models with a JSON value and its buffers. */
export type AnswerMessage = (
  message: unknown,
) => Promise<{ content: unknown; buffers: DataView[] }>;

export class StaticModel {
  readonly #state: Record<string, unknown>;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #ask: AnswerMessage;
  #changed = new Set<string>();

  constructor(state: Record<string, unknown>, ask: AnswerMessage) {
    this.#state = { ...state };
    this.#ask = ask;
  }

  get(name: string): unknown {
    return this.#state[name];
  }

  set(name: string, value: unknown): void {
    if (same(this.#state[name], value)) return;
    this.#state[name] = value;
    this.#changed.add(name);
    this.#emit(`change:${name}`);
    this.#emit("change");
  }

  save_changes(): void {
    this.#changed.clear();
  }

  on(event: string, listener: Listener): void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners.add(listener));
  }

  off(event?: string | null, listener?: Listener | null): void {
    if (!event) this.#listeners.clear();
    else if (!listener) this.#listeners.delete(event);
    else this.#listeners.get(event)?.delete(listener);
  }

  send(message: unknown): void {
    const id = (message as { id?: unknown } | null)?.id;
    const failed = (error: unknown) => ({ content: { id, error: errorText(error) }, buffers: [] });
    void this.#ask(message)
      .catch(failed)
      .then(({ content, buffers }) => this.#emit("msg:custom", content, buffers));
  }

  #emit(event: string, ...args: unknown[]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      (listener as (...values: unknown[]) => void)(...args);
    }
  }
}

export function modelOfView(model: StaticModel, signal: AbortSignal): AnyModel {
  const own: { event: string; listener: Listener; added: Listener }[] = [];
  const off = (event?: string | null, listener?: Listener | null) => {
    for (let i = own.length - 1; i >= 0; i--) {
      const item = own[i]!;
      if ((event && event !== item.event) || (listener && listener !== item.listener)) continue;
      model.off(item.event, item.added);
      own.splice(i, 1);
    }
  };
  signal.addEventListener("abort", () => off());
  const view = {
    get: (name: string) => model.get(name),
    set: (name: string, value: unknown) => model.set(name, value),
    save_changes: () => model.save_changes(),
    send: (message: unknown) => model.send(message),
    on: (event: string, listener: Listener) => {
      const added: Listener = (...args) => listener(...args);
      own.push({ event, listener, added });
      model.on(event, added);
    },
    off,
  };
  return view as unknown as AnyModel;
}

function same(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || JSON.stringify(a) === JSON.stringify(b);
}
