import type { GraphColumns } from "../../shared/client/answers.ts";
import { RowKind } from "../../shared/client/timeline_columns.ts";
import { type SliceSums, selfWithin, sumsBy, type TimeRange } from "./aggregate.ts";
import type { CallFrames } from "./merged_tree.ts";
import type { Row } from "./row.ts";
import { type Slices, TOLERANCE_NS } from "./slices.ts";

/** Roles of slices that are no work, from 1 on; see `NO_WORK` in `analysis/times/keys.py`. */
export const NO_WORK = ["loading", "delegate's own clock", "profiler"] as const;

/** Keys of sums: nodes, then calls of several, then names, then slices that are no work. */
export class Operators {
  readonly nodes: number;
  readonly calls: number;
  readonly #slices: Slices;

  constructor(slices: Slices) {
    this.#slices = slices;
    this.nodes = slices.columns.nodeNs.length;
    this.calls = slices.columns.setNs?.length ?? 0;
  }

  /** Grows with the names, which are not all known before the slices have come. */
  get size(): number {
    return this.#names + this.#slices.names.length + NO_WORK.length;
  }

  /** Key of the selection: a node, else a slice without one; or -1. */
  selected(node: number | null, slice: number): number {
    return node ?? (slice < 0 ? -1 : this.of(slice));
  }

  of(slice: number): number {
    const role = this.#slices.roleOf(slice);
    if (role > 0) return this.#names + this.#slices.names.length + role - 1;
    const node = this.#slices.nodeOf(slice);
    if (node >= 0) return node;
    const call = this.#slices.callOf(slice);
    return call >= 0 ? this.nodes + call : this.#names + this.#slices.nameCodeOf(slice);
  }

  /** The node of an operator, or -1 for a name. */
  node(operator: number): number {
    return operator < this.nodes ? operator : -1;
  }

  call(operator: number): number {
    const call = operator - this.nodes;
    return call >= 0 && call < this.calls ? call : -1;
  }

  /** Index of the operator's name, or -1 for a node or a call. */
  name(operator: number): number {
    const name = operator - this.#names;
    return name >= 0 && name < this.#slices.names.length ? name : -1;
  }

  /** Name of the role of slices that are no work; else "". */
  noWork(operator: number): string {
    return NO_WORK[operator - this.#names - this.#slices.names.length] ?? "";
  }

  get #names(): number {
    return this.nodes + this.calls;
  }
}

/** Frames for the slices that touch a range, nested as the slices are; keys are operators. */
export function sliceFrames(
  slices: Slices,
  operators: Operators,
  range: TimeRange | null,
): CallFrames {
  const around = parents(slices);
  const within = selfWithin(slices, range);
  const frame = new Int32Array(slices.count).fill(-1);
  within.slices.forEach((slice, at) => {
    frame[slice] = at;
  });
  return {
    parent: within.slices.map((slice) => {
      const outer = around[slice]!;
      return outer < 0 ? -1 : frame[outer]!;
    }),
    key: within.slices.map((slice) => operators.of(slice)),
    self: within.self,
    count: new Int32Array(within.slices.length).fill(1),
  };
}

/** Parent of every slice, or -1. */
export function parents(slices: Slices): Int32Array {
  const parent = new Int32Array(slices.count).fill(-1);
  const above = new Map<number, Row>();
  for (const row of slices.rows) {
    const outer = row.kind === RowKind.NESTED ? above.get(row.track) : undefined;
    if (row.kind === RowKind.NESTED) above.set(row.track, row);
    if (row.kind === RowKind.INSTANT) continue;
    if (row.kind === RowKind.NESTED && !row.depth && !slices.tracks[row.track]!.overlapping)
      continue;
    let at = outer?.first ?? 0;
    for (let slice = row.first; slice < row.last; slice++) {
      if (outer) {
        const start = slices.startOf(slice) + TOLERANCE_NS;
        while (at + 1 < outer.last && slices.startOf(at + 1) <= start) at++;
        if (slices.endOf(at) + TOLERANCE_NS >= slices.endOf(slice) && slices.startOf(at) <= start) {
          parent[slice] = at;
          continue;
        }
      }
      parent[slice] = slices.parentOf(slice);
    }
  }
  return parent;
}

/** Operators in the graph's groups, as paths for slices without nesting; keys of groups follow those of operators. */
export function groupFrames(
  operators: Operators,
  graph: GraphColumns | null,
  ns: Float64Array,
  count: Int32Array,
): CallFrames {
  const groups = graph?.groupParent.length ?? 0;
  const timed: number[] = [];
  for (let operator = 0; operator < ns.length; operator++) {
    if (count[operator]! > 0) timed.push(operator);
  }
  const around = (operator: number) => {
    const node = operators.node(operator);
    return node < 0 ? -1 : (graph?.nodeGroup[node] ?? -1);
  };
  const inner = Int32Array.from(timed, around);
  const used = new Uint8Array(groups);
  for (const first of inner) {
    for (let group = first; group >= 0 && !used[group]; group = graph!.groupParent[group]!) {
      used[group] = 1;
    }
  }
  const kept = Int32Array.from(used.keys()).filter((group) => used[group] === 1);
  const frame = new Int32Array(groups).fill(-1);
  kept.forEach((group, at) => {
    frame[group] = at;
  });
  const size = kept.length + timed.length;
  const frames = {
    parent: new Int32Array(size),
    key: new Int32Array(size),
    self: new Float64Array(size),
    count: new Int32Array(size),
  };
  kept.forEach((group, at) => {
    const outer = graph!.groupParent[group]!;
    frames.parent[at] = outer < 0 ? -1 : frame[outer]!;
    frames.key[at] = operators.size + group;
  });
  timed.forEach((operator, i) => {
    const at = kept.length + i;
    frames.parent[at] = inner[i]! < 0 ? -1 : frame[inner[i]!]!;
    frames.key[at] = operator;
    frames.self[at] = ns[operator]!;
    frames.count[at] = count[operator]!;
  });
  return frames;
}

/** Slices summed by operator; for all time also nodes that have a time but no slice. */
export function operatorSums(
  slices: Slices,
  operators: Operators,
  range: TimeRange | null,
): SliceSums {
  const sums = sumsBy(slices, range, operators.size, (slice) => operators.of(slice));
  if (range) return sums;
  slices.columns.nodeNs.forEach((ns, node) => {
    if (!sums.count[node] && ns > 0) sums.self[node] = ns;
  });
  return sums;
}
