import type { Theme } from "../../shared/drawing/theme.ts";
import type { Names } from "../data/names.ts";
import { type Title, titleText } from "../data/titles.ts";

/** What places or rows are of, as Python counts them: a node, or what has only a name. */
export interface GivenColumns {
  /** -1 where there is no node. */
  node: number[];
  name: string[];
  label: string[];
  kind: string[];
}

/** What places or rows are called and marked with; a key is a place in the columns. */
export class GivenNames {
  readonly #columns: GivenColumns;
  readonly #names: Names;
  readonly #isGroup: readonly boolean[];
  readonly #codeOf: (name: string) => number;

  constructor(
    columns: GivenColumns,
    names: Names,
    codeOf: (name: string) => number,
    isGroup: readonly boolean[] = [],
  ) {
    this.#columns = columns;
    this.#names = names;
    this.#codeOf = codeOf;
    this.#isGroup = isGroup;
  }

  told(ns: number): string {
    return this.#names.told(ns);
  }

  node(key: number): number {
    return this.#columns.node[key]!;
  }

  group(key: number): number {
    return this.#isGroup[key] ? key : -1;
  }

  titleOf(key: number): Title {
    const { label, name, node } = this.#columns;
    if (node[key]! >= 0) return this.#names.titleOf(node[key]!, label[key]!);
    return { label: this.#isGroup[key] ? name[key]! : label[key]!, id: "", shape: "" };
  }

  title(key: number): string {
    return titleText(this.titleOf(key));
  }

  mark(theme: Theme, key: number): string {
    const { kind, name, node } = this.#columns;
    if (node[key]! >= 0 && this.#names.known) return this.#names.fill(theme, node[key]!, -1);
    return this.#names.colors.ofName(theme, this.#codeOf(name[key]!), kind[key]!);
  }

  fill(theme: Theme, key: number): string {
    return this.mark(theme, key);
  }
}
