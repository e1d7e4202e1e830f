import { element } from "./dom.ts";

/** A table with a row of heads; a text is the head of its column, an empty one leaves it without. */
export function table(
  attributes: Parameters<typeof element>[1],
  heads: readonly (HTMLElement | string)[],
  rows: readonly HTMLElement[],
): HTMLTableElement {
  const head = (cell: HTMLElement | string) =>
    cell && (typeof cell === "string" ? element("th", { scope: "col" }, cell) : cell);
  return element(
    "table",
    attributes,
    element("thead", {}, element("tr", {}, ...heads.map((cell) => head(cell) || element("td")))),
    element("tbody", {}, ...rows),
  );
}
