import type { GraphColumns } from "../../shared/client/answers.ts";
import { RowKind } from "../../shared/client/timeline_columns.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { counted } from "../../shared/format.ts";
import type { SliceSums, TimeRange } from "./aggregate.ts";
import { changeFills, fillOfChange } from "./change.ts";
import { Operators } from "./frames.ts";
import { type Names, type Title, titleText } from "./names.ts";
import type { Row } from "./row.ts";
import type { Slices } from "./slices.ts";

const NO_DEVICE = "unknown device";

/** Devices of slices: from the node's first output in the graph, else from the track. */
class Devices {
  readonly words: readonly string[];
  readonly #ofNode: Int32Array;
  readonly #ofTrack: Int32Array;
  readonly #unknown: number;

  constructor(slices: Slices, graph: GraphColumns | null) {
    const words: string[] = [];
    const numbers = new Map<string, number>();
    const number = (word: string) => {
      if (!numbers.has(word)) numbers.set(word, words.push(word) - 1);
      return numbers.get(word)!;
    };
    this.#ofTrack = Int32Array.from(slices.tracks, (track) =>
      number(slices.columns.trackDevice.at(track.number) || track.name),
    );
    const types = new Map<number, number>();
    const ofType = (type: number) => {
      if (!types.has(type))
        types.set(type, number(graph!.info?.devices[type] ?? `device type ${type}`));
      return types.get(type)!;
    };
    this.#ofNode = new Int32Array(graph?.deviceTypes.length ? graph.kinds.length : 0).fill(-1);
    this.#ofNode.forEach((_, node) => {
      const [first, last] = [graph!.entryOffsets[node]!, graph!.entryOffsets[node + 1]!];
      if (first < last) this.#ofNode[node] = ofType(graph!.deviceTypes[first]!);
    });
    this.#unknown = number(NO_DEVICE);
    this.words = words;
  }

  /** Number of the device for a node (-1: unknown) on a track (-1: none). */
  of(node: number, track: number): number {
    const placed = this.#ofNode[node] ?? -1;
    return placed >= 0 ? placed : (this.#ofTrack[track] ?? this.#unknown);
  }
}

export const NO_GROUP = "in no group";
/** Op kind of the time that an execution takes outside of its instructions. */
const RUNTIME = "runtime";
const NO_MODULE = "in no module";
const NO_FUNCTION = "no function";

/** Key of a slice's sum, -1 for none. */
export type KeyOf = (slice: number, row: Row) => number;

/** Names of the keys of sums: operators by node or name, then groups of the graph. */
export class KeyNames {
  readonly operators: Operators;
  readonly #slices: Slices;
  readonly #names: Names;
  #devices: Devices | null = null;
  #fills: { theme: Theme; css: string[] } | null = null;

  constructor(
    slices: Slices,
    names: Names,
    readonly graph: GraphColumns | null,
  ) {
    this.operators = new Operators(slices);
    this.#slices = slices;
    this.#names = names;
  }

  timeText(ns: number): string {
    return this.#slices.timeText(ns);
  }

  node(key: number): number {
    return this.operators.node(key);
  }

  /** Number of a group, or -1 for an operator. */
  group(key: number): number {
    return key < this.operators.size ? -1 : key - this.operators.size;
  }

