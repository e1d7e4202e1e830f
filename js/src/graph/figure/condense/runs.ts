import { GroupSource } from "../../../shared/client/run_client.ts";
import { addTo, append } from "../../../shared/many.ts";
import type { Groups } from "../../data/groups.ts";

/** `count` occurrences of `period` boxes of a sequence, from `start` on; `group` is the run of blocks. */
export interface Stretch {
  start: number;
  period: number;
  count: number;
  group: number;
}

/** The runs of blocks of a graph as stretches of a sequence of boxes. */
export class Runs {
  readonly #groups: Groups;
  readonly #symbols: readonly string[];
  /** By group, its first box and the one after its last. */
  readonly #start: number[] = [];
  readonly #end: number[] = [];
  readonly #children = new Map<number, number[]>();

  /**
   * @param nodes  the node of each box, in the order that groups are intervals of.
   * @param symbols  boxes of one symbol may stand for each other.
   */
  constructor(groups: Groups, nodes: readonly number[], symbols: readonly string[]) {
    this.#groups = groups;
    this.#symbols = symbols;
    const { groupOrder, groupStart, groupEnd, groupParent } = groups.graph;
    const isBox = new Uint8Array(groupOrder.length);
    for (const node of nodes) isBox[node] = 1;
    const before = new Int32Array(groupOrder.length + 1);
    for (const [row, node] of groupOrder.entries()) before[row + 1] = before[row]! + isBox[node]!;
    for (let group = 0; group < groups.count; group++) {
      this.#start.push(before[groupStart[group]!]!);
      this.#end.push(before[groupEnd[group]!]!);
      const around = groupParent[group]!;
      addTo(this.#children, around, group);
    }
  }

  /** The runs that are in no other, in order. */
  outermost(): Stretch[] {
    return this.#in(-1);
  }

  /** The runs inside the first block of a run. */
  inside({ group }: Stretch): Stretch[] {
    const first = this.#children.get(group)?.[0];
    return first === undefined ? [] : this.#in(first);
  }

  #in(around: number): Stretch[] {
    const found: Stretch[] = [];
    for (const group of this.#children.get(around) ?? []) {
      const stretch = this.#stretch(group);
      if (stretch) found.push(stretch);
      else append(found, this.#in(group));
    }
    return found;
  }

  /** The stretch of a run of blocks; null where these are not drawn alike. */
  #stretch(group: number): Stretch | null {
    if (this.#groups.graph.groupSource[group] !== GroupSource.REPEAT) return null;
    const [start, end] = [this.#start[group]!, this.#end[group]!];
    const count = this.#children.get(group)?.length || end - start;
    const period = count ? Math.floor((end - start) / count) : 0;
    if (!period || period * count !== end - start) return null;
    for (let box = start + period; box < end; box++) {
      if (this.#symbols[box] !== this.#symbols[box - period]) return null;
    }
    return { start, period, count, group };
  }
}
