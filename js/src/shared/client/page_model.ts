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

/** A map that all our modules on a page share. */
function onPage<T>(name: string): Map<string, T> {
  const page = globalThis as { [key: symbol]: unknown };
  const key = Symbol.for(`tvmdbg-widgets.${name}`);
  page[key] ??= new Map();
  return page[key] as Map<string, T>;
}

/** Shares one answer by its key; asks again if the view that asked first is gone. */
export async function shared<T>(
  kept: Map<string, Promise<unknown>>,
  key: string,
  ask: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const known = kept.get(key) as Promise<T> | undefined;
  if (known) {
    try {
      return await known;
    } catch (error) {
      if (!isAbort(error) || signal?.aborted) throw error;
      return shared(kept, key, ask, signal);
    }
  }
  const answer = ask();
  kept.set(key, answer);
  answer.catch(() => kept.delete(key));
  return answer;
}

/** Cached answers of one run (by model reference and content); freed when its last user's signal aborts. */
export function pageCache(key: string, signal: AbortSignal): Map<string, Promise<unknown>> {
  const runs = onPage<CachedRun>("page-cache");
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

/** Asks for the text of a module, compressed with gzip. */
type AskCode = (signal: AbortSignal) => Promise<Answer<null>>;

/** Module by a name that identifies its build; asked for once a page, by the first view that needs it. */
export function pageModule<T>(name: string, ask: AskCode, signal: AbortSignal): Promise<T> {
  return shared(onPage("code"), name, () => imported<T>(ask, signal), signal);
}

async function imported<T>(ask: AskCode, signal: AbortSignal): Promise<T> {
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
    const known = this.#state[name];
    if (Object.is(known, value) || JSON.stringify(known) === JSON.stringify(value)) return;
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
