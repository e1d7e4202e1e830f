import { boxesOf, type Scene } from "./scene.ts";
import type { NodeSearch } from "./search.ts";

/** What the search has found, as nodes and as the boxes that show them. */
export class Hits {
  readonly #search: NodeSearch;
  #query = "";
  /** Nothing was stepped to since the query was written. */
  #isNew = false;
  #nodes: Int32Array = new Int32Array(0);
  boxes: ReadonlySet<number> = new Set();

  constructor(search: NodeSearch) {
    this.#search = search;
  }

  find(query: string): void {
    this.#isNew ||= this.#query !== query.trim();
    this.#query = query.trim();
    this.#nodes = this.#search.find(query);
  }

  /** Finds the boxes of the hits in a scene. */
  locate(scene: Scene): void {
    this.boxes = new Set(
      Array.from(this.#nodes).flatMap((node) => Array.from(boxesOf(scene, node))),
    );
  }

  /** The hit after a node (null: the first), from the end to the beginning; a node of the searched id goes first. */
  next(node: number | null, by: number): number | null {
    const hits = Array.from(this.#nodes);
    if (hits.length === 0) return null;
    const isNew = this.#isNew;
    this.#isNew = false;
    if (isNew && by > 0 && /^\d+$/.test(this.#query)) return hits[0]!;
    const at = node === null ? -1 : hits.indexOf(node);
    if (at >= 0) return hits[(at + by + hits.length) % hits.length]!;
    const from = node ?? -1;
    const next = by > 0 ? hits.find((hit) => hit > from) : hits.findLast((hit) => hit < from);
    return next ?? (by > 0 ? hits[0]! : hits.at(-1)!);
  }

  /** `3/12` on the third hit, `–/12` beside the hits; empty where nothing is searched. */
  text(node: number | null): string {
    if (!this.#query) return "";
    if (this.#nodes.length === 0) return "no hit";
    const at = node === null ? -1 : this.#nodes.indexOf(node);
    return `${at < 0 ? "–" : at + 1}/${this.#nodes.length}`;
  }
}
