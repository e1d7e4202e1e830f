import {
  type GraphColumns,
  NodeKind,
  type TensorColumns,
  TRUST_LABELS,
  Trust,
} from "../shared/client/answers.ts";
import type { Entry } from "../shared/client/tensor_questions.ts";
import { shapeText, tensorTitle } from "../shared/format.ts";

export const KINDS = ["operators", "inputs", "parameters", "buffers"] as const;
export type EntryFilter = (typeof KINDS)[number] | "all";

/** The tensors of a run as a list to pick from; a row is an index in `TensorColumns`. */
export class Entries {
  readonly #rows = new Map<string, number>();
  readonly #searchText: string[] = [];
  readonly #byFilter = new Map<EntryFilter, Int32Array>();

  constructor(
    readonly columns: TensorColumns,
    readonly graph: GraphColumns | null,
  ) {
    for (let row = 0; row < columns.node.length; row += 1) {
      this.#rows.set(`${columns.node[row]}:${columns.output[row]}`, row);
    }
  }

  get length(): number {
    return this.columns.node.length;
  }

  row([node, output]: Entry): number | null {
    return this.#rows.get(`${node}:${output}`) ?? null;
  }

  entry(row: number): Entry {
    return [this.columns.node[row]!, this.columns.output[row]!];
  }

  shape(row: number): number[] {
    const { shapeOffsets, shapeDims } = this.columns;
    return Array.from(shapeDims.subarray(shapeOffsets[row]!, shapeOffsets[row + 1]!));
  }

  kind(row: number): EntryFilter {
    const node = this.columns.node[row]!;
    const { roles } = this.graph ?? {};
    const role = roles && node < roles.length ? roles.at(node) : "";
    if (role === "input" || role === "parameter") return `${role}s`;
    return role ? "buffers" : "operators";
  }

  type(row: number): string {
    return `${this.columns.dtypes.at(row)} ${shapeText(this.shape(row))}`;
  }

  trust(row: number): string {
    return TRUST_LABELS[this.columns.trust[row]!] ?? "unknown";
  }

  /** Whether the tensor is suspicious. */
  doubtful(row: number): boolean {
    return this.columns.notes[row]! > 0 || this.columns.trust[row]! >= Trust.AMBIGUOUS;
  }

  /** Number of operators of the graph, with or without outputs in the dump. */
  get operators(): number {
    return this.graph?.kinds.filter((kind) => kind >= NodeKind.OPERATOR).length ?? 0;
  }

  /** Title of its node and output: `#38:1 conv2d + add`. */
  title(row: number): string {
    const [node, output] = this.entry(row);
    return tensorTitle(this.graph, this.columns.names.at(row), node, output);
  }

  /** Rows of one kind in execution order; all without a graph to separate kinds. */
  rows(filter: EntryFilter): Int32Array {
    let rows = this.#byFilter.get(filter);
    if (!rows) {
      const all = Int32Array.from({ length: this.length }, (_, row) => row);
      rows = filter === "all" ? all : all.filter((row) => this.kind(row) === filter);
      this.#byFilter.set(filter, rows);
    }
    return rows;
  }

  /** The filters that leave some rows but not all; none without a graph. */
  filters(): EntryFilter[] {
    if (!this.graph) return [];
    const kinds = KINDS.filter((kind) => this.rows(kind).length > 0);
    return kinds.length > 1 ? [...kinds, "all"] : [];
  }

  /** First the rows with the text as their id, of any kind, then those of a kind with every word. */
  search(query: string, filter: EntryFilter): Int32Array {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.rows(filter);
    if (words.length === 0) return rows;
    const [, id] = /^\s*#?(\d+(:\d+)?)\s*$/.exec(query) ?? [];
    const isId = (row: number) => {
      const [node, output] = this.entry(row);
      return id === String(node) || id === `${node}:${output}`;
    };
    const matches = rows.filter((row) => {
      const text = this.#search(row);
      return words.every((word) => text.includes(word)) && !(id && isId(row));
    });
    return Int32Array.from([...(id ? this.rows("all").filter(isId) : []), ...matches]);
  }

  /** Number of rows of other kinds with every word, if this kind has none. */
  hidden(query: string, filter: EntryFilter): number {
    return this.search(query, filter).length ? 0 : this.search(query, "all").length;
  }

  /** The next or previous row of the kind in execution order, or null at the end. */
  neighbor(entry: Entry | null, step: 1 | -1, filter: EntryFilter): number | null {
    const rows = this.rows(filter);
    if (entry === null) return rows.at(step === 1 ? 0 : -1) ?? null;
    const place = (row: number) => {
      const [node, output] = this.entry(row);
      return node - entry[0] || output - entry[1];
    };
    if (step === 1) return rows.find((row) => place(row) > 0) ?? null;
    return rows.findLast((row) => place(row) < 0) ?? null;
  }

  /** Entry to open with: the run's first result, else the first suspicious tensor, else the last. */
  first(): Entry | null {
    const opening = this.columns.opening[0];
    if (opening !== undefined) return this.entry(opening);
    const [node, output] = [this.graph?.headNode[0], this.graph?.headOutput[0]];
    if (node !== undefined && output !== undefined && this.row([node, output]) !== null) {
      return [node, output];
    }
    const last = this.rows("operators").at(-1) ?? this.length - 1;
    return last < 0 ? null : this.entry(last);
  }

  outputs(node: number): number[] {
    const { node: nodes, output } = this.columns;
    return Array.from(output).filter((_, row) => nodes[row] === node);
  }

  #search(row: number): string {
    let text = this.#searchText[row];
    if (text === undefined) {
      const func = this.graph?.funcNames.at(this.columns.node[row]!) ?? "";
      const shape = this.shape(row);
      const forms = `${shapeText(shape)} (${shape.join(",")}) ${shape.join("x")}`;
      const [node, output] = this.entry(row);
      const name = `${this.title(row)} ${node}:${output} ${this.columns.names.at(row)}`;
      text = `${name} ${func} ${this.columns.dtypes.at(row)} ${forms}`.toLowerCase();
      this.#searchText[row] = text;
    }
    return text;
  }
}
