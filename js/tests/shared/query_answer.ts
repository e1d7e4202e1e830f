import { Links } from "../../src/graph/data/links.ts";
import { Evaluation } from "../../src/graph/data/query_evaluation.ts";
import { Facts } from "../../src/graph/data/query_fields.ts";
import { parse, QueryError } from "../../src/graph/data/query_parser.ts";
import type { FactColumns, GraphColumns } from "../../src/shared/client/answers.ts";
import { type ColumnHeader, fields } from "../../src/shared/client/columns.ts";
import { finished } from "../../src/shared/many.ts";
import { RegexError } from "../../src/shared/regex.ts";

interface Packed {
  columns: ColumnHeader[];
  info: unknown;
  buffer: string;
}

/** The columns of a run as the kernel answers them, the buffers in base64. */
export interface Opened {
  graph: Packed;
  facts: Packed;
}

export interface Answered {
  tree?: unknown;
  nodes?: number[];
  unknown?: Record<string, number>;
  error?: string;
  /** Counted in characters. */
  position?: number;
}

function unpacked<T>({ columns, info, buffer }: Packed): T {
  const bytes = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
  return { ...fields(columns, [new DataView(bytes.buffer)]), info } as T;
}

export function opened({ graph, facts }: Opened): Facts {
  const found = new Facts(new Links(unpacked<GraphColumns>(graph)));
  found.more = unpacked<FactColumns>(facts);
  return found;
}

/** What a query says and, where there is a graph, finds; or what is wrong with it. */
export function answered(text: string, facts: Facts | null): Answered {
  try {
    const tree = parse(text);
    if (!facts) return { tree };
    const evaluation = new Evaluation(facts);
    const nodes = tree === null ? [] : Array.from(finished(evaluation.nodes(tree)));
    return { tree, nodes, unknown: Object.fromEntries(evaluation.unknown) };
  } catch (error) {
    if (error instanceof RegexError) return { error: error.message };
    if (!(error instanceof QueryError)) throw error;
    return { error: error.message, position: [...text.slice(0, error.at)].length };
  }
}
