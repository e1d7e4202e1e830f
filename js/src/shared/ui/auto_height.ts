import type { ViewOptions } from "./view_options.ts";

/** A view that takes the height it has room for is never lower, CSS px. */
const LEAST = 480;
/** Where nothing scrolls and the window is as high as what it shows, its height says nothing. */
const UNKNOWN = 720;
/** What stays free above and below a view in the part of the notebook that is seen, CSS px. */
const AROUND = 16;

/** Options whose height "auto" is that of the notebook's viewport, but no more than `most`. */
export function withAutoHeight<T extends { height: unknown }>(
  root: HTMLElement,
  options: ViewOptions<T>,
  signal: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): ViewOptions<T> {
  const room = new Room(root, most, signal);
  return {
    get: (name) => {
      const value = options.get(name);
      return name === "height" && value === "auto" ? (room.height as never) : value;
    },
    set: (name, value) => options.set(name, value),
    onChange: (name, listener, signal) => {
      options.onChange(name, listener, signal);
      if (name === "height") room.onChange(listener, signal);
    },
  };
}

/** The part of a notebook that is seen at once. */
class Room {
  readonly #root: HTMLElement;
  readonly #most: number;
  readonly #listeners = new Set<() => void>();
  readonly #observer = new ResizeObserver(() => this.#look());
  #scroller: Element | null = null;
  #height = 0;

  constructor(root: HTMLElement, most: number, signal: AbortSignal) {
    this.#root = root;
    this.#most = most;
    this.#observer.observe(root);
    addEventListener("resize", () => this.#look(), { signal });
    signal.addEventListener("abort", () => this.#observer.disconnect());
  }

  get height(): number {
    if (!this.#height) this.#height = this.#measured();
    return this.#height;
  }

  onChange(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener));
  }

  /** Once the view is in the page, and when the notebook has another size. */
  #look(): void {
    const height = this.#measured();
    if (height === this.#height) return;
    this.#height = height;
    for (const listener of this.#listeners) listener();
  }

  #measured(): number {
    const scroller = scrollerOf(this.#root);
    if (scroller !== this.#scroller) {
      if (this.#scroller) this.#observer.unobserve(this.#scroller);
      if (scroller) this.#observer.observe(scroller);
      this.#scroller = scroller;
    }
    const seen = scroller?.clientHeight ?? windowHeight();
    return Math.min(this.#most, Math.max(LEAST, Math.round(seen - AROUND)));
  }
}

/** The innermost element around another that scrolls it up and down; null where the window does. */
function scrollerOf(root: HTMLElement): Element | null {
  for (let at = root.parentElement; at && at !== document.body; at = at.parentElement) {
    const { overflowY, maxHeight } = getComputedStyle(at);
    // An output that is cut at its own height is no viewport.
    if (/auto|scroll/.test(overflowY) && maxHeight === "none" && isBounded(at)) return at;
  }
  return null;
}

/** Whether an element has its height from what is around it, not from what is in it. */
function isBounded(at: Element): boolean {
  return at.clientHeight > 0 && at.scrollHeight > at.clientHeight;
}

/** A frame that grows with what it shows has no height of its own. */
function windowHeight(): number {
  const grows = window !== window.parent && document.body.scrollHeight >= innerHeight - AROUND;
  return grows ? UNKNOWN : innerHeight;
}
