import { integer } from "../shared/format.ts";
import { div, element, KEEP_KEYS, span } from "../shell/dom.ts";
import { RowsInView } from "../shell/scrolling.ts";
import { type ComparisonData, LETTER, type Side } from "./data.ts";

interface ListRow {
  group: number;
  member: number;
  isMember: boolean;
}

/** Lines of the list: groups of a kind, and the members of open ones. */
export class DifferenceRows {
  readonly #data: ComparisonData;
  readonly #open = new Set<number>();
  #kind: number | null = null;
  #lines: ListRow[] = [];

  constructor(data: ComparisonData) {
    this.#data = data;
    this.#arrange();
  }

  get length(): number {
    return this.#lines.length;
  }

  set kind(kind: number | null) {
    this.#kind = kind;
    this.#arrange();
  }

  isOpen(group: number): boolean {
    return this.#open.has(group);
  }

  size(group: number): number {
    const { groupStart } = this.#data.columns;
    return groupStart[group + 1]! - groupStart[group]!;
  }

  open(group: number, on: boolean): void {
    if (on && this.size(group) > 1) this.#open.add(group);
    else this.#open.delete(group);
    this.#arrange();
  }

  at(line: number): ListRow {
    return this.#lines[line]!;
  }

  lineOf(group: number): number {
    return this.#lines.findIndex((row) => row.group === group);
  }

  /** The first line with a difference at a node, or -1. */
  find(side: Side, node: number): number {
    const { groupStart } = this.#data.columns;
    const nodes = this.#nodes(side);
    return this.#lines.findIndex(({ group, member, isMember }) =>
      isMember || this.isOpen(group)
        ? isMember && nodes[member] === node
        : nodes.subarray(member, groupStart[group + 1]).includes(node),
    );
  }

  node(side: Side, { member }: ListRow): number {
    return this.#nodes(side)[member]!;
  }

  more({ group, isMember }: ListRow): string {
    const more = isMember ? 0 : this.size(group) - 1;
    return more ? `+${integer(more)}` : "";
  }

  #nodes(side: Side): Int32Array {
    const { memberA, memberB } = this.#data.columns;
    return side ? memberB : memberA;
  }

  #arrange(): void {
    const { groupKind, groupStart } = this.#data.columns;
    this.#lines = [];
    for (const [group, kind] of groupKind.entries()) {
      if (this.#kind !== null && kind !== this.#kind) continue;
      const first = groupStart[group]!;
      this.#lines.push({ group, member: first, isMember: false });
      for (let at = 0; this.isOpen(group) && at < this.size(group); at++) {
        this.#lines.push({ group, member: first + at, isMember: true });
      }
    }
  }
}

/** Height of a line with everything side by side, and with the change below, CSS px. */
const FLAT = 22;
const TALL = 38;

interface DifferenceHost {
  pick(line: number): void;
  toggle(line: number): void;
}

export class DifferenceList {
  readonly node: HTMLElement;
  readonly #data: ComparisonData;
  readonly #rows: DifferenceRows;
  readonly #inside = div("tvmdbg-comparison-rows");
  readonly #empty = element("p", { class: "tvmdbg-muted tvmdbg-comparison-none" });
  readonly #id = `tvmdbg-difference-${Math.random().toString(36).slice(2)}-`;
  readonly #lines: RowsInView;
  active = -1;

  constructor(
    data: ComparisonData,
    rows: DifferenceRows,
    host: DifferenceHost,
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
        if ((event.target as HTMLElement).closest("[data-toggle]")) host.toggle(line);
        else host.pick(line);
      },
      { signal },
    );
  }

  set isTall(on: boolean) {
    if (this.node.classList.contains("tvmdbg-comparison-tall") === on) return;
    this.node.classList.toggle("tvmdbg-comparison-tall", on);
    this.#lines.height = on ? TALL : FLAT;
  }

  /** Id of the active line's element, for aria-activedescendant; may be empty. */
  get activeId(): string {
    return this.active < 0 ? "" : this.#id + this.active;
  }

  /** The line that a key leads to. */
  byKey(key: string): number {
    return this.#lines.placeByKey(key, this.active) ?? this.active;
  }

  activate(line: number): void {
    this.active = line;
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
        class: "tvmdbg-comparison-row tvmdbg-nowrap",
        role: "treeitem",
        id: this.#id + line,
        "aria-level": row.isMember ? 2 : 1,
        "aria-selected": String(line === this.active),
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

  #cells(row: ListRow): (HTMLElement | null)[] {
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
      span("tvmdbg-comparison-more tvmdbg-muted", this.#rows.more(row)),
      element("span", { class: "tvmdbg-comparison-change", title: change }, change),
    ];
  }

  /** Id, name and shape of a node; without a match none, and only the id where B has the same of A. */
  #node(side: Side, row: ListRow): HTMLElement | null {
    const node = this.#rows.node(side, row);
    if (node < 0) return null;
    const words = (of: Side, at: number) => [this.#data.label(of, at), this.#data.shape(of, at)];
    const [label, shape] = words(side, node) as [string, string];
    const a = side ? this.#rows.node(0, row) : -1;
    const isSame = a >= 0 && words(0, a).join() === words(1, node).join();
    return element(
      "span",
      {
        class: "tvmdbg-comparison-place tvmdbg-numeric",
        "data-of": LETTER[side],
        title: `${LETTER[side]}: #${node} ${label} ${shape}`,
      },
      element("span", {}, `${isSame ? "~ " : ""}#${node}`),
      ...(isSame ? [] : [element("span", {}, label), span("tvmdbg-muted", shape)]),
    );
  }
}
