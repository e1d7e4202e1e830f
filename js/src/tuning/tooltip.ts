import { element } from "../shared/ui/dom.ts";

const APART = 14;

/** Beside the pointer, inside the view's box. */
export class Tooltip {
  readonly node = element("div", { class: "tvmdbg-tooltip", hidden: true });

  hide(): void {
    this.node.hidden = true;
  }

  show([title, ...rest]: readonly string[], x: number, y: number, root: HTMLElement): void {
    this.node.replaceChildren(
      element("strong", {}, title ?? ""),
      ...rest.map((line) => element("div", {}, line)),
    );
    this.node.hidden = false;
    const { offsetWidth, offsetHeight, style } = this.node;
    const left = x + APART + offsetWidth < root.clientWidth ? x + APART : x - APART - offsetWidth;
    const top = y + APART + offsetHeight < root.clientHeight ? y + APART : y - APART - offsetHeight;
    style.left = `${Math.max(2, left)}px`;
    style.top = `${Math.max(2, top)}px`;
  }
}
