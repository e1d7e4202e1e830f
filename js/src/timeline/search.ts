import type { Client } from "../shared/client/client.ts";
import { errorText, isAbort } from "../shared/client/request.ts";
import type { FindAnswer, SliceResult } from "../shared/client/timeline_columns.ts";
import { counted, duration, integer } from "../shared/format.ts";
import { Regex, RegexError } from "../shared/regex.ts";
import { LISTED, type ListedHit } from "../shell/hit_list.ts";
import type { TimelineBar } from "./bar.ts";
import { KeyNames } from "./data/key_names.ts";
import { MarkedSlices } from "./data/marked.ts";
import { type Names, titleText } from "./data/names.ts";
import type { Slices } from "./data/slices.ts";
import type { TimelineData } from "./descriptions.ts";
import type { TimeCamera } from "./tracks/chart.ts";

/** True if a name matches a part of the query. */
type NameTest = (name: string) => boolean;

/** Parsed query: a node id, words or a regular expression; or the reason why it is invalid. */
export interface SliceQuery {
  text: string;
  /** -1: no node. */
  node: number;
  /** All must match a name of the slice or of its node; empty if only the node is searched. */
  fits: readonly NameTest[];
  error: string;
}

/** A word, or several in quotes. */
const WORD = /"([^"]+)"?|[^\s"]+/g;

