import { button, element } from "./dom.ts";

/** Keeps a toolbar in one row: what has no room waits behind a button, the least needed first. */
export class Overflow {
  /** The button and what waits behind it, for a place in the toolbar. */
  readonly node: HTMLElement;
  readonly #bar: HTMLElement;
  readonly #needless: readonly HTMLElement[];
  readonly #places: readonly (readonly [place: Comment, item: HTMLElement])[];
  readonly #button: HTMLButtonElement;
  readonly #menu = element("div", { class: "tvmdbg-more-menu", role: "group", hidden: true });

  /**
   * @param bar     holds `items` already; `node` is put before its last child.
   * @param items   what may wait, the least needed first.
   */
  constructor(bar: HTMLElement, items: readonly HTMLElement[], signal: AbortSignal) {
    this.#bar = bar;
    this.#needless = items;
    this.#places = Array.from(bar.children)
      .filter((each): each is HTMLElement => items.includes(each as HTMLElement))
      .map((item) => {
        const place = document.createComment("");
        item.before(place);
        return [place, item];
      });
    this.#button = button("⋯", "More tools", () => this.#open(this.#menu.hidden));
    this.#menu.setAttribute("aria-label", "More tools");
    this.node = element("span", { class: "tvmdbg-more" }, this.#button, this.#menu);
    bar.lastElementChild!.before(this.node);
    bar.classList.add("tvmdbg-one-row");
    this.#open(false);
    this.#listen(signal);
  }

  /** To be called when what stands in the bar has changed its size. */
  fit(): void {
    const bar = this.#bar;
    if (bar.clientWidth === 0) return;
    const focused = this.#menu.contains(document.activeElement) ? document.activeElement : null;
    this.#keep(0);
    for (let out = 1; bar.scrollWidth > bar.clientWidth && out <= this.#needless.length; out++) {
      this.#keep(out);
    }
    if (focused?.checkVisibility()) (focused as HTMLElement).focus({ preventScroll: true });
  }

  /** Takes so many of the least needed items out of the row. */
  #keep(out: number): void {
    const waiting = new Set(this.#needless.slice(0, out));
    for (const [place, item] of this.#places) {
      if (waiting.has(item)) this.#menu.append(item);
      else if (item.previousSibling !== place) place.after(item);
    }
    this.node.hidden = out === 0;
    if (out === 0) this.#open(false);
  }

  #open(open: boolean): void {
    this.#menu.hidden = !open;
    this.#button.setAttribute("aria-expanded", String(open));
  }

  #listen(signal: AbortSignal): void {
    const outside = (target: EventTarget | null) => !this.node.contains(target as Node | null);
    this.node.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && outside(relatedTarget)) this.#open(false);
    });
    document.addEventListener(
      "pointerdown",
      ({ target }) => {
        if (outside(target)) this.#open(false);
      },
      { signal, capture: true },
    );
    this.node.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || this.#menu.hidden) return;
      event.stopPropagation();
      this.#open(false);
      this.#button.focus({ preventScroll: true });
    });
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(this.#bar);
    signal.addEventListener("abort", () => observer.disconnect());
  }
}
