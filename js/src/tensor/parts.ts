import { errorText } from "../shared/client/message.ts";
import { screenText } from "../shared/number_text.ts";
import { element, KEEP_KEYS, select } from "../shared/ui/dom.ts";

type Child = Node | string | null | false;

/** A box of the inspector, styled as `.tvmdbg-tensor-<name>`. */
export function part(name: string, ...children: Child[]): HTMLDivElement {
  return element("div", { class: `tvmdbg-tensor-${name}` }, ...children);
}

/** A piece of a line, styled likewise. */
export function piece(name: string, ...children: Child[]): HTMLSpanElement {
  return element("span", { class: `tvmdbg-tensor-${name}` }, ...children);
}

/**
 * A field that is applied when it is left or on Enter, which gives the keys back to the view as Escape does; not where
 * what was typed is refused by false.
 */
export function field(
  label: string,
  attributes: Record<string, string | number>,
  apply: () => boolean | undefined,
  leave: () => void,
): HTMLInputElement {
  const input = element("input", {
    type: "text",
    "aria-label": label,
    title: label,
    ...attributes,
    ...KEEP_KEYS,
  });
  input.addEventListener("change", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Escape" || apply() !== false) leave();
  });
  return input;
}

/** A list of choices from which Escape gives the keys back to the view. */
export function list(
  leave: () => void,
  ...choice: Parameters<typeof select>
): ReturnType<typeof select> {
  const node = select(...choice);
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });
  return node;
}

/** A number as it is shown; in full at the pointer, and where it is copied. */
export function number(text: string, full = text): HTMLSpanElement {
  const node = piece("number", screenText(text));
  node.dataset.copy = full;
  if (full !== text) node.title = screenText(full);
  return node;
}

/** Words of less weight. */
export function muted(...children: Child[]): HTMLSpanElement {
  return element("span", { class: "tvmdbg-muted" }, ...children);
}

/** Says what could not be read, until it can. */
export class Failure {
  readonly node = element("div", { class: "tvmdbg-error", role: "alert", hidden: true });

  tell(what: string, error: unknown): void {
    this.node.textContent = `The ${what} could not be read: ${errorText(error)}`;
    this.node.hidden = false;
  }

  clear(): void {
    this.node.hidden = true;
  }
}
