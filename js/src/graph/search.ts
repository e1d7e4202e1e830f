import { shapeText } from "../shared/format.ts";
import type { GraphColumns } from "../shared/run_client.ts";

const ID = /^#\d+$/;

/**
 * Finds nodes by words; every word must occur in the name, func_name, operators, op kind, dtypes or shapes.
 * `#3` is node 3 and no other.
 */
export class NodeSearch {
  readonly #graph: GraphColumns;
  #texts: string[] | null = null;

  constructor(graph: GraphColumns) {
    this.#graph = graph;
  }

  /** Node ids in ascending order, but first the one whose id is the query; none for an empty query. */
  find(query: string): Int32Array {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return new Int32Array(0);
    this.#texts ??= Array.from(this.#graph.kinds, (_, node) => this.#text(node));
    const hits: number[] = [];
    for (const [node, text] of this.#texts.entries()) {
      const has = (word: string) =>
        ID.test(word) ? Number(word.slice(1)) === node : text.includes(word);
      if (words.every(has)) hits.push(node);
    }
    const exact = words.length === 1 && /^\d+$/.test(words[0]!) ? Number(words[0]) : -1;
    const at = hits.indexOf(exact);
    if (at > 0) hits.unshift(...hits.splice(at, 1));
    return Int32Array.from(hits);
  }

  #text(node: number): string {
    const { names, labels, funcNames, opKinds, entryOffsets } = this.#graph;
    const parts = [`#${node}`, names.at(node), funcNames.at(node), labels.at(node)];
    parts.push(opKinds.at(node));
    for (let entry = entryOffsets[node]!; entry < entryOffsets[node + 1]!; entry++) {
      parts.push(this.#entry(entry));
    }
    return parts.join("\n").toLowerCase();
  }

  /** Shapes are found with or without their brackets and commas: `(1, 64, 8, 8)`, `64,8,8`, `64×8`, `64x8`. */
  #entry(entry: number): string {
    const { dtypes, shapeKnown, shapeOffsets, shapeDims } = this.#graph;
    if (!shapeKnown[entry]) return dtypes.at(entry);
    const shape = Array.from(shapeDims.subarray(shapeOffsets[entry]!, shapeOffsets[entry + 1]!));
    return [
      dtypes.at(entry),
      shapeText(shape),
      ...[",", "×", "x"].map((by) => shape.join(by)),
    ].join("\n");
  }
}
