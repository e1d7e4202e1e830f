import { counted, duration, integer } from "../shared/format.ts";
import { Marked } from "./marked.ts";
import type { Names } from "./names.ts";
import type { Slices } from "./slices.ts";

/** The slices that a search finds: those of a searched node id first, then by start. */
export class Found {
  readonly marked: Marked;
  readonly #hits: Int32Array;
  readonly #text: string;

  constructor(slices: Slices, names: Names, query: string) {
    const text = query.trim();
    const hits: number[] = [];
    if (text) {
      const matching = names.matching(text);
      matching.forEach((match, slice) => {
        if (match) hits.push(slice);
      });
      const apart = (a: number, b: number) => matching[b]! - matching[a]!;
      hits.sort((a, b) => apart(a, b) || slices.startOf(a) - slices.startOf(b) || a - b);
    }
    this.#hits = Int32Array.from(hits);
    this.marked = new Marked(slices.count, hits);
    const sum = hits.reduce((total, slice) => total + slices.selfOf(slice), 0);
    this.#text = !text
      ? ""
      : hits.length
        ? `${counted(hits.length, "hit")}, ${slices.nested ? "self time " : ""}Σ ${duration(sum)}`
        : "no hit";
  }

  /** The found slice `by` places on from this one, round in a circle; -1 where none was found. */
  next(slice: number, by: number): number {
    const at = this.#hits.indexOf(slice);
    const count = this.#hits.length;
    if (!count) return -1;
    return this.#hits[at < 0 ? (by > 0 ? 0 : count - 1) : (at + by + count) % count]!;
  }

  /** `3 of 21 hits, Σ 12.300 ms`. */
  text(current: number): string {
    const at = this.#hits.indexOf(current);
    return at < 0 ? this.#text : `${integer(at + 1)} of ${this.#text}`;
  }
}
