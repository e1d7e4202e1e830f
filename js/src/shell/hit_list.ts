import { integer } from "../shared/format.ts";
import { div, element, raised, span } from "./dom.ts";

export const LISTED = 50;

export interface ListedHit {
  label: string;
  /** Text that separates items of one label, never cut: `#38`, `#38 · 1×64×8×8`. */
  id?: string | undefined;
  kind: string;
  /** Value to compare, at the right: a time, a size. */
  value: string;
  /** Full text for a row that is too short. */
  title?: string | undefined;
}

let lists = 0;

/** Hits of a search in a list below its field; the field keeps the keyboard and names the active row. */
export class HitList {
  readonly node: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #list: HTMLElement;
  readonly #more = div("tvmdbg-hits-more");
  readonly #go: (index: number) => void;
  #active = -1;

  /**
   * @param label Name of the list for screen readers: `nodes found`. @param go Called with the index of a chosen hit.
   */
  constructor(field: HTMLInputElement, label: string, go: (index: number) => void) {
    this.#field = field;
    this.#go = go;
    const id = `tvmdbg-hits-${lists++}`;
    this.#list = element("div", { id, role: "listbox", "aria-label": label });
    this.node = raised("tvmdbg-hits tvmdbg-scrolls", {}, this.#list, this.#more);
    // The field keeps the keyboard while the pointer is on the list.
    this.node.addEventListener("pointerdown", (event) => event.preventDefault());
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-expanded", "false");
    const controlled = field.getAttribute("aria-controls");
    field.setAttribute("aria-controls", controlled ? `${controlled} ${id}` : id);
  }

  get active(): number {
    return this.#active;
  }

  show(hits: readonly ListedHit[], total = hits.length, active = -1): void {
    const listed = hits.slice(0, LISTED);
    this.#list.replaceChildren(...listed.map((hit, index) => this.#row(hit, index)));
    const more = total - listed.length;
    this.#more.hidden = more <= 0;
    this.#more.textContent = more > 0 ? `and ${integer(more)} more` : "";
    this.#open(listed.length > 0);
    if (listed.length > 0) this.#activate(active);
  }

  hide(): void {
    this.#open(false);
  }

  key(event: KeyboardEvent): boolean {
    if (this.node.hidden) return false;
    const last = this.#list.children.length - 1;
    const at = this.#active;
    const to = {
      ArrowDown: at < last ? at + 1 : 0,
      ArrowUp: at > 0 ? at - 1 : last,
      PageDown: Math.min(last, at + 10),
      PageUp: Math.max(0, at - 10),
    }[event.key];
    if (to !== undefined) this.#activate(to);
    else if (event.key === "Enter" && at >= 0) this.#go(at);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  #open(open: boolean): void {
    this.node.hidden = !open;
    this.#field.setAttribute("aria-expanded", String(open));
    this.#activate(-1);
    if (open) this.node.scrollTop = 0;
  }

  #row({ label, id, kind, value, title }: ListedHit, index: number): HTMLElement {
    const row = element(
      "div",
      { role: "option", id: `${this.#list.id}-${index}`, "aria-selected": "false" },
      element(
        "span",
        { class: "tvmdbg-hits-name", title: title ?? `${id ?? ""} ${label}`.trim() },
        id && element("b", {}, `${id} `),
        element("span", {}, label),
      ),
      span("tvmdbg-muted", kind),
      span("tvmdbg-hits-value tvmdbg-numeric", value),
    );
    row.addEventListener("click", () => this.#go(index));
    return row;
  }

  #activate(row: number): void {
    this.#active = row;
    for (const [at, option] of [...this.#list.children].entries()) {
      option.setAttribute("aria-selected", String(at === row));
      if (at === row) option.scrollIntoView({ block: "nearest" });
    }
    const active = this.#field.getAttribute("aria-activedescendant");
    if (row >= 0) this.#field.setAttribute("aria-activedescendant", `${this.#list.id}-${row}`);
    // The field may refer to a row of another list.
    else if (active?.startsWith(`${this.#list.id}-`))
      this.#field.removeAttribute("aria-activedescendant");
  }
}
