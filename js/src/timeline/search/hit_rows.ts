import { integer } from "../../shared/format.ts";
import type { ListedHit } from "../../shared/ui/hit_list.ts";
import type { Marked } from "../data/marked.ts";
import type { Slices } from "../data/slices.ts";
import { titleText } from "../data/titles.ts";
import type { Called } from "../sums/called.ts";
import type { Place } from "./search.ts";

/** What was found by operator or name, the longest first. */
export class HitRows {
  readonly #found: Marked;
  readonly #slices: Slices;
  readonly #called: Called;
  readonly #ns: Float64Array;
  readonly #count: Int32Array;
  /** Operators of which a slice was found. */
  readonly #keys: number[] = [];

  constructor(found: Marked, slices: Slices, called: Called) {
    [this.#found, this.#slices, this.#called] = [found, slices, called];
    const { operators } = called;
    this.#ns = new Float64Array(operators.size);
    this.#count = new Int32Array(operators.size);
    this.#each((slice) => {
      const key = operators.of(slice);
      if (this.#count[key]!++ === 0) this.#keys.push(key);
      this.#ns[key]! += slices.selfOf(slice);
    });
    this.#keys.sort((a, b) => this.#ns[b]! - this.#ns[a]! || a - b);
  }

  get total(): number {
    return this.#keys.length;
  }

  /** The first so many. */
  rows(most: number): ListedHit[] {
    return this.#keys.slice(0, most).map((key) => {
      const title = this.#called.titleOf(key);
      const count = this.#count[key]!;
      return {
        label: title.label,
        id: [title.id, title.shape].filter(Boolean).join(" · "),
        kind: this.#called.kind(key),
        value: `${this.#slices.told(this.#ns[key]!)}${count > 1 ? ` · ${integer(count)}×` : ""}`,
        title: titleText(title),
      };
    });
  }

  /** The slice of a row that begins at a place or next after it, else its first. */
  sliceOf(row: number, { at }: Place): number {
    const key = this.#keys[row];
    let [first, next] = [-1, -1];
    this.#each((slice) => {
      if (this.#called.operators.of(slice) !== key) return;
      const start = this.#slices.startOf(slice);
      if (first < 0 || start < this.#slices.startOf(first)) first = slice;
      if (start >= at && (next < 0 || start < this.#slices.startOf(next))) next = slice;
    });
    return next < 0 ? first : next;
  }

  #each(see: (slice: number) => void): void {
    const { count } = this.#slices;
    for (let slice = this.#found.next(0, count); slice >= 0; ) {
      see(slice);
      slice = this.#found.next(slice + 1, count);
    }
  }
}
