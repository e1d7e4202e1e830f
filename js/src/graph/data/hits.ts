import { LISTED, type ListedHit } from "../../shared/ui/hit_list.ts";
import { boxesOf, type Scene } from "../placed/scene.ts";
import type { GraphModel } from "./model.ts";
import { type Found, find, NOTHING } from "./search.ts";

const BUSY_MS = 150;

/** What the search has found, as nodes and as the boxes that show them. */
export class Hits {
  readonly #model: GraphModel;
  readonly #changed: () => void;
  #query = "";
  /** Nothing was stepped to since the query was written. */
  #isNew = false;
  #isBusy = false;
  #running = new AbortController();
  found: Found = NOTHING;
  /** Settles when the newest query is evaluated. */
  ready: Promise<void> = Promise.resolve();
  /** How many hits each box shows. */
  boxes: ReadonlyMap<number, number> = new Map();

  /** `changed` is called when something else is found. */
  constructor(model: GraphModel, changed: () => void) {
    this.#model = model;
    this.#changed = changed;
  }

  /** Begins to look; what was found before stays until then. */
  find(query: string): void {
    this.#isNew ||= this.#query !== query.trim();
    this.#query = query.trim();
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const busy = setTimeout(() => {
      this.#isBusy = true;
      this.#changed();
    }, BUSY_MS);
    signal.addEventListener("abort", () => clearTimeout(busy));
    this.ready = find(this.#model, query, signal).then(
      (found) => {
        if (signal.aborted) return;
        clearTimeout(busy);
        this.#isBusy = false;
        this.found = found;
        this.#changed();
      },
      () => {},
    );
  }

  stop(): void {
    this.#running.abort();
  }

  /** Finds the boxes of the hits in a scene. */
  locate(scene: Scene): void {
    const boxes = new Map<number, number>();
    for (const node of this.found.nodes) {
      for (const box of boxesOf(scene, node)) boxes.set(box, (boxes.get(box) ?? 0) + 1);
    }
    this.boxes = boxes;
  }

  /** The boxes that alone keep their color; null where nothing is found. */
  get lit(): ReadonlyMap<number, number> | null {
    return this.boxes.size ? this.boxes : null;
  }

  /** The first hits as rows of a list. */
  listed(): ListedHit[] {
    const { labels, graph, times } = this.#model;
    return Array.from(this.found.nodes.subarray(0, LISTED), (node) => ({
      label: labels.title(node),
      id: `#${node}`,
      kind: graph.opKinds.at(node),
      value: times.brief(times.ns[node]!),
      title: `${graph.names.at(node)} ${labels.shape(node)}`,
    }));
  }

  /** The hit after a node (null: the first), from the end to the beginning; a node of the searched id goes first. */
  next(node: number | null, by: number): number | null {
    const hits = this.found.nodes;
    if (hits.length === 0) return null;
    const isNew = this.#isNew;
    this.#isNew = false;
    const wanted = /^\d+$/.test(this.#query) ? Number(this.#query) : -1;
    if (isNew && by > 0 && hits.includes(wanted)) return wanted;
    const at = node === null ? -1 : hits.indexOf(node);
    if (at >= 0) return hits[(at + by + hits.length) % hits.length]!;
    const from = node ?? -1;
    const next = by > 0 ? hits.find((hit) => hit > from) : hits.findLast((hit) => hit < from);
    return next ?? (by > 0 ? hits[0]! : hits.at(-1)!);
  }

  /** `3/12` on the third hit, `–/12` beside the hits; empty where nothing is searched. */
  text(node: number | null): string {
    if (!this.#query) return "";
    if (this.#isBusy) return "…";
    if (this.found.problem) return "error";
    const hits = this.found.nodes;
    if (hits.length === 0) return "no hits";
    const at = node === null ? -1 : hits.indexOf(node);
    return `${at < 0 ? "–" : at + 1}/${hits.length}`;
  }
}
