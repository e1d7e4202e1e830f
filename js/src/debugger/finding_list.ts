import { integer } from "../shared/format.ts";
import { div, element, span } from "../shell/dom.ts";
import { reveal } from "../shell/scrolling.ts";
import { brief, CHIPS, type FindingRow } from "./finding_rows.ts";

export interface ListHost {
  pick(row: FindingRow): void;
  toggle(row: FindingRow): void;
  goTo(row: FindingRow, node: number): void;
  hover(node: number | null): void;
  title(node: number): string;
}

const NODES_LISTED = 200;
const WORDS: Record<FindingRow["severity"], string> = {
  error: "Error",
  warning: "Warning",
  hotspot: "Hotspot",
  info: "Info",
  noted: "Note",
};
const ROUNDED = 2;

export class List {
  readonly node = element("div", {
    class: "tvmdbg-findings-list tvmdbg-fixed",
    role: "tree",
    "aria-label": "Findings",
  });
  readonly #host: ListHost;
  readonly #scroller: HTMLElement;
  readonly #id = `tvmdbg-finding-${Math.random().toString(36).slice(2)}-`;
  readonly #open = new Set<string>();
  /** Room below the rows, so that a row pushed down by new ones can be scrolled back. */
  readonly #spare = div("tvmdbg-findings-spare");
  #items = new Map<string, HTMLElement>();
  #drawn = new Map<string, string>();
  #rows: readonly FindingRow[] = [];
  #active: string | null = null;
  /** True if the user chose the active row; until then it is the first one. */
  #settled = false;
  #pointed: string | null = null;
  #chosen: string | null = null;
  #folded = false;
  /** Scroll position before a row was opened. */
  #before = 0;
  /** Subpixel distance of the row under the pointer from its old position: browsers scroll by integer pixels. */
  #drift = 0;

