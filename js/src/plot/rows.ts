import type { Source } from "./bokeh.ts";

/** The rows of one data source, and the nodes that each is of. */
export class Rows {
  readonly source: Source;
  /** Ids by row; empty for rows of no node. */
  readonly nodes: readonly (readonly number[])[];

  constructor(source: Source, column: string) {
    this.source = source;
    this.nodes = Array.from(source.get_column(column) ?? [], ids);
  }

  /** The nodes of some rows, each once, in their order. */
  nodesOf(rows: readonly number[]): number[] {
    return [...new Set(rows.flatMap((row) => this.nodes[row] ?? []))];
  }

  /** The rows of any of these nodes. */
  rowsOf(nodes: ReadonlySet<number>): number[] {
    return this.nodes.flatMap((own, row) => (own.some((node) => nodes.has(node)) ? [row] : []));
  }

  /** One row for each distinct set of nodes, in the order of rows. */
  steps(): number[] {
    const first = new Map<string, number>();
    this.nodes.forEach((own, row) => {
      const key = own.join();
      if (own.length && !first.has(key)) first.set(key, row);
    });
    return [...first.values()];
  }

  /** A row in words: what it is called, and the texts of its tooltip. */
  text(row: number): string {
    const read = (column: string) => String(this.source.get_column(column)?.[row] ?? "");
    const columns = this.source.columns();
    const name = columns.includes("operator")
      ? read("operator")
      : `#${this.nodes[row]!.join(", #")}`;
    const told = columns
      .filter((each) => each.endsWith("_text"))
      .map(read)
      .filter(Boolean);
    return told.length ? `${name}: ${told.join(", ")}` : name;
  }
}

/** Ids of a cell, which holds one or a list of them. */
function ids(cell: unknown): number[] {
  const listed = typeof cell === "number" ? [cell] : Array.from((cell ?? []) as ArrayLike<number>);
  return listed.filter((each) => Number.isInteger(each) && each >= 0);
}
