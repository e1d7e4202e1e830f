import type { ViewOptions } from "../shared/ui/view_options.ts";
import type { TensorOptions } from "./options.ts";

const REST_MS = 250;

/** All that is read back but for the height, which the host sets. */
export type Kept = Omit<TensorOptions, "height">;

/** Tells Python what is shown, once things rest. */
export class Memory {
  readonly #options: ViewOptions<TensorOptions>;
  readonly #told = new Map<string, string>();
  #kept: Partial<Kept> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ViewOptions<TensorOptions>, signal: AbortSignal) {
    this.#options = options;
    signal.addEventListener("abort", () => clearTimeout(this.#timer));
  }

  keep(kept: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...kept };
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const [name, value] of Object.entries(this.#kept)) {
        this.#told.set(name, JSON.stringify(value));
        this.#options.set(name as keyof Kept, value as never);
      }
    }, REST_MS);
  }

  /** Whether a change of the trait is only this view's own word coming back. */
  isEcho(name: keyof Kept): boolean {
    return JSON.stringify(this.#options.get(name)) === this.#told.get(name);
  }
}
