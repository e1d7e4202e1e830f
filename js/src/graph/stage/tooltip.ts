import { element } from "../../shared/ui/dom.ts";

const AWAY = 14;
/** A file may hold names of any length. */
const MOST_LETTERS = 4000;

/** What is under the pointer, in words, beside it and inside the stage. */
export class Tooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", role: "tooltip", hidden: true });

  /** Null hides it. */
  show(said: string | null, x: number, y: number, stage: HTMLElement): void {
    this.node.hidden = said === null;
    if (said === null) return;
    const text = said.slice(0, MOST_LETTERS);
    if (this.node.textContent !== text) this.node.textContent = text;
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const left = x + AWAY + width <= stage.clientWidth ? x + AWAY : x - AWAY - width;
    const top = y + AWAY + height <= stage.clientHeight ? y + AWAY : y - AWAY - height;
    this.node.style.left = `${Math.max(0, left)}px`;
    this.node.style.top = `${Math.max(0, top)}px`;
  }
}