/** Parses `conv2d relu` (both words), `"conv2d + add"`, `66` (node, then names), `#66` (node), `/conv.*relu$/`. */
export function parsed(typed: string): SliceQuery {
  const text = typed.trim();
  const query: SliceQuery = { text, node: -1, fits: [], error: "" };
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

/** Start of a search: a time in nanoseconds, and a slice at that time if one is selected. */
interface SearchStart {
  at: number;
  slice?: number;
}

/** Matching slices: those of a searched node id first, then by start. */
export class SearchHits {
  readonly marked: MarkedSlices;
  readonly error: string;
  /** Self time of the hits. */
  readonly sum: number;
  readonly #slices: Slices;
  readonly #isActive: boolean;
  /** Hits in groups, visited one after the other. */
  readonly #groups: readonly MarkedSlices[];

  constructor(slices: Slices, names: Names, { text, node, fits, error }: SliceQuery) {
    this.#slices = slices;
    const { count } = slices;
    const first = new MarkedSlices(count, node < 0 ? [] : slices.of(node));
    let [all, problem_] = [first, error];
    if (fits.length) {
      try {
        all = matching(slices, names, fits, first);
      } catch (caught) {
        problem_ = problem(caught);
      }
    }
    this.error = problem_;
    this.#isActive = text !== "";
    this.marked = all;
    const rest = first.count
      ? MarkedSlices.where(count, (at) => all.has(at) && !first.has(at))
      : all;
    this.#groups = [first, rest].filter((group) => group.count > 0);
    let sum = 0;
    for (const slice of all) sum += slices.selfOf(slice);
    this.sum = sum;
  }

  /** Hit before (`by` < 0) or after a position, cyclic, or -1; hits of a searched id come first. */
  next(from: SearchStart, by: number): number {
    const groups = this.#groups.length;
    if (!groups) return -1;
    const group = this.#groups.findIndex((group) => group.has(from.slice ?? -1));
    const own = this.#groups[group < 0 ? (by > 0 ? 0 : groups - 1) : group]!;
    const there = this.#beside(own, from, by);
    if (there >= 0) return there;
    const other = group < 0 ? own : this.#groups[(group + by + groups) % groups]!;
    return this.#beside(other, { at: -by * Infinity }, by);
  }

  /** `3 of 21 hits, Σ 12.30 ms`, or the error of the query. */
  text(current: number): string {
    if (!this.#isActive) return "";
    if (this.error) return this.error;
    if (!this.marked.count) return "no hits";
    const self = this.#slices.nested ? "self time " : "";
    const all = `${counted(this.marked.count, "hit")}, ${self}Σ ${duration(this.sum)}`;
    const place = this.#placeOf(current);
    return place ? `${integer(place)} of ${all}` : all;
  }

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

  /** The hit of a group with the nearest start, or -1; equal starts by number. */
  #beside(group: MarkedSlices, { at: start, slice = -1 }: SearchStart, by: number): number {
    const slices = this.#slices;
    let best = -1;
    for (const row of slices.rows) {
      let at = row.startingAt(start);
      const goesBefore = (hit: number) => hit < slice + (by > 0 ? 1 : 0);
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

/** Tests distinct names once. */
function matching(
  slices: Slices,
  names: Names,
  fits: readonly NameTest[],
  first: MarkedSlices,
): MarkedSlices {
  const matches = fits.map((holds) => ({
    byNode: names.nodesThat(holds),
    codes: Uint8Array.from({ length: slices.names.length }, (_, code) =>
      holds(slices.names.at(code)) || holds(slices.nameLabel(code)) ? 1 : 0,
    ),
  }));
  return MarkedSlices.where(slices.count, (slice) => {
    if (first.has(slice)) return true;
    const [code, node] = [slices.nameCodeOf(slice), slices.nodeOf(slice)];
    return matches.every(({ byNode, codes }) => codes[code] || byNode[node]);
  });
}

/** Search by the kernel among more slices than a page holds. */
class FarSearch {
  readonly #host: SearchHost;
  readonly #search: Pick<TimelineSearch, "goFar">;
  #text = "";
  #serial = 0;

  constructor(host: SearchHost, search: Pick<TimelineSearch, "goFar">) {
    this.#host = host;
    this.#search = search;
  }

  search(typed: string): void {
    const { text, error } = parsed(typed);
    this.#serial++;
    this.#text = error ? "" : text;
    if (error) this.#host.bar.showHits(error, true);
    else if (!text) this.#host.bar.showHits("", false);
    else {
      this.#host.bar.showHits("searching …", false);
      void this.#ask({ at: 0 }, (answer) => this.#host.bar.showHits(rowText(answer), false));
    }
  }

  /** Goes to the next hit from a position, or to the one before (`by` < 0). */
  next(from: SearchStart, by: number): void {
    if (!this.#text) return;
    void this.#ask(from, (answer) => {
      this.#host.bar.showHits(rowText(answer), false);
      const hit = by > 0 ? answer.next : answer.previous;
      if (hit) this.#search.goFar(hit);
    });
  }

  async #ask(from: SearchStart, done: (answer: FindAnswer) => void): Promise<void> {
    const serial = ++this.#serial;
    const { run, signal } = this.#host.context;
    const regex = this.#text.length > 1 && this.#text.startsWith("/") && this.#text.endsWith("/");
    const text = regex ? this.#text.slice(1, -1) : this.#text;
    try {
      const answer = await run.ask("find", { text, regex, ...from }, signal);
      if (serial === this.#serial && !signal.aborted) done(answer);
    } catch (error) {
      if (serial === this.#serial && !isAbort(error))
        this.#host.bar.showHits(errorText(error), true);
    }
  }
}

function rowText({ count, selfNs }: FindAnswer): string {
  return count ? `${counted(count, "hit")}, self time Σ ${duration(selfNs)}` : "no hits";
}

/** Hits by operator or name, the longest first. */
class HitRows {
  readonly #found: MarkedSlices;
  readonly #slices: Slices;
  readonly #called: KeyNames;
  readonly #ns: Float64Array;
  readonly #count: Int32Array;
  readonly #keys: number[] = [];

  constructor(hits: MarkedSlices, slices: Slices, called: KeyNames) {
    [this.#found, this.#slices, this.#called] = [hits, slices, called];
    const { operators } = called;
    this.#ns = new Float64Array(operators.size);
    this.#count = new Int32Array(operators.size);
    for (const slice of hits) {
      const key = operators.of(slice);
      if (this.#count[key]!++ === 0) this.#keys.push(key);
      this.#ns[key]! += slices.selfOf(slice);
    }
    this.#keys.sort((a, b) => this.#ns[b]! - this.#ns[a]! || a - b);
  }

  get total(): number {
    return this.#keys.length;
  }

  /** The first `most` hits. */
  rows(most: number): ListedHit[] {
    return this.#keys.slice(0, most).map((key) => {
      const title = this.#called.titleOf(key);
      const count = this.#count[key]!;
      return {
        label: titleText(title),
        kind: this.#called.kind(key),
        value: `${this.#slices.timeText(this.#ns[key]!)}${count > 1 ? ` · ${integer(count)}×` : ""}`,
        title: titleText(title),
      };
    });
  }

  /** The slice of a row that begins at a time or next after it, else its first. */
  sliceOf(row: number, { at }: SearchStart): number {
    const key = this.#keys[row];
    let [first, next] = [-1, -1];
    for (const slice of this.#found) {
      if (this.#called.operators.of(slice) !== key) continue;
      const start = this.#slices.startOf(slice);
      if (first < 0 || start < this.#slices.startOf(first)) first = slice;
      if (start >= at && (next < 0 || start < this.#slices.startOf(next))) next = slice;
    }
    return next < 0 ? first : next;
  }
}

export interface SearchHost {
  readonly context: { readonly run: Client; readonly signal: AbortSignal };
  readonly data: TimelineData;
  readonly camera: TimeCamera;
  readonly bar: TimelineBar;
  say(text: string): void;
  pick(slice: number): void;
  /** Repaints the marks of hits. */
  found(): void;
}

/** Search over the timeline: in the page, or in the kernel for slices the page lacks. */
export class TimelineSearch {
  readonly #host: SearchHost;
  readonly #far: FarSearch | null;
  #found: SearchHits;
  #rows: HitRows | null = null;
  #text = "";
  /** Slice to select once it is loaded. */
  #awaited: SliceResult | null = null;

  constructor(host: SearchHost) {
    this.#host = host;
    const { slices, names } = host.data;
    this.#found = new SearchHits(slices, names, parsed(""));
    this.#far = slices.columns.info.whole ? null : new FarSearch(host, this);
  }

  search(text: string): void {
    this.#text = text;
    if (this.#far) {
      this.#far.search(text);
      return;
    }
    const { slices, names, scene } = this.#host.data;
    this.#found = new SearchHits(slices, names, parsed(text));
    scene.hits = this.#found.marked;
    const { marked } = this.#found;
    const called = new KeyNames(slices, names, this.#host.data.graph);
    this.#rows = text ? new HitRows(marked, slices, called) : null;
    this.#host.bar.list.show(this.#rows?.rows(LISTED) ?? [], this.#rows?.total);
    this.show();
    this.#host.found();
  }

  /** Slices have loaded: run the pending search. */
  arrived(): void {
    if (this.#text && !this.#far) this.search(this.#text);
  }

  /** Goes to the next slice of a listed hit. */
  go(row: number): void {
    const slice = this.#rows?.sliceOf(row, this.#here(1)) ?? -1;
    if (slice >= 0) this.#host.pick(slice);
    this.show();
  }

  /** Ends the search; returns false if there was none. */
  end(): boolean {
    if (!this.#text) return false;
    this.#host.bar.clearSearch();
    this.search("");
    this.#host.say("search ended");
    return true;
  }

  next(by: number): void {
    if (this.#far) {
      this.#far.next(this.#here(by), by);
      return;
    }
    const slice = this.#found.next(this.#here(by), by);
    if (slice >= 0) this.#host.pick(slice);
    this.show();
  }

  show(): void {
    if (this.#far) return;
    const { current } = this.#host.data.scene;
    this.#host.bar.showHits(this.#found.text(current), this.#found.error !== "");
  }

  painted(): void {
    const slice = this.#awaited?.slice ?? -1;
    if (Number.isNaN(this.#host.data.slices.startOf(slice))) return;
    this.#awaited = null;
    this.#host.pick(slice);
  }

  /** The selected slice if visible, else the beginning or end of the visible part. */
  #here(by: number): SearchStart {
    if (this.#awaited) return { at: this.#awaited.start, slice: this.#awaited.slice };
    const { slices, scene } = this.#host.data;
    const { current, viewport } = scene;
    const start = slices.startOf(current);
    if (start <= viewport.end && slices.endOf(current) >= viewport.start) {
      return { at: start, slice: current };
    }
    return { at: by > 0 ? viewport.start : viewport.end };
  }

  /** Scrolls to a slice that may not be loaded yet, and selects it once it is. */
  goFar(slice: SliceResult): void {
    const { name, start, duration: lasts } = slice;
    const margin = 10 * Math.max(1, lasts);
    const { viewport, slices } = this.#host.data.scene;
    this.#awaited = slice;
    this.#host.camera.move(() => viewport.show(start - margin, start + lasts + margin));
    this.#host.say(`Found ${name}, starts ${duration(start)}, lasts ${slices.timeText(lasts)}`);
  }
}
