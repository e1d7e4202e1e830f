import { element } from "../shared/dom.ts";

const AWAY = 14;

/** What is under the pointer, in words, beside it and inside the stage. */
export class Tooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", role: "tooltip", hidden: true });

  /** Null hides it. */
  show(text: string | null, x: number, y: number, stage: HTMLElement): void {
    this.node.hidden = text === null;
    if (text === null) return;
    if (this.node.textContent !== text) this.node.textContent = text;
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const left = x + AWAY + width <= stage.clientWidth ? x + AWAY : x - AWAY - width;
    const top = y + AWAY + height <= stage.clientHeight ? y + AWAY : y - AWAY - height;
    this.node.style.left = `${Math.max(0, left)}px`;
    this.node.style.top = `${Math.max(0, top)}px`;
  }
}
