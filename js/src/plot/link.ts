import type { SessionClient } from "../shared/client/session_client.ts";
import { append } from "../shared/many.ts";
import type { KeyAction } from "../shared/ui/keys.ts";
import type { Source } from "./bokeh.ts";

const SOURCE = "plot";
/** Rows that are told one by one. */
const TOLD = 5;

/** Ties the selection of data sources to that of a session, both ways. */
export class Link {
  readonly #all: Rows[];
  readonly #session: SessionClient;
  readonly #say: (text: string) => void;
  /** While rows are selected from here, which is no act of the user. */
  #lighting = false;

  constructor(
    sources: readonly Source[],
    column: string,
    session: SessionClient,
    say: (text: string) => void,
    signal: AbortSignal,
  ) {
    this.#session = session;
    this.#say = say;
    this.#all = sources
      .filter((source) => source.columns().includes(column))
      .map((source) => new Rows(source, column));
    for (const rows of this.#all) {
      rows.source.selected.properties.indices.change.connect(() => {
        if (!this.#lighting && !signal.aborted) this.#take(rows);
      });
    }
    session.onChange(() => this.#light(), signal, ["selected"]);
    this.#light();
  }

  actions(): KeyAction[] {
    return [
      { keys: ["ArrowDown", "ArrowRight"], does: "select the next", run: () => this.#step(1) },
      { keys: ["ArrowUp", "ArrowLeft"], does: "select the previous", run: () => this.#step(-1) },
      { keys: ["Home"], does: "select the first", run: () => this.#go(0) },
      { keys: ["End"], does: "select the last", run: () => this.#go(-1) },
      { keys: ["Escape"], does: "select nothing", run: () => this.#session.selectMany([], SOURCE) },
    ];
  }

  /** Takes over what the user selected in the figure. */
  #take(rows: Rows): void {
    const { indices } = rows.source.selected;
    const nodes = rows.nodesOf(indices);
    if (indices.length && !nodes.length) return; // rows of no node
    this.#session.selectMany(nodes, SOURCE);
    this.#light();
  }

  /** Selects the rows of what is selected in the session. */
  #light(): void {
    const selected = new Set(this.#session.selected);
    const told: string[] = [];
    this.#lighting = true;
    for (const rows of this.#all) {
      const found = rows.rowsOf(selected);
      const { selected: own } = rows.source;
      if (own.indices.join() !== found.join()) own.indices = found;
      append(
        told,
        found.slice(0, TOLD).map((row) => rows.text(row)),
      );
    }
    this.#lighting = false;
    this.#say(told.slice(0, TOLD).join("; "));
  }

  #step(by: number): void {
    const rows = this.#all[0];
    if (!rows) return;
    const steps = rows.steps();
    const selected = new Set(this.#session.selected);
    const here = steps.findIndex((row) => rows.nodes[row]!.some((node) => selected.has(node)));
    if (here < 0) this.#go(by > 0 ? 0 : -1);
    else this.#go(Math.min(Math.max(0, here + by), steps.length - 1));
  }

  #go(at: number): void {
    const rows = this.#all[0];
    const row = rows?.steps().at(at);
    if (rows && row !== undefined) this.#session.selectMany(rows.nodes[row]!, SOURCE);
  }
}

/** The rows of one data source, and the nodes that each is of. */
class Rows {
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
