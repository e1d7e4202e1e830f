import type { AnyModel } from "@anywidget/types";
import { errorText } from "./message.ts";

type Listener = (...args: never[]) => void;

/** What answers the messages of a page's models: a JSON value and its buffers. */
export type Ask = (message: unknown) => Promise<{ content: unknown; buffers: DataView[] }>;

/** A model of a page without a kernel; behaves towards a view as anywidget's models do. */
export class StaticModel {
  readonly #state: Record<string, unknown>;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #ask: Ask;
  #changed = new Set<string>();

  constructor(state: Record<string, unknown>, ask: Ask) {
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
      (listener as (...each: unknown[]) => void)(...args);
    }
  }
}

/** The model as one view has it: the listeners that the view adds go when its signal aborts, and no others. */
export function modelOfView(model: StaticModel, signal: AbortSignal): AnyModel {
  const own: { event: string; listener: Listener; added: Listener }[] = [];
  const off = (event?: string | null, listener?: Listener | null) => {
    for (let i = own.length - 1; i >= 0; i--) {
      const each = own[i]!;
      if ((event && event !== each.event) || (listener && listener !== each.listener)) continue;
      model.off(each.event, each.added);
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

/** Whether two values of a trait are the same in content. */
function same(a: unknown, b: unknown): boolean {
  return Object.is(a, b) || JSON.stringify(a) === JSON.stringify(b);
}