  nodes(key: number): number[] {
    const group = this.group(key);
    if (group < 0) {
      const call = this.operators.call(key);
      if (call >= 0) return [...this.#slices.nodesOfCall(call)];
      return key < this.operators.nodes ? [key] : [];
    }
    const { groupOrder, groupStart, groupEnd } = this.graph!;
    return [...groupOrder.subarray(groupStart[group]!, groupEnd[group]!)];
  }

  /** `dense + add #66`, a recorded name, `residual block × 3`. */
  title(key: number): string {
    return titleText(this.titleOf(key));
  }

  titleOf(key: number): Title {
    const node = this.node(key);
    if (node < 0) return { label: this.label(key), id: "", shape: "" };
    return this.#names.titleOf(node, this.label(key));
  }

  label(key: number): string {
    const group = this.group(key);
    if (group >= 0) return this.#group(group);
    const call = this.operators.call(key);
    if (call >= 0) return this.#slices.columns.setNames?.at(call) ?? "";
    const apart = this.operators.noWork(key);
    if (apart) return apart;
    const node = this.node(key);
    if (node < 0) return this.#slices.nameLabel(this.operators.name(key)) || "no name";
    return this.#names.ofNode(node) || this.#slices.nameLabel(this.#nameCode(node));
  }

  /** Color of a key by its op kind, or by its difference if two runs are compared. */
  fill(theme: Theme, key: number): string {
    const { change } = this.#names;
    if (!change?.colored) return this.mark(theme, key);
    if (this.#fills?.theme !== theme) this.#fills = { theme, css: changeFills(theme) };
    return this.#fills.css[fillOfChange(change, change.rowOf(this.node(key)))]!;
  }

  mark(theme: Theme, key: number): string {
    const call = this.operators.call(key);
    if (call >= 0) {
      return this.#names.colors.ofCall(theme, this.kind(key), this.#slices.columns.setNs![call]!);
    }
    const node = this.graph ? this.node(key) : -1;
    return this.#names.fill(theme, node, node < 0 ? this.#nameCode(key) : -1);
  }

  /** Op kind; "" for a group. */
  kind(key: number): string {
    if (this.group(key) >= 0) return "";
    const call = this.operators.call(key);
    if (call >= 0) return this.#slices.columns.setKinds?.at(call) ?? "other";
    const apart = this.operators.noWork(key);
    if (apart) return apart;
    const { whole } = this.#slices.columns.info.words;
    if (whole && this.node(key) < 0 && this.#slices.names.at(this.operators.name(key)) === whole) {
      return RUNTIME;
    }
    const node = this.node(key);
    return node >= 0 && this.graph
      ? this.#names.opKind(node)
      : this.#names.nameKind(this.#nameCode(key));
  }

  /** The distinct operators in the name of a function; else the name itself. */
  parts(key: number): string[] {
    if (this.operators.call(key) >= 0 || this.operators.noWork(key)) return [this.label(key)];
    const node = this.node(key);
    const { columns, names, nameParts } = this.#slices;
    const code = this.#nameCode(key);
    const [name, several] =
      node >= 0 && this.graph
        ? [this.#names.funcName(node), columns.functionParts.at(this.graph.funcNames.codes[node]!)]
        : [names.at(code), nameParts.at(code)];
    return several ? [...new Set(several.split("\n"))] : [name || NO_FUNCTION];
  }

  /** Module of an operator's node, or of all nodes of a call. */
  module(key: number): string {
    const call = this.operators.call(key);
    const node = this.node(key);
    const { setModules, nodeModules } = this.#slices.columns;
    const apart = this.operators.noWork(key);
    if (apart) return apart;
    const known = call >= 0 ? setModules?.at(call) : node >= 0 ? nodeModules?.at(node) : "";
    return known || NO_MODULE;
  }

  /** The innermost group around the node of an operator, or around all nodes of a call; or -1. */
  innermost(key: number): number {
    const { graph } = this;
    if (!graph) return -1;
    const [first, ...others] = this.nodes(key);
    if (first === undefined) return -1;
    let group = graph.nodeGroup[first]!;
    while (group >= 0 && !others.every((node) => isAround(graph, group, node))) {
      group = graph.groupParent[group]!;
    }
    return group;
  }

  outermost(key: number): number {
    let group = this.innermost(key);
    while (group >= 0 && this.graph!.groupParent[group]! >= 0) {
      group = this.graph!.groupParent[group]!;
    }
    return group;
  }

  get devices(): Devices {
    this.#devices ??= new Devices(this.#slices, this.graph);
    return this.#devices;
  }

  /** True for a slice of an input or parameter that takes no time; it is ignored. */
  isIdle(slice: number, row: Row): boolean {
    if (row.kind !== RowKind.INSTANT) return false;
    const node = this.#slices.nodeOf(slice);
    return node >= 0 && !this.#names.isOperator(node);
  }

  /** A key that leaves out idle slices. */
  ran(key: KeyOf): KeyOf {
    return (slice, row) => (this.isIdle(slice, row) ? -1 : key(slice, row));
  }

  idle(range: TimeRange | null, rows: readonly Row[] = this.#slices.rows): number {
    let count = 0;
    for (const row of rows) {
      if (row.kind !== RowKind.INSTANT) continue;
      const [first, last] = range ? row.range(...range) : [row.first, row.last];
      for (let slice = first; slice < last; slice++) if (this.isIdle(slice, row)) count++;
    }
    return count;
  }

  /** Nodes of the graph that have a time but no slice: only a table of times has them. */
  alone({ count }: SliceSums): number[] {
    const { nodeNs } = this.#slices.columns;
    const nodes = Array.from({ length: this.graph?.kinds.length ?? 0 }, (_, node) => node);
    return nodes.filter((node) => !count[node] && nodeNs[node]! > 0);
  }

  /** Name of an operator that has only a name, or of a node that only slices name. */
  #nameCode(key: number): number {
    const node = this.node(key);
    if (node < 0) return this.operators.name(key);
    const first = this.#slices.of(node)[0];
    return first === undefined ? -1 : this.#slices.nameCodeOf(first);
  }

  #group(group: number): string {
    const { groupNames, groupRepeats } = this.graph!;
    const name =
      groupNames.at(group) || counted(this.nodes(group + this.operators.size).length, "node");
    return groupRepeats[group]! > 1 ? `${name} × ${groupRepeats[group]}` : name;
  }
}

function isAround({ nodeGroup, groupParent }: GraphColumns, group: number, node: number): boolean {
  let inner = nodeGroup[node]!;
  while (inner >= 0 && inner !== group) inner = groupParent[inner]!;
  return inner === group;
}

/** Calls back with the slices that touch a range by their key from 0 to `size` - 1; key -1 is left out. */
export function byKey(
  { rows, count }: Slices,
  range: TimeRange | null,
  size: number,
  key: KeyOf,
): [first: Int32Array, slices: Int32Array] {
  const first = new Int32Array(size + 1);
  const keys = new Int32Array(count).fill(-1);
  for (const row of rows) {
    const [begin, end] = range ? row.range(...range) : [row.first, row.last];
    for (let slice = begin; slice < end; slice++) {
      keys[slice] = key(slice, row);
      if (keys[slice]! >= 0) first[keys[slice]! + 1]!++;
    }
  }
  for (let i = 1; i < first.length; i++) first[i]! += first[i - 1]!;
  const next = first.slice();
  const slices = new Int32Array(first[size]!);
  keys.forEach((key, slice) => {
    if (key >= 0) slices[next[key]!++] = slice;
  });
  return [first, slices];
}
