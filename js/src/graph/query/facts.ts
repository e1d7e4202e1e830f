/** What queries look at, made once a graph and only when it is asked for. */
import { StringColumn } from "../../shared/client/columns.ts";
import {
  type FactColumns,
  type GraphColumns,
  NODE_KINDS,
  NodeKind,
} from "../../shared/client/run_client.ts";
import type { Links } from "../data/links.ts";

/** Rows between two pauses. */
export const STRIDE = 4096;

type Steps<T> = Generator<void, T>;
type Numbers = ArrayLike<number>;

export class Facts {
  readonly graph: GraphColumns;
  readonly links: Links;
  /** Attributes, layouts and sizes; null where they were not asked for. */
  more: FactColumns | null = null;
  readonly #lowered = new WeakMap<readonly string[], string[]>();
  readonly #numbers = new Map<string, Numbers>();
  #shapes: { codes: Int32Array; texts: string[] } | null = null;

  constructor(links: Links) {
    this.links = links;
    this.graph = links.graph;
  }

  /** Distinct texts of a column in lower case, as far as they were needed. */
  lowered({ unique }: StringColumn): string[] {
    let found = this.#lowered.get(unique);
    if (!found) {
      found = new Array(unique.length);
      this.#lowered.set(unique, found);
    }
    return found;
  }

  /** The texts of a field: by entry for the second three, else by node. */
  column(field: string): StringColumn {
    const { graph } = this;
    if (field === "name") return graph.names;
    if (field === "func") return graph.funcNames;
    if (field === "dtype") return graph.dtypes;
    if (field === "layout") return this.more!.layouts;
    const known = graph.info?.devices ?? {};
    const types = [...new Set(graph.deviceTypes)];
    const codeOf = new Map(types.map((type, code) => [type, code]));
    const codes = new Int32Array(graph.shapeKnown.length).fill(-1);
    graph.deviceTypes.forEach((type, row) => {
      codes[row] = codeOf.get(type)!;
    });
    return new StringColumn(
      codes,
      types.map((type) => (type < 0 ? "" : (known[type] ?? ""))),
    );
  }

  /** Which distinct shape each entry has, and those as `1,64,8,8`; unknown ones count as empty. */
  *shapes(): Steps<{ codes: Int32Array; texts: string[] }> {
    if (this.#shapes) return this.#shapes;
    const { shapeOffsets, shapeDims, shapeKnown } = this.graph;
    const found = new Map<string, number>();
    const codes = new Int32Array(shapeKnown.length);
    for (let entry = 0; entry < codes.length; entry++) {
      if (entry % STRIDE === 0) yield;
      const text = shapeDims.subarray(shapeOffsets[entry]!, shapeOffsets[entry + 1]!).join();
      let code = found.get(text);
      if (code === undefined) {
        code = found.size;
        found.set(text, code);
      }
      codes[entry] = code;
    }
    this.#shapes = { codes, texts: [...found.keys()] };
    return this.#shapes;
  }

  /** What each node is. */
  kinds(fits: (text: string) => boolean): Uint8Array {
    const { kinds, roles } = this.graph;
    const good = NODE_KINDS.map(fits);
    const given = roles.unique.map((role) => role !== "" && fits(role));
    return kinds.map((kind, node) =>
      (kind > NodeKind.PARAMETER ? good[kind] : given[roles.codes[node]!]) ? 1 : 0,
    );
  }

  /** The numbers of a field, NaN where unknown: by entry for bytes, storage and rank, else by node. */
  numbers(field: string): Numbers {
    let found = this.#numbers.get(field);
    if (!found) {
      found = this.#counted(field);
      this.#numbers.set(field, found);
    }
    return found;
  }

  #counted(field: string): Numbers {
    const { kinds, nodeNs, entryOffsets, shapeOffsets, shapeKnown, storageIds } = this.graph;
    const of = ({ length }: ArrayLike<unknown>, each: (row: number) => number) => {
      const found = new Float64Array(length);
      for (let row = 0; row < length; row++) found[row] = each(row);
      return found;
    };
    switch (field) {
      case "time":
        return nodeNs;
      case "share": {
        return this.graph.nodeShare ?? nodeNs.map(() => Number.NaN);
      }
      case "bytes":
        return this.more!.entryBytes;
      case "storage":
        return of(shapeKnown, (entry) => {
          const id = storageIds[entry] ?? -1;
          return id < 0 ? Number.NaN : id;
        });
      case "rank":
        return of(shapeKnown, (entry) =>
          shapeKnown[entry] ? shapeOffsets[entry + 1]! - shapeOffsets[entry]! : Number.NaN,
        );
      case "inputs":
        return of(kinds, (node) => {
          const [first, end] = this.links.range(node);
          return end - first;
        });
      case "outputs":
        return of(kinds, (node) => entryOffsets[node + 1]! - entryOffsets[node]!);
      case "consumers":
        return this.#consumers();
      case "depth":
        return this.#depths();
      default:
        return of(kinds, (node) => node);
    }
  }

  #consumers(): Numbers {
    const { kinds, edgeSource, edgeTarget } = this.graph;
    const found = new Float64Array(kinds.length);
    const last = new Int32Array(kinds.length).fill(-1);
    for (let edge = 0; edge < edgeSource.length; edge++) {
      const [source, target] = [edgeSource[edge]!, edgeTarget[edge]!];
      if (source < 0 || last[source] === target) continue;
      last[source] = target;
      found[source]! += 1;
    }
    return found;
  }

  /** Edges on the longest way to each node; NaN on and behind cycles. */
  #depths(): Numbers {
    const { kinds, edgeSource, edgeTarget } = this.graph;
    const waiting = new Int32Array(kinds.length);
    for (let edge = 0; edge < edgeSource.length; edge++) {
      if (edgeSource[edge]! >= 0) waiting[edgeTarget[edge]!]! += 1;
    }
    const most = new Float64Array(kinds.length);
    const found = new Float64Array(kinds.length).fill(Number.NaN);
    const ready = new Int32Array(kinds.length);
    let end = 0;
    for (let node = 0; node < kinds.length; node++) if (waiting[node] === 0) ready[end++] = node;
    for (let row = 0; row < end; row++) {
      const node = ready[row]!;
      found[node] = most[node]!;
      for (const edge of this.links.outOf(node)) {
        const other = edgeTarget[edge]!;
        most[other] = Math.max(most[other]!, most[node]! + 1);
        waiting[other]! -= 1;
        if (waiting[other] === 0) ready[end++] = other;
      }
    }
    return found;
  }
}
