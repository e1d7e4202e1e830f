import { element } from "../../shared/ui/dom.ts";
import { bitFields } from "./bits.ts";

/** Bits in parts that color, weight and gaps tell apart. */
export function bitsNode(text: string, fields: readonly number[]): HTMLElement {
  const parts = bitFields(text, fields).map(({ name, bits }) =>
    element(
      "span",
      { class: name ? `tvmdbg-bits-${name}` : undefined, title: name ?? "bits" },
      bits,
    ),
  );
  return element("span", { class: "tvmdbg-bits" }, ...parts);
}
