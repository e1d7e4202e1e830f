import type { Rectangle, Size } from "../shared/drawing/canvas.ts";
import { element } from "./dom.ts";

/** Distances from the pointer, the target and the window's edge; how far from the pointer it may be; CSS px. */
const APART = 14;
const GAP = 6;
const EDGE = 2;
const NEAR = 160;
const MOST_LINES = 3;
/** Names in a file may have any length. */
const MOST_LETTERS = 4000;

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

/** Part of a view that a tooltip must not cover, in CSS px of its stage. */
export type Target = Readonly<Rectangle>;

/** Tooltip of at most three lines beside its target, in the browser's layer above the page. */
export class Tooltip {
  readonly node: HTMLElement;
  #shown = "";
  #dismissed = "";
  /** Size, measured after changes only: reading it would cause a layout at every move. */
  #size = { width: 0, height: 0 };
  /** Pointer and target in the window. */
  #at = { x: 0, y: 0 };
  #target: Target | null = null;

  constructor(signal: AbortSignal, className = "") {
    const look = `tvmdbg-tooltip ${className}`.trim();
    this.node = element("div", { class: look, role: "tooltip", popover: "manual", hidden: true });
    const observer = new ResizeObserver((changes) => {
      const box = changes.at(-1)?.borderBoxSize[0];
      if (!box || this.node.hidden) return;
      this.#size = { width: box.inlineSize, height: box.blockSize };
      this.#place();
    });
    observer.observe(this.node, { box: "border-box" });
    const scrolled = ({ target }: Event) => {
      if (target instanceof Node && target.contains(this.node)) this.hide();
    };
    addEventListener("scroll", scrolled, { capture: true, passive: true, signal });
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Shows an item at a point of a part of the view; `content` is made anew if the key is another. */
  show(
    key: string,
    content: () => readonly Node[],
    part: HTMLElement,
    x: number,
    y: number,
    target: Target | null = null,
  ): void {
    if (key === this.#dismissed || !this.node.isConnected) return;
    this.#dismissed = "";
    if (key !== this.#shown || this.node.hidden)
      this.node.replaceChildren(...content().slice(0, MOST_LINES));
    this.#shown = key;
    const own = part.getBoundingClientRect();
    this.#at = { x: own.left + x, y: own.top + y };
    this.#target = target && { ...target, x: own.left + target.x, y: own.top + target.y };
    this.node.hidden = false;
    this.node.togglePopover?.(true);
    this.#place();
  }

  /** Shows lines there, the first in bold; no lines hide it. */
  tell(
    lines: readonly string[] | null,
    part: HTMLElement,
    x: number,
    y: number,
    target: Target | null = null,
  ): void {
    const [first = "", ...others] = (lines ?? []).map((line) => line.slice(0, MOST_LETTERS));
    if (!lines?.length) this.leave();
    else this.show(lines.join("\n"), () => titled(first, ...others), part, x, y, target);
  }

  hide(): void {
    if (this.node.hidden) return;
    this.node.hidden = true;
    if (this.node.isConnected) this.node.togglePopover?.(false);
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
    const room = { width: innerWidth, height: innerHeight };
    const { x, y } = placeBeside(this.#at, this.#target, this.#size, room);
    this.node.style.transform = `translate(${x}px, ${y}px)`;
  }
}

/** Corner of a tooltip: below its target or above it, beside a tall one, else beside the pointer. */
export function placeBeside(
  at: { readonly x: number; readonly y: number },
  target: Target | null,
  size: Size,
  room: Size,
): { x: number; y: number } {
  const within = (place: number, length: number, most: number) =>
    Math.max(EDGE, Math.min(place, most - length - EDGE));
  const { x, y, width, height } = target ?? { ...at, width: 0, height: 0 };
  const below = Math.max(y + height + GAP, at.y + APART);
  const above = Math.min(y, at.y) - GAP - size.height;
  const right = Math.max(x + width + GAP, at.x + APART);
  const left = Math.min(x, at.x) - GAP - size.width;
  const across = within(at.x + (target ? -APART : APART), size.width, room.width);
  const down = within(at.y, size.height, room.height);
  const fits = ([left, top]: readonly number[]) =>
    left! >= 0 &&
    top! >= 0 &&
    left! + size.width <= room.width &&
    top! + size.height <= room.height;
  const places = [
    [across, below, y + height - at.y],
    [across, above, at.y - y],
    [right, down, x + width - at.x],
    [left, down, at.x - x],
  ].filter(fits);
  const [place] = [...places.filter(([, , far]) => far! <= NEAR), ...places];
  if (place) return { x: place[0]!, y: place[1]! };
  return target ? placeBeside(at, null, size, room) : { x: across, y: EDGE };
}
