import { element, KEEP_KEYS } from "../shared/ui/dom.ts";
import { type ComparisonData, LETTER, type Side } from "./data.ts";
import type { Row, Rows } from "./rows.ts";

/** Height of a line with all beside each other, and with the change below, CSS px. */
const FLAT = 22;
const TALL = 38;
const BEYOND = 6;

/** The differences, of which only those in sight are there. */
export class DifferenceList {
  readonly node: HTMLElement;
  readonly #data: ComparisonData;
  readonly #rows: Rows;
  readonly #inside = element("div", { class: "tvmdbg-comparison-rows" });
  readonly #empty = element("p", { class: "tvmdbg-muted tvmdbg-comparison-none" });
  readonly #id = `tvmdbg-difference-${Math.random().toString(36).slice(2)}-`;
  #active = -1;
  #row = FLAT;

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
    this.node.addEventListener("scroll", () => this.show(), { signal, passive: true });
    this.node.addEventListener(
      "click",
      (event) => {
        const target = event.target as HTMLElement;
        const line = target.closest<HTMLElement>("[data-line]")?.dataset.line;
        if (line === undefined) return;
        if (target.closest("[data-toggle]")) events.toggle(Number(line));
        else events.pick(Number(line));
      },
      { signal },
    );
    const observer = new ResizeObserver(() => this.show());
    observer.observe(this.node);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Whether the change stands below the nodes, for a list that is narrow. */
  set isTall(on: boolean) {
    const row = on ? TALL : FLAT;
    if (row === this.#row) return;
    const first = this.node.scrollTop / this.#row;
    this.#row = row;
    this.node.classList.toggle("tvmdbg-comparison-tall", on);
    this.show();
    this.node.scrollTop = first * row;
  }

  get active(): number {
    return this.#active;
  }

  /** Id of the active line's element, for aria-activedescendant; empty where there is none. */
  get activeId(): string {
    return this.#active < 0 ? "" : this.#id + this.#active;
  }

  /** How many lines are in sight. */
  get page(): number {
    return Math.max(1, Math.floor(this.node.clientHeight / this.#row) - 1);
  }

  activate(line: number): void {
    this.#active = line;
    if (line >= 0) {
      const { scrollTop, clientHeight } = this.node;
      const top = line * this.#row;
      if (top < scrollTop) this.node.scrollTop = top;
      else if (top + this.#row > scrollTop + clientHeight) {
        this.node.scrollTop = top + this.#row - clientHeight;
      }
    }
    this.show();
  }

  show(): void {
    const { length } = this.#rows;
    this.#empty.hidden = length > 0;
    this.node.role = length > 0 ? "tree" : "group";
    this.#empty.textContent = length ? "" : "No differences.";
    this.#inside.style.height = `${length * this.#row}px`;
    const { scrollTop, clientHeight } = this.node;
    const from = Math.max(0, Math.floor(scrollTop / this.#row) - BEYOND);
    const to = Math.min(length, Math.ceil((scrollTop + clientHeight) / this.#row) + BEYOND);
    const shown: HTMLElement[] = [];
    for (let line = from; line < to; line++) shown.push(this.#line(line));
    this.#inside.replaceChildren(...shown);
  }

  #line(line: number): HTMLElement {
    const row = this.#rows.at(line);
    const node = element(
      "div",
      {
        class: "tvmdbg-comparison-row",
        role: "treeitem",
        id: this.#id + line,
        "data-line": line,
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
    node.style.top = `${line * this.#row}px`;
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
