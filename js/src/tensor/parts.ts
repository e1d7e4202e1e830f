import { element } from "../shared/dom.ts";

type Child = Node | string | null | false;

/** A box of the inspector, styled as `.tvmdbg-tensor-<name>`. */
export function part(name: string, ...children: Child[]): HTMLDivElement {
  return element("div", { class: `tvmdbg-tensor-${name}` }, ...children);
}

/** A piece of a line, styled likewise. */
export function piece(name: string, ...children: Child[]): HTMLSpanElement {
  return element("span", { class: `tvmdbg-tensor-${name}` }, ...children);
}

/** Words of less weight. */
export function muted(...children: Child[]): HTMLSpanElement {
  return element("span", { class: "tvmdbg-muted" }, ...children);
}
