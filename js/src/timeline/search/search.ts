import { counted, duration, integer } from "../../shared/format.ts";
import { Regex, RegexError } from "../../shared/regex.ts";
import { Marked } from "../data/marked.ts";
import type { Names } from "../data/names.ts";
import type { Slices } from "../data/slices.ts";

/** Tells whether a name fits a part of what is sought. */
type Fit = (name: string) => boolean;

/** What is sought: a node by its id, names that hold words or fit a regular expression; or why it cannot be sought. */
export interface Query {
  text: string;
  /** -1: no node. */
  node: number;
  /** Each is to fit a name of the slice or of its node; none where only the node is sought. */
  fits: readonly Fit[];
  error: string;
}

/** A word, or several in quotes. */
const WORD = /"([^"]+)"?|[^\s"]+/g;

/** `conv2d relu` (both words, as in the graph), `"conv2d + add"`, `66` (the node first, then names that hold it), `#66` (the node alone), `/conv.*relu$/`. */
export function parsed(typed: string): Query {
  const text = typed.trim();
  const query: Query = { text, node: -1, fits: [], error: "" };
  if (text.length > 1 && text.startsWith("/") && text.endsWith("/")) {
    try {
      const regex = new Regex(text.slice(1, -1));
      query.fits = [(name) => regex.search(name.toLowerCase())];
    } catch (error) {
      query.error = problem(error);
    }
    return query;
  }
  const [, only, digits] = /^(#?)(\d{1,15})$/.exec(text) ?? [];
  if (digits !== undefined) query.node = Number(digits);
  if (only) return query;
  const words = Array.from(text.toLowerCase().matchAll(WORD), ([word, quoted]) => quoted ?? word);
  query.fits = words.map((word) => (name) => name.toLowerCase().includes(word));
  return query;
}

function problem(error: unknown): string {
  if (!(error instanceof RegexError)) throw error;
  const where = error.at ? ` at character ${error.at + 1}` : "";
  return `not a regular expression: ${error.message}${where}`;
}

/** From where a hit is sought: a time in nanoseconds, and the slice that starts then, if one is meant. */
export interface Place {
  at: number;
  slice?: number;
}

/** The slices that a search finds: those of a searched node id first, then by start. */
export class Found {
  readonly marked: Marked;
  readonly error: string;
  /** Time of the hits without the slices inside them. */
  readonly sum: number;
  readonly #slices: Slices;
  readonly #isSought: boolean;
  /** Hits that are gone through one after the other. */
  readonly #groups: readonly Marked[];

  constructor(slices: Slices, names: Names, { text, node, fits, error }: Query) {
    this.#slices = slices;
    const { count } = slices;
    const first = new Marked(count, node < 0 ? [] : slices.of(node));
    let [all, problem_] = [first, error];
    if (fits.length) {
      try {
        all = matching(slices, names, fits, first);
      } catch (caught) {
        problem_ = problem(caught);
      }
    }
    this.error = problem_;
    this.#isSought = text !== "";
    this.marked = all;
    const rest = first.count ? Marked.where(count, (at) => all.has(at) && !first.has(at)) : all;
    this.#groups = [first, rest].filter((group) => group.count > 0);
    let sum = 0;
    for (let at = all.next(0, count); at >= 0; at = all.next(at + 1, count)) {
      sum += slices.selfOf(at);
    }
    this.sum = sum;
  }

  get count(): number {
    return this.marked.count;
  }

  /**
   * The found slice before (`by` < 0) or after a place, round in a circle; -1 where none was found. From a slice that
   * is no hit on, those of a searched node id come first.
   */
  next(from: Place, by: number): number {
    const groups = this.#groups.length;
    if (!groups) return -1;
    const group = this.#groups.findIndex((each) => each.has(from.slice ?? -1));
    const own = this.#groups[group < 0 ? (by > 0 ? 0 : groups - 1) : group]!;
    const there = this.#beside(own, from, by);
    if (there >= 0) return there;
    const other = group < 0 ? own : this.#groups[(group + by + groups) % groups]!;
    return this.#beside(other, { at: -by * Infinity }, by);
  }

  /** `3 of 21 hits, Σ 12.30 ms`; what is wrong with the question. */
  text(current: number): string {
    if (!this.#isSought) return "";
    if (this.error) return this.error;
    if (!this.count) return "no hits";
    const self = this.#slices.nested ? "self time " : "";
    const all = `${counted(this.count, "hit")}, ${self}Σ ${duration(this.sum)}`;
    const place = this.#placeOf(current);
    return place ? `${integer(place)} of ${all}` : all;
  }

  /** 1 for the first hit in the order in which `next` goes through them, 0 of no hit. */
  #placeOf(slice: number): number {
    let before = 0;
    for (const group of this.#groups) {
      if (!group.has(slice)) {
        before += group.count;
        continue;
      }
      const start = this.#slices.startOf(slice);
      for (const row of this.#slices.rows) {
        before += group.countIn(row.first, row.startingAt(start));
        for (let at = row.startingAt(start); at < row.last && at <= slice; at++) {
          if (this.#slices.startOf(at) !== start) break;
          if (group.has(at)) before++;
        }
      }
      return before;
    }
    return 0;
  }

  /** The hit of a group that starts next to a place, -1 for none; equal starts by number. */
  #beside(group: Marked, { at: start, slice = -1 }: Place, by: number): number {
    const slices = this.#slices;
    let best = -1;
    for (const row of slices.rows) {
      let at = row.startingAt(start);
      const goesBefore = (each: number) => each < slice + (by > 0 ? 1 : 0);
      while (at < row.last && slices.startOf(at) === start && goesBefore(at)) at++;
      const [from, to] = by > 0 ? [at, row.last] : [row.first, at];
      const hit = by > 0 ? group.next(from, to) : group.previous(from, to);
      if (hit < 0) continue;
      const apart = slices.startOf(hit) - slices.startOf(best) || hit - best;
      if (best < 0 || (by > 0 ? apart < 0 : apart > 0)) best = hit;
    }
    return best;
  }
}

/** Each distinct name is looked at once. */
function matching(slices: Slices, names: Names, fits: readonly Fit[], first: Marked): Marked {
  const found = fits.map((holds) => ({
    byNode: names.nodesThat(holds),
    codes: Uint8Array.from({ length: slices.names.length }, (_, code) =>
      holds(slices.names.at(code)) || holds(slices.nameLabel(code)) ? 1 : 0,
    ),
  }));
  return Marked.where(slices.count, (slice) => {
    if (first.has(slice)) return true;
    const [code, node] = [slices.nameCodeOf(slice), slices.nodeOf(slice)];
    return found.every(({ byNode, codes }) => codes[code] || byNode[node]);
  });
}
