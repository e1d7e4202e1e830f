import { element } from "../../shared/ui/dom.ts";

const AWAY = 12;

/** The value at a cell, beside it and inside the stage. */
export class ValueTooltip {
  readonly node = element("div", {
    class: "tvmdbg-tooltip tvmdbg-tensor-tooltip",
    role: "tooltip",
    hidden: true,
  });

  /** Shows lines beside a place of the stage, the first in bold; none hides it. */
  show(lines: readonly string[], at: { x: number; y: number } | null, stage: HTMLElement): void {
    this.node.hidden = at === null || lines.length === 0;
    if (!at || this.node.hidden) return;
    const [first, ...rest] = lines;
    this.node.replaceChildren(
      element("strong", {}, first),
      ...rest.map((line) => element("div", {}, line)),
    );
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const { clientWidth, clientHeight } = stage;
    const x = at.x + AWAY + width <= clientWidth ? at.x + AWAY : at.x - AWAY - width;
    const y = at.y + AWAY + height <= clientHeight ? at.y + AWAY : at.y - AWAY - height;
    this.node.style.transform = `translate(${Math.max(0, x)}px, ${Math.max(0, y)}px)`;
  }
}
