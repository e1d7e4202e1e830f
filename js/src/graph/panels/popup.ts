import { element, KEEP_KEYS } from "../../shared/ui/dom.ts";

/** A small window over the view that goes as soon as the keyboard is elsewhere: a menu, a few controls. */
export class Popup {
  readonly node = element("div", {
    class: "tvmdbg-more-menu tvmdbg-graph-popup",
    tabindex: -1,
    hidden: true,
    ...KEEP_KEYS,
  });
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
    const { node } = this;
    node.addEventListener("focusout", ({ relatedTarget }) => {
      if (!node.contains(relatedTarget as Node | null)) node.hidden = true;
    });
    node.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1, Home: 0, End: 0 }[event.key];
      if (by === undefined || (by === 0 && event.target instanceof HTMLInputElement)) return;
      event.preventDefault();
      const items = Array.from(node.querySelectorAll<HTMLElement>("button, input"));
      const at = items.indexOf(document.activeElement as HTMLElement);
      const to = event.key === "Home" ? 0 : event.key === "End" ? -1 : (at + by) % items.length;
      items.at(to)?.focus();
    });
  }

  /** Shows the items at a point of the view, inside it; the first of them gets the keyboard. */
  open(role: "menu" | "dialog", label: string, x: number, y: number, items: readonly Node[]): void {
    const { node } = this;
    node.setAttribute("role", role);
    node.setAttribute("aria-label", label);
    node.replaceChildren(...items);
    node.hidden = false;
    const { clientWidth, clientHeight } = this.#root;
    node.style.maxHeight = `${clientHeight - 8}px`;
    node.style.left = `${Math.max(4, Math.min(x, clientWidth - node.offsetWidth - 4))}px`;
    node.style.top = `${Math.max(4, Math.min(y, clientHeight - node.offsetHeight - 4))}px`;
    node.scrollTop = 0;
    (node.querySelector<HTMLElement>("button, input") ?? node).focus({ preventScroll: true });
  }

  /** Below a control of the view. */
  below(
    control: HTMLElement,
    role: "menu" | "dialog",
    label: string,
    items: readonly Node[],
  ): void {
    const seen = control.checkVisibility() ? control : this.#root.querySelector(".tvmdbg-more");
    const [at, root] = [seen ?? control, this.#root].map((each) => each.getBoundingClientRect());
    this.open(role, label, at!.left - root!.left, at!.bottom - root!.top + 2, items);
  }

  close(): void {
    this.#root.focus({ preventScroll: true });
    this.node.hidden = true;
  }
}
