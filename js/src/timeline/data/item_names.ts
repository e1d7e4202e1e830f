import type { GraphColumns } from "../../shared/client/answers.ts";
import type { StringColumn } from "../../shared/client/columns.ts";
import type { Columns } from "../../shared/client/wire.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { type Names, type Title, titleText } from "./names.ts";
import type { Slices } from "./slices.ts";

type ItemColumns = Pick<Columns<"repeats">, "node" | "names" | "labels" | "kinds"> &
  Partial<Pick<Columns<"merged">, "group">>;

/** What the view knows: names, slices as far as they are loaded, and the graph. */
export interface ItemData {
  names: Names;
  slices: Slices;
  graph: GraphColumns | null;
}

/** Titles and colors of the rows of an answer: nodes, groups of the graph, or names of slices. */
export class ItemNames {
  readonly #columns: ItemColumns;
  /** Names of slices by number; more come with the slices. */
  #known: { names: StringColumn; codes: ReadonlyMap<string, number> } | null = null;
  #rows: Map<number, number> | null = null;

  constructor(
    columns: ItemColumns,
    readonly data: ItemData,
  ) {
    this.#columns = columns;
  }

  /** Number of what a row stands for, a node or a name; -1 for a group. */
  item(row: number): number {
    const node = this.node(row);
    return node >= 0 || this.isGroup(row) ? node : -2 - this.code(row);
  }

  itemOf(slice: number): number {
    const { slices } = this.data;
    const node = slices.nodeOf(slice);
    return node >= 0 ? node : -2 - slices.nameCodeOf(slice);
  }

  /** Item of the selection: a node, else a slice without one; or -1. */
  selected(node: number | null, slice: number): number {
    return node ?? (slice < 0 ? -1 : this.itemOf(slice));
  }

  /** First row of an item, or -1. */
  rowOf(item: number): number {
    this.code(-1);
    if (!this.#rows) {
      const rows = new Map<number, number>();
      for (let row = this.#columns.node.length - 1; row >= 0; row--) rows.set(this.item(row), row);
      rows.delete(-1);
      this.#rows = rows;
    }
    return this.#rows.get(item) ?? -1;
  }

  /** The node of a row, those of its group, or those of the call that its first slice is. */
  nodes(row: number): number[] {
    const [node, group] = [this.node(row), this.#columns.group?.[row] ?? -1];
    const { graph, slices } = this.data;
    if (group >= 0 && graph) {
      return [...graph.groupOrder.subarray(graph.groupStart[group]!, graph.groupEnd[group]!)];
    }
    if (node >= 0) return [node];
    const call = slices.callOf(this.slicesOf(row)[0] ?? -1);
    return call < 0 ? [] : [...slices.nodesOfCall(call)];
  }

  /** Loaded slices of a row, by start. */
  slicesOf(row: number): number[] {
    const { slices } = this.data;
    const item = this.item(row);
    const own: number[] = [];
    for (let slice = 0; slice < slices.count; slice++) {
      if (this.itemOf(slice) === item) own.push(slice);
    }
    return own.sort((a, b) => slices.startOf(a) - slices.startOf(b) || a - b);
  }

  node(row: number): number {
    return this.#columns.node[row] ?? -1;
  }

  isGroup(row: number): boolean {
    return (this.#columns.group?.[row] ?? -1) >= 0;
  }

  /** Number of the name of a row's slices, or -1. */
  code(row: number): number {
    const { slices } = this.data;
    if (this.#known?.names !== slices.names) {
      this.#known = { names: slices.names, codes: codesOf(slices) };
      this.#rows = null;
    }
    return this.#known.codes.get(this.#columns.names.at(row)) ?? -1;
  }

  label(row: number): string {
    const { labels, names } = this.#columns;
    if (this.isGroup(row)) return names.at(row);
    return this.data.names.ofNode(this.node(row)) || labels.at(row) || "no name";
  }

  titleOf(row: number): Title {
    const node = this.node(row);
    if (node >= 0) return this.data.names.titleOf(node, this.#columns.labels.at(row));
    return { label: this.label(row), id: "", shape: "" };
  }

  title(row: number): string {
    return titleText(this.titleOf(row));
  }

  /** Color by the op kind, or by the difference if two runs are compared. */
  fill(theme: Theme, row: number): string {
    return this.data.names.changeFill(theme, this.node(row)) ?? this.mark(theme, row);
  }

  mark(theme: Theme, row: number): string {
    const node = this.node(row);
    if (node >= 0 && this.data.names.known) return this.data.names.fill(theme, node, -1);
    return this.data.names.colors.ofName(theme, this.code(row), this.#columns.kinds.at(row));
  }
}

/** Numbers of the names of slices. */
export function codesOf(slices: Slices): ReadonlyMap<string, number> {
  return new Map(slices.names.unique.map((name, code) => [name, code]));
}
