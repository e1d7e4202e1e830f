import { element } from "./dom.ts";

/** Distance from the pointer, CSS px. */
const APART = 14;

export type Fact = readonly [name: string, text: string];

export function factList(facts: readonly Fact[]): HTMLElement {
  return element(
    "dl",
    {},
    ...facts.map(([name, text]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, text)),
    ),
  );
}

/** Content of a tooltip: a title, and lines or facts below it. */
export function titled(title: string, ...rest: readonly (string | Node)[]): Node[] {
  const lines = rest.map((line) => (typeof line === "string" ? element("div", {}, line) : line));
  return [element("strong", {}, title), ...lines];
}

/** Tooltip beside the pointer, inside its view. */
export class Tooltip {
  readonly node: HTMLElement;
  readonly #root: HTMLElement;
  #shown = "";
  #dismissed = "";
  /** Size, measured after changes only: reading it would cause a layout at every move. */
  #size = { width: 0, height: 0 };
  #at = { x: 0, y: 0 };
  #room = { width: 0, height: 0 };

  constructor(root: HTMLElement, signal: AbortSignal, className = "") {
    this.#root = root;
    const look = `tvmdbg-tooltip ${className}`.trim();
    this.node = element("div", { class: look, role: "tooltip", hidden: true });
    const observer = new ResizeObserver((changes) => {
      const box = changes.at(-1)?.borderBoxSize[0];
      if (!box || this.node.hidden) return;
      this.#size = { width: box.inlineSize, height: box.blockSize };
      this.#place();
    });
    observer.observe(this.node, { box: "border-box" });
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Shows an item at a point of a part of the view; `content` is made anew if the key is another. */
  show(key: string, content: () => readonly Node[], part: HTMLElement, x: number, y: number): void {
    if (key === this.#dismissed) return;
    this.#dismissed = "";
    if (key !== this.#shown || this.node.hidden) this.node.replaceChildren(...content());
    this.#shown = key;
    const [own, box] = [part.getBoundingClientRect(), this.#root.getBoundingClientRect()];
    this.#at = { x: own.left - box.left + x, y: own.top - box.top + y };
    this.#room = box;
    this.node.hidden = false;
    this.#place();
  }

  hide(): void {
    if (!this.node.hidden) this.node.hidden = true;
  }

  /** Hides until the pointer is on another item. */
  dismiss(): void {
    this.#dismissed = this.#shown;
    this.hide();
  }

  leave(): void {
    this.#dismissed = "";
    this.hide();
  }

  #place(): void {
    const side = (at: number, size: number, room: number) =>
      Math.max(2, at + APART + size < room ? at + APART : at - APART - size);
    const left = side(this.#at.x, this.#size.width, this.#room.width);
    const top = side(this.#at.y, this.#size.height, this.#room.height);
    this.node.style.transform = `translate(${left}px, ${top}px)`;
  }
}

/** Shows lines beside a point of a part of the view, the first in bold; no lines hide it. */
export function tellLines(
  tooltip: Tooltip,
  lines: readonly string[] | null,
  part: HTMLElement,
  x: number,
  y: number,
): void {
  const [first = "", ...others] = lines ?? [];
  if (!lines?.length) tooltip.leave();
  else tooltip.show(lines.join("\n"), () => titled(first, ...others), part, x, y);
}