  constructor(host: ListHost, scroller: HTMLElement) {
    this.#host = host;
    this.#scroller = scroller;
    this.node.addEventListener("click", (event) => this.#clicked(event));
    this.node.addEventListener("pointerover", (event) => {
      const target = event.target as HTMLElement;
      const pointed = this.#rowAt(target)?.key ?? this.#pointed;
      if (pointed !== this.#pointed) this.#drift = 0;
      this.#pointed = pointed;
      const chip = target.closest<HTMLElement>("[data-node]");
      this.#host.hover(chip ? Number(chip.dataset.node) : null);
    });
    this.node.addEventListener("pointerleave", () => {
      this.#pointed = null;
      this.#spare.style.height = "0";
      this.#host.hover(null);
    });
  }

  get rows(): readonly FindingRow[] {
    return this.#rows;
  }

  get active(): FindingRow | null {
    return this.#rows.find(({ key }) => key === this.#active) ?? null;
  }

  get activeId(): string | null {
    return this.#active === null ? null : this.#id + this.#active;
  }

  isOpen({ key }: FindingRow): boolean {
    return this.#open.has(key) && !this.#folded;
  }

  get anyOpen(): boolean {
    return this.#rows.some((row) => this.isOpen(row));
  }

  show(rows: readonly FindingRow[]): void {
    const scroller = this.#scroller;
    const pinned = this.#pointed ?? (scroller.scrollTop > 0 ? this.#active : null);
    const before = pinned === null ? null : this.#items.get(pinned);
    const was = before ? before.getBoundingClientRect().top - this.#drift : 0;
    this.#rows = rows;
    if (!this.#settled || !this.active) this.#active = rows[0]?.key ?? null;
    const items = new Map(rows.map((row) => [row.key, this.#item(row)]));
    for (const [key, item] of this.#items) if (!items.has(key)) item.remove();
    this.#items = items;
    let at: Element | null = this.node.firstElementChild;
    for (const item of items.values()) {
      if (item === at) at = at.nextElementSibling;
      else this.node.insertBefore(item, at);
    }
    this.node.append(this.#spare);
    rows.forEach((row, place) => {
      this.#describe(row, place);
    });
    this.#fold();
    this.fit();
    const after = pinned === null ? undefined : items.get(pinned);
    if (!before || !after) return;
    const wanted = scroller.scrollTop + after.getBoundingClientRect().top - was;
    const room = Math.ceil(wanted) + scroller.clientHeight - this.#spare.offsetTop + ROUNDED;
    if (this.#pointed !== null && room > 0) this.#spare.style.height = `${room}px`;
    scroller.scrollTop = wanted;
    this.#drift = after.getBoundingClientRect().top - was;
  }

  activate(key: string, seen = true): void {
    this.#active = key;
    this.#settled = true;
    this.#rows.forEach((row, place) => {
      this.#describe(row, place);
    });
    if (seen) this.reveal(key);
  }

  /** Shortens the titles that do not fit into their line. */
  fit(): void {
    const closed = this.#rows.filter((row) => !this.isOpen(row));
    const titles = closed.map((row) => ({
      row,
      node: this.#items.get(row.key)!.querySelector<HTMLElement>(".tvmdbg-finding-title")!,
    }));
    for (const { row, node } of titles) node.textContent = row.title;
    const cut = titles.filter(({ node }) => node.scrollWidth > node.clientWidth);
    for (const { row, node } of cut) node.textContent = brief(row.title);
  }

  /** Scrolls as little as shows a row, and the beginning of one that is higher than the list. */
  reveal(key: string): void {
    const item = this.#items.get(key);
    if (!item) return;
    const height = Math.min(item.offsetHeight, this.#scroller.clientHeight);
    reveal(this.#scroller, item.offsetTop, height);
  }

  move(by: number): void {
    const at = this.#rows.findIndex(({ key }) => key === this.#active);
    const next = Math.min(this.#rows.length - 1, Math.max(0, at + by));
    if (this.#rows[next]) this.activate(this.#rows[next].key);
  }

  /** Opens or closes a row; the last one that closes leaves the list where it was before the first one opened. */
  toggle(row: FindingRow, open = !this.isOpen(row), only = false): void {
    if (!row.finding) return;
    if (!this.anyOpen) this.#before = this.#scroller.scrollTop;
    if (only) this.#open.clear();
    if (open) this.#open.add(row.key);
    else this.#open.delete(row.key);
    this.show(this.#rows);
  }

  /** Scrolls after a row was opened or closed, once the list has its height. */
  settle(row: FindingRow): void {
    if (this.isOpen(row)) this.reveal(row.key);
    if (this.anyOpen) return;
    this.#spare.style.height = "0";
    this.#scroller.scrollTop = this.#before;
    this.#drift = 0;
  }

  /** Shows one row without its evidence: the one that made the selection, or the first. */
  get folded(): boolean {
    return this.#folded;
  }

  set folded(folded: boolean) {
    if (folded === this.#folded) return;
    this.#folded = folded;
    this.#pointed = null;
    this.#spare.style.height = "0";
    this.show(this.#rows);
    this.#scroller.scrollTop = 0;
    if (!folded && this.#active !== null) this.reveal(this.#active);
  }

  /** Marks the row that made the selection, and the current node in all rows. */
  mark(chosen: string | null, node: number | null): void {
    this.#chosen = chosen;
    this.#fold();
    for (const [key, item] of this.#items) {
      item.setAttribute("aria-selected", String(key === chosen));
    }
    for (const chip of this.node.querySelectorAll<HTMLElement>("[data-node]")) {
      chip.classList.toggle("tvmdbg-chip-here", Number(chip.dataset.node) === node);
    }
  }

  #fold(): void {
    const rows = this.#rows.map(({ key }) => key);
    const first = rows.find((key) => key === this.#chosen) ?? rows[0];
    for (const [key, item] of this.#items) {
      item.classList.toggle("tvmdbg-finding-first", key === first);
    }
  }

  renamed(): void {
    this.#drawn.clear();
    this.show(this.#rows);
  }

  #describe(row: FindingRow, place: number): void {
    const item = this.#items.get(row.key)!;
    item.setAttribute("aria-posinset", String(place + 1));
    item.setAttribute("aria-setsize", String(this.#rows.length));
    item.classList.toggle("tvmdbg-finding-active", row.key === this.#active);
  }

  #item(row: FindingRow): HTMLElement {
    const open = this.isOpen(row);
    const item =
      this.#items.get(row.key) ??
      element("div", {
        id: this.#id + row.key,
        role: "treeitem",
        "aria-level": 1,
        "aria-selected": "false",
      });
    const drawn = JSON.stringify([row.title, row.nodes, row.finding, open]);
    if (this.#drawn.get(row.key) === drawn) return item;
    this.#drawn.set(row.key, drawn);
    item.dataset.key = row.key;
    item.className = `tvmdbg-finding tvmdbg-finding-${row.severity}`;
    if (row.finding) item.setAttribute("aria-expanded", String(open));
    item.replaceChildren(...this.#content(row, open));
    return item;
  }

  #content(row: FindingRow, open: boolean): Node[] {
    const { finding } = row;
    const twist = finding ? (open ? "▾" : "▸") : "";
    const sure = finding
      ? element(
          "span",
          {
            class: `tvmdbg-finding-confidence tvmdbg-muted ${finding.confidence === "high" ? "tvmdbg-finding-sure" : ""}`,
            title: `confidence: ${finding.why}`,
          },
          `${finding.confidence}`,
        )
      : element("span", {});
    const more = row.nodes.length - CHIPS;
    return [
      element("span", { class: "tvmdbg-finding-twist tvmdbg-muted", "aria-hidden": "true" }, twist),
      span(
        "tvmdbg-finding-severity tvmdbg-nowrap",
        element("i", { class: `tvmdbg-icon tvmdbg-icon-${row.severity}`, "aria-hidden": "true" }),
        WORDS[row.severity],
      ),
      element(
        "span",
        { class: "tvmdbg-finding-title tvmdbg-clip", title: open ? "" : row.title },
        row.title,
      ),
      sure,
      span(
        "tvmdbg-finding-nodes tvmdbg-nowrap",
        ...row.nodes.slice(0, CHIPS).map((node) => this.#chip(node, `#${node}`)),
        more > 0 &&
          element(
            "span",
            { class: "tvmdbg-finding-more tvmdbg-muted", title: "list all nodes (Space)" },
            `+${integer(more)}`,
          ),
      ),
      ...(finding && open ? [this.#evidence(row)] : []),
    ];
  }

  #evidence({ finding, nodes }: FindingRow): HTMLElement {
    const { evidence, confidence, why, next } = finding!;
    const fact = (name: string, text: string) =>
      text ? element("p", {}, element("b", {}, `${name} `), text) : null;
    return div(
      "tvmdbg-finding-evidence tvmdbg-anywhere",
      evidence.length > 0 && element("ul", {}, ...evidence.map((fact) => element("li", {}, fact))),
      fact(`${confidence} confidence:`, why),
      fact("next:", next),
      nodes.length > 0 &&
        element(
          "p",
          { class: "tvmdbg-finding-all tvmdbg-wrap" },
          ...nodes.slice(0, NODES_LISTED).map((node) => this.#chip(node, this.#host.title(node))),
        ),
      element("p", { class: "tvmdbg-muted" }, `rule ${finding!.rule}`),
    );
  }

  #chip(node: number, text: string): HTMLElement {
    const title = `go to ${this.#host.title(node)} ([ and ] go through the nodes)`;
    return element("span", { class: "tvmdbg-chip", "data-node": node, title }, text);
  }

  #rowAt(target: HTMLElement): FindingRow | null {
    const key = target.closest<HTMLElement>("[data-key]")?.dataset.key;
    return this.#rows.find((row) => row.key === key) ?? null;
  }

  #clicked(event: MouseEvent): void {
    const target = event.target as HTMLElement;
    const row = this.#rowAt(target);
    if (!row || String(getSelection())) return;
    this.activate(row.key, false);
    const chip = target.closest<HTMLElement>("[data-node]");
    if (chip) this.#host.goTo(row, Number(chip.dataset.node));
    else if (target.closest(".tvmdbg-finding-twist, .tvmdbg-finding-more")) this.#host.toggle(row);
    else if (!target.closest(".tvmdbg-finding-evidence")) this.#host.pick(row);
  }
}
