import { integer } from "../shared/format.ts";
import type { ComparisonData, Side } from "./data.ts";

/** A line of the list: a group of differences, or one of an open group. */
export interface Row {
  group: number;
  /** Which difference; of a group its first. */
  member: number;
  isMember: boolean;
}

/** What is listed: groups of one kind or all, and the differences of those that are open. */
export class Rows {
  readonly #data: ComparisonData;
  readonly #open = new Set<number>();
  #kind: number | null = null;
  /** The groups shown, and the number of lines above each; one more than there are. */
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

  at(line: number): Row {
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

  /** The line of a group, -1 where it is not listed. */
  lineOf(group: number): number {
    const at = this.#groups.indexOf(group);
    return at < 0 ? -1 : this.#starts[at]!;
  }

  /** The first line whose difference is at a node; -1 where there is none. */
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

  /** The node of one side; -1 where there is none. */
  node(side: Side, { member }: Row): number {
    const { memberA, memberB } = this.#data.columns;
    return (side === 0 ? memberA : memberB)[member]!;
  }

  /** How many more differences a group has than the one that is told. */
  more({ group, isMember }: Row): string {
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
