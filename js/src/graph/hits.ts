import { boxesOf, type Scene } from "./scene.ts";
import type { NodeSearch } from "./search.ts";

/** What the search has found, as nodes and as the boxes that show them. */
export class Hits {
  readonly #search: NodeSearch;
  #query = "";
  #nodes: Int32Array = new Int32Array(0);
  boxes: ReadonlySet<number> = new Set();

  constructor(search: NodeSearch) {
    this.#search = search;
  }

  find(query: string): void {
    this.#query = query.trim();
    this.#nodes = this.#search.find(query);
  }

  /** Finds the boxes of the hits in a scene. */
  locate(scene: Scene): void {
    this.boxes = new Set(
      Array.from(this.#nodes).flatMap((node) => Array.from(boxesOf(scene, node))),
    );
  }

  /** The next hit in execution order after a node (null: the first), from the end to the beginning. */
  next(node: number | null, by: number): number | null {
    const hits = Array.from(this.#nodes);
    const at = node ?? -1;
    const next = by > 0 ? hits.find((hit) => hit > at) : hits.findLast((hit) => hit < at);
    return next ?? (by > 0 ? hits[0] : hits.at(-1)) ?? null;
  }

  /** `3/12` on the third hit, `–/12` beside the hits; empty where nothing is searched. */
  text(node: number | null): string {
    if (!this.#query) return "";
    if (this.#nodes.length === 0) return "no hit";
    const at = node === null ? -1 : this.#nodes.indexOf(node);
    return `${at < 0 ? "–" : at + 1}/${this.#nodes.length}`;
  }
}
