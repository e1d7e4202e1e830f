import { integer } from "../shared/format.ts";
import { div, element, KEEP_KEYS, span } from "../shell/dom.ts";
import { RowsInView } from "../shell/scrolling.ts";
import { type ComparisonData, LETTER, type Side } from "./data.ts";

interface ListRow {
  group: number;
  member: number;
  isMember: boolean;
}

export class DifferenceRows {
  readonly #data: ComparisonData;
  readonly #open = new Set<number>();
  #kind: number | null = null;
  /** The shown groups, and the number of lines above them with the total at the end. */
  #groups = new Int32Array(0);
  #starts = new Int32Array(1);

  constructor(data: ComparisonData) {
    this.#data = data;
    this.#arrange();
  }

  get length(): number {
    return this.#starts.at(-1)!;
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
    let [low, high] = [0, this.#groups.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= line) low = middle;
      else high = middle;
    }
    const group = this.#groups[low]!;
    const first = this.#data.columns.groupStart[group]!;
    const below = line - this.#starts[low]!;
    return { group, member: first + Math.max(0, below - 1), isMember: below > 0 };
  }

  lineOf(group: number): number {
    const at = this.#groups.indexOf(group);
    return at < 0 ? -1 : this.#starts[at]!;
  }

  /** The first line with a difference at a node, or -1. */
  find(side: 0 | 1, node: number): number {
    const { memberA, memberB, groupStart } = this.#data.columns;
    const nodes = side === 0 ? memberA : memberB;
    for (const [at, group] of this.#groups.entries()) {
      for (let member = groupStart[group]!; member < groupStart[group + 1]!; member++) {
        if (nodes[member] !== node) continue;
        const below = this.isOpen(group) ? 1 + member - groupStart[group]! : 0;
        return this.#starts[at]! + below;
      }
    }
    return -1;
  }

  node(side: Side, { member }: ListRow): number {
    const { memberA, memberB } = this.#data.columns;
    return (side === 0 ? memberA : memberB)[member]!;
  }

  more({ group, isMember }: ListRow): string {
    const more = isMember ? 0 : this.size(group) - 1;
    return more ? `+${integer(more)}` : "";
  }

  #arrange(): void {
    const { groupKind } = this.#data.columns;
    const groups: number[] = [];
    for (let group = 0; group < groupKind.length; group++) {
      if (this.#kind === null || groupKind[group] === this.#kind) groups.push(group);
    }
    this.#groups = Int32Array.from(groups);
    this.#starts = new Int32Array(groups.length + 1);
    for (const [at, group] of groups.entries()) {
      this.#starts[at + 1] = this.#starts[at]! + 1 + (this.isOpen(group) ? this.size(group) : 0);
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

  #cells(row: ListRow): HTMLElement[] {
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

  #node(side: Side, row: ListRow): HTMLElement {
    const node = this.#rows.node(side, row);
    const attributes = { class: "tvmdbg-comparison-place tvmdbg-numeric", "data-of": LETTER[side] };
    if (node < 0) return element("span", attributes, element("span", {}, "–"));
    const [label, shape] = [this.#data.label(side, node), this.#data.shape(side, node)];
    return element(
      "span",
      { ...attributes, title: `${LETTER[side]}: ${label} #${node} ${shape}` },
      element("span", {}, label),
      element("span", {}, `#${node}`),
      span("tvmdbg-muted", shape),
    );
  }
}
