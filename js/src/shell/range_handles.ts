import type { Rectangle } from "../shared/drawing/canvas.ts";
import { tidy, type ValueAxis } from "../shared/drawing/value_axis.ts";
import { element, KEEP_KEYS } from "./dom.ts";

const NAMES = ["Low", "High"] as const;
const STRIDE = 10;
const KEY_STEPS = 100;

/** What a range belongs to. */
export interface RangeOwner {
  /** Sets the range; null resets it. */
  limit(range: readonly [low: number, high: number] | null): void;
  words(value: number): string;
}

export class RangeHandles {
  readonly nodes: HTMLElement[];
  #plot: Rectangle | null = null;
  #axis: ValueAxis | null = null;
  #range: [number, number] = [0, 0];

  constructor(readonly owner: RangeOwner) {
    this.nodes = NAMES.map((name, end) => {
      const node = element("div", {
        class: "tvmdbg-handle",
        role: "slider",
        tabindex: 0,
        "aria-label": `${name} end of the color range`,
        title: "drag, or arrow keys; Escape resets",
        ...KEEP_KEYS,
      });
      this.#listen(node, end);
      return node;
    });
  }

  /** Puts the handles at the ends of the colors' range, or of the axis if that is shorter, in a box of the parent; null hides them. */
  place(
    plot: Rectangle | null,
    axis: ValueAxis | null,
    range: readonly [low: number, high: number] | null,
  ): void {
    this.#plot = plot;
    this.#axis = axis;
    if (range) this.#range = [...range];
    this.nodes.forEach((node, end) => {
      const value = this.#range[end]!;
      node.hidden = !plot || !axis || axis.single || !range;
      if (node.hidden || !plot || !axis) return;
      const share = axis.share(value);
      node.style.left = `${plot.x + Math.min(1, Math.max(0, share)) * plot.width}px`;
      node.style.top = `${plot.y - 6}px`;
      node.style.height = `${plot.height + 14}px`;
      node.setAttribute("aria-valuenow", String(value));
      node.setAttribute("aria-valuetext", this.owner.words(value));
    });
  }

  #move(end: number, share: number): void {
    if (!this.#axis || !this.#plot) return;
    const value = tidy(this.#axis, share, 1 / this.#plot.width);
    const range: [number, number] = [...this.#range];
    range[end] = value;
    if (range[1] > range[0]) this.owner.limit(range);
  }

  #listen(node: HTMLElement, end: number): void {
    let held = false;
    node.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.stopPropagation();
      held = true;
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointermove", (event) => {
      event.stopPropagation();
      const box = node.parentElement?.getBoundingClientRect();
      if (held && box && this.#plot) {
        this.#move(end, (event.clientX - box.x - this.#plot.x) / this.#plot.width);
      }
    });
    for (const over of ["pointerup", "pointercancel"] as const) {
      node.addEventListener(over, () => {
        held = false;
      });
    }
    node.addEventListener("dblclick", () => this.owner.limit(null));
    node.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
      if (event.key === "Escape") this.owner.limit(null);
      else if (step !== undefined && this.#axis) {
        const by = (step * (event.shiftKey ? STRIDE : 1)) / KEY_STEPS;
        this.#move(end, Math.min(1, Math.max(0, this.#axis.share(this.#range[end]!) + by)));
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
}
