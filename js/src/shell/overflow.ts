import * as icons from "../shared/drawing/icons.ts";
import { iconButton, onResize, raised, span } from "./dom.ts";

/** Width up to which a toolbar shows the least number of controls, and the further width per control. */
const NARROW = 700;
const FEW = 6;
const STEP = 80;
const MANY = 11;
const MARGIN = 8;
const CONTROLS = "button, select, input";

/** Controls of a toolbar that may move to its menu, in the toolbar's order. */
interface MenuControls {
  always: readonly HTMLElement[];
  /** Controls that move there if there is no room, the least needed first. */
  sometimes: readonly HTMLElement[];
}

export class Overflow {
  readonly node: HTMLElement;
  readonly #bar: HTMLElement;
  readonly #needless: readonly HTMLElement[];
  readonly #least: number;
  readonly #places: readonly (readonly [place: Comment, item: HTMLElement])[];
  readonly #button: HTMLButtonElement;
  readonly #menu = raised("tvmdbg-more-menu tvmdbg-column tvmdbg-scrolls", { role: "group" });

  constructor(bar: HTMLElement, { always, sometimes }: MenuControls, signal: AbortSignal) {
    this.#bar = bar;
    this.#needless = [...always, ...sometimes];
    this.#least = always.length;
    this.#places = Array.from(bar.children)
      .filter((child): child is HTMLElement => this.#needless.includes(child as HTMLElement))
      .map((item) => {
        const place = document.createComment("");
        item.before(place);
        return [place, item];
      });
    this.#button = iconButton(icons.MORE, "more", "More tools", () =>
      this.#open(this.#menu.hidden === true),
    );
    this.#menu.setAttribute("aria-label", "More tools");
    this.node = span("tvmdbg-more", this.#button, this.#menu);
    bar.lastElementChild!.before(this.node);
    bar.classList.add("tvmdbg-one-row");
    this.#open(false);
    this.#keep(this.#least);
    this.#listen(signal);
  }

  fit(): void {
    if (this.#bar.clientWidth === 0) return;
    const focused = this.#menu.contains(document.activeElement) ? document.activeElement : null;
    this.#keep(this.#least);
    for (let out = this.#least + 1; !this.#fits() && out <= this.#needless.length; out++) {
      this.#keep(out);
    }
    if (this.node.hidden) this.#open(false);
    if (focused?.checkVisibility()) (focused as HTMLElement).focus({ preventScroll: true });
  }

  #fits(): boolean {
    const { clientWidth, scrollWidth, children } = this.#bar;
    const most = FEW + Math.max(0, Math.floor((clientWidth - NARROW) / STEP));
    const shown = [...children].reduce(
      (sum, child) => sum + (child === this.node ? 1 : count(child)),
      0,
    );
    return scrollWidth <= clientWidth && shown <= Math.min(MANY, most);
  }

  #keep(out: number): void {
    const waiting = new Set(this.#needless.slice(0, out));
    for (const [place, item] of this.#places) {
      if (waiting.has(item)) this.#menu.append(item);
      else if (item.previousSibling !== place) place.after(item);
    }
    this.node.hidden = [...this.#menu.children].every((child) => (child as HTMLElement).hidden);
  }

  #open(open: boolean): void {
    this.#menu.hidden = !open;
    this.#button.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const { bottom } = this.#bar.getBoundingClientRect();
    const end = this.#bar.parentElement!.getBoundingClientRect().bottom;
    this.#menu.style.maxHeight = `${end - bottom - MARGIN}px`;
  }

  #walk({ key, target }: KeyboardEvent): boolean {
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (by === undefined || !(target instanceof HTMLButtonElement)) return false;
    const all = [...this.#menu.querySelectorAll<HTMLElement>(CONTROLS)].filter(
      (node) => node.checkVisibility() && !node.matches(":disabled"),
    );
    const at = all.indexOf(target);
    all.at(at < 0 && by < 0 ? -1 : (at + by) % all.length)?.focus();
    return true;
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
      if (this.#menu.hidden) return;
      if (event.key === "Escape") {
        this.#open(false);
        this.#button.focus({ preventScroll: true });
      } else if (!this.#walk(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    onResize([this.#bar], () => this.fit(), signal);
  }
}

function count(item: Element): number {
  if (!(item as HTMLElement).checkVisibility()) return 0;
  if (item.matches(`.tvmdbg-one-control, ${CONTROLS}`)) return 1;
  return [...item.querySelectorAll(CONTROLS)].filter((node) => node.checkVisibility()).length;
}
