import { counted, duration } from "../../shared/format.ts";
import { element } from "../../shared/ui/dom.ts";
import { factList, type SliceDescriptions } from "../descriptions.ts";
import type { Hit, Scene } from "../tracks/scene.ts";

const APART = 14;

/** Tells what is under the pointer. */
export class Tooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip tvmdbg-timeline-tooltip", hidden: true });
  readonly #scene: Scene;
  readonly #words: SliceDescriptions;
  #shown = "";
  /** What was clicked: the details tell of it. */
  #dismissed = "";
  /** Its own size, told when it is another: to read it would lay the page out at every move. */
  #size = { width: 0, height: 0 };
  #place = { x: 0, y: 0, box: { width: 0, height: 0 } };

  constructor(scene: Scene, words: SliceDescriptions, signal: AbortSignal) {
    this.#scene = scene;
    this.#words = words;
    const size = new ResizeObserver((changes) => {
      const box = changes.at(-1)?.borderBoxSize[0];
      if (!box || this.node.hidden) return;
      this.#size = { width: box.inlineSize, height: box.blockSize };
      this.#move();
    });
    size.observe(this.node, { box: "border-box" });
    signal.addEventListener("abort", () => size.disconnect());
  }

  /** Nothing is under the pointer. */
  leave(): void {
    this.#dismissed = "";
    this.hide();
  }

  /** Hides until something else is under the pointer. */
  dismiss(): void {
    this.#dismissed = this.#shown;
    this.hide();
  }

  hide(): void {
    if (!this.node.hidden) this.node.hidden = true;
  }

  /** Shows a hit beside the point (x, y) of the view's root, inside its box. */
  show(hit: Hit, x: number, y: number, box: { width: number; height: number }): void {
    const key = "slice" in hit ? `${hit.slice} ${hit.instants}` : `gap ${hit.gap.from}`;
    if (key === this.#dismissed) return;
    this.#dismissed = "";
    if (key !== this.#shown || this.node.hidden) this.node.replaceChildren(...this.#content(hit));
    this.#shown = key;
    this.#put(x, y, box);
  }

  /** Shows lines there, the first in bold; hides where there are none. */
  tell(
    lines: readonly string[] | null,
    x: number,
    y: number,
    box: { width: number; height: number },
  ): void {
    if (!lines?.length) {
      this.leave();
      return;
    }
    const [first = "", ...others] = lines;
    this.#shown = "";
    this.node.replaceChildren(
      element("strong", {}, first),
      ...others.map((line) => element("div", {}, line)),
    );
    this.#put(x, y, box);
  }

  #put(x: number, y: number, box: { width: number; height: number }): void {
    this.#place = { x, y, box };
    if (this.node.hidden) this.node.hidden = false;
    this.#move();
  }

  #move(): void {
    const { x, y, box } = this.#place;
    const { width, height } = this.#size;
    const left = x + APART + width < box.width ? x + APART : x - APART - width;
    const top = y + APART + height < box.height ? y + APART : y - APART - height;
    this.node.style.transform = `translate(${Math.max(2, left)}px, ${Math.max(2, top)}px)`;
  }

  #content(hit: Hit): Node[] {
    if (!("slice" in hit)) {
      const { track, from, to } = hit.gap;
      const { name } = this.#scene.slices.tracks[track]!;
      return [
        element("strong", {}, `idle for ${duration(to - from)}`),
        element("div", {}, `${name}, from ${duration(from)} to ${duration(to)}`),
      ];
    }
    const { names, slices } = this.#scene;
    const node = slices.nodeOf(hit.slice);
    const recorded = slices.nameOf(hit.slice);
    const title = this.#words.title(hit.slice);
    const full = names.fullName(node) || recorded;
    const name = title === full ? "" : full;
    const others = hit.instants - 1;
    return [
      element("strong", {}, title),
      ...(name ? [element("div", { class: "tvmdbg-muted" }, name)] : []),
      factList(this.#words.ofSlice(hit.slice, true)),
      ...(others > 0
        ? [
            element(
              "div",
              { class: "tvmdbg-muted" },
              `and ${counted(others, "more slice")}, ${this.#words.noTime}, here`,
            ),
          ]
        : []),
    ];
  }
}
