import type { Columns } from "../../shared/client/wire.ts";
import type { Theme } from "../../shared/drawing/theme.ts";
import { changeFills, fillOfChange } from "./change.ts";
import { type Names, type Title, titleText } from "./names.ts";
import type { Slices } from "./slices.ts";

type ItemColumns = Pick<Columns<"repeats">, "node" | "names" | "labels" | "kinds"> &
  Partial<Pick<Columns<"merged">, "group">>;

/** Titles and colors of the rows of an answer: nodes, groups of the graph, or names of slices. */
export class ItemNames {
  readonly #columns: ItemColumns;
  readonly #names: Names;
  readonly #codes: ReadonlyMap<string, number>;
  #fills: { theme: Theme; css: string[] } | null = null;

  constructor(columns: ItemColumns, names: Names, slices: Slices) {
    this.#columns = columns;
    this.#names = names;
    this.#codes = codesOf(slices);
  }

  timeText(ns: number): string {
    return this.#names.timeText(ns);
  }

  node(row: number): number {
    return this.#columns.node[row] ?? -1;
  }

  group(row: number): number {
    return this.#columns.group?.[row] ?? -1;
  }

  /** Number of the name of a row's slices, or -1. */
  code(row: number): number {
    return this.#codes.get(this.#columns.names.at(row)) ?? -1;
  }

  label(row: number): string {
    const { labels, names } = this.#columns;
    if (this.group(row) >= 0) return names.at(row);
    return this.#names.ofNode(this.node(row)) || labels.at(row) || "no name";
  }

  titleOf(row: number): Title {
    const node = this.node(row);
    if (node >= 0) return this.#names.titleOf(node, this.#columns.labels.at(row));
    return { label: this.label(row), id: "", shape: "" };
  }

  title(row: number): string {
    return titleText(this.titleOf(row));
  }

  /** Color by the op kind, or by the difference if two runs are compared. */
  fill(theme: Theme, row: number): string {
    const { change } = this.#names;
    if (!change?.colored) return this.mark(theme, row);
    if (this.#fills?.theme !== theme) this.#fills = { theme, css: changeFills(theme) };
    return this.#fills.css[fillOfChange(change, change.rowOf(this.node(row)))]!;
  }

  mark(theme: Theme, row: number): string {
    const node = this.node(row);
    if (node >= 0 && this.#names.known) return this.#names.fill(theme, node, -1);
    return this.#names.colors.ofName(theme, this.code(row), this.#columns.kinds.at(row));
  }
}

/** Numbers of the names of slices. */
export function codesOf(slices: Slices): ReadonlyMap<string, number> {
  return new Map(slices.names.unique.map((name, code) => [name, code]));
}
