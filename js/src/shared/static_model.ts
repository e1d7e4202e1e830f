import type { AnyModel } from "@anywidget/types";

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
    if (Object.is(this.#state[name], value)) return;
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
    void this.#ask(message).then(({ content, buffers }) =>
      this.#emit("msg:custom", content, buffers),
    );
  }

  #emit(event: string, ...args: unknown[]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      (listener as (...each: unknown[]) => void)(...args);
    }
  }
}

export function asAnyModel(model: StaticModel): AnyModel {
  return model as unknown as AnyModel;
}
