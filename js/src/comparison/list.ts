import { element, KEEP_KEYS } from "../shared/ui/dom.ts";
import { RowsInView } from "../shared/ui/rows_in_view.ts";
import { type ComparisonData, LETTER, type Side } from "./data.ts";
import type { Row, Rows } from "./rows.ts";

/** Height of a line with all beside each other, and with the change below, CSS px. */
const FLAT = 22;
const TALL = 38;

/** The differences, of which only those in sight are there. */
export class DifferenceList {
  readonly node: HTMLElement;
  readonly #data: ComparisonData;
  readonly #rows: Rows;
  readonly #inside = element("div", { class: "tvmdbg-comparison-rows" });
  readonly #empty = element("p", { class: "tvmdbg-muted tvmdbg-comparison-none" });
  readonly #id = `tvmdbg-difference-${Math.random().toString(36).slice(2)}-`;
  readonly #lines: RowsInView;
  #active = -1;

  constructor(
    data: ComparisonData,
    rows: Rows,
    events: { pick: (line: number) => void; toggle: (line: number) => void },
    signal: AbortSignal,
  ) {
    this.#data = data;
    this.#rows = rows;
    this.node = element(
      "div",
      { class: "tvmdbg-comparison-list", tabindex: 0, "aria-label": "Differences", ...KEEP_KEYS },
      this.#empty,
      this.#inside,
    );
    this.#lines = new RowsInView(this.node, this.#inside, FLAT, (line) => this.#line(line), signal);
    this.node.addEventListener(
      "click",
      (event) => {
        const line = this.#lines.placeOf(event);
        if (line < 0) return;
        if ((event.target as HTMLElement).closest("[data-toggle]")) events.toggle(line);
        else events.pick(line);
      },
      { signal },
    );
  }

  /** Whether the change stands below the nodes, for a list that is narrow. */
  set isTall(on: boolean) {
    if (this.node.classList.contains("tvmdbg-comparison-tall") === on) return;
    this.node.classList.toggle("tvmdbg-comparison-tall", on);
    this.#lines.height = on ? TALL : FLAT;
  }

  get active(): number {
    return this.#active;
  }

  /** Id of the active line's element, for aria-activedescendant; empty where there is none. */
  get activeId(): string {
    return this.#active < 0 ? "" : this.#id + this.#active;
  }

  /** How many lines a page leads on. */
  get page(): number {
    return this.#lines.page;
  }

  activate(line: number): void {
    this.#active = line;
    this.#lines.reveal(line);
    this.show();
  }

  show(): void {
    const { length } = this.#rows;
    this.#empty.hidden = length > 0;
    this.node.role = length > 0 ? "tree" : "group";
    this.#empty.textContent = length ? "" : "No differences.";
    this.#lines.length = length;
    this.#lines.paint();
  }

  #line(line: number): HTMLElement {
    const row = this.#rows.at(line);
    const node = element(
      "div",
      {
        class: "tvmdbg-comparison-row",
        role: "treeitem",
        id: this.#id + line,
        "aria-level": row.isMember ? 2 : 1,
        "aria-selected": String(line === this.#active),
        "aria-setsize": this.#rows.length,
        "aria-posinset": line + 1,
      },
      ...this.#cells(row),
    );
    if (!row.isMember && this.#rows.size(row.group) > 1) {
      node.setAttribute("aria-expanded", String(this.#rows.isOpen(row.group)));
    }
    return node;
  }

  #cells(row: Row): HTMLElement[] {
    const { columns, info } = this.#data;
    const several = !row.isMember && this.#rows.size(row.group) > 1;
    const sign = several ? (this.#rows.isOpen(row.group) ? "▾" : "▸") : "";
    const kind = info.kinds[columns.groupKind[row.group]!]!;
    const change = row.isMember ? "" : columns.groupChange.at(row.group);
    return [
      element(
        "span",
        several ? { class: "tvmdbg-comparison-sign", "data-toggle": true } : {},
        sign,
      ),
      element(
        "span",
        { class: "tvmdbg-comparison-kind", "data-kind": kind },
        row.isMember ? "" : kind,
      ),
      ...([0, 1] as const).map((side) => this.#node(side, row)),
      element("span", { class: "tvmdbg-comparison-more" }, this.#rows.more(row)),
      element("span", { class: "tvmdbg-comparison-change", title: change }, change),
    ];
  }

  #node(side: Side, row: Row): HTMLElement {
    const node = this.#rows.node(side, row);
    const attributes = { class: "tvmdbg-comparison-place", "data-of": LETTER[side] };
    if (node < 0) return element("span", attributes, element("span", {}, "–"));
    const [label, shape] = [this.#data.label(side, node), this.#data.shape(side, node)];
    return element(
      "span",
      { ...attributes, title: `${LETTER[side]}: ${label} #${node} ${shape}` },
      element("span", {}, label),
      element("span", {}, `#${node}`),
      element("span", { class: "tvmdbg-muted" }, shape),
    );
  }
}
