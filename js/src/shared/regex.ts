import { append } from "./many.ts";

/**
 * Regular expressions in time linear in the text; tvmdbg_widgets/analysis/query.py lists their syntax. No backtracking:
 * all states that an expression can be in are followed at once (K. Thompson, "Regular expression search algorithm",
 * 1968), and the transitions between sets of states are cached.
 */

type CharacterRanges = readonly (readonly [low: number, high: number])[];
type PatternPiece =
  | { ranges: CharacterRanges }
  | { border: "start" | "end" }
  | { ways: PatternPiece[][] }
  | { piece: PatternPiece; least: number; most: number };

const LAST = 0x10ffff;
const MOST_DEPTH = 50;
const MOST_STATES = 400;
const MOST_KEPT = 500;
const MOST_WORK = 500_000;
const CLASSES: Record<string, CharacterRanges> = {
  d: [[48, 57]],
  w: [
    [48, 57],
    [95, 95],
    [97, 122],
  ],
  s: [
    [9, 13],
    [32, 32],
  ],
};
const CONTROLS: Record<string, string> = { n: "\n", t: "\t", r: "\r" };

export class RegexError extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

class Reader {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): PatternPiece[][] {
    const pattern = this.#either();
    if (this.#at < this.#pattern.length) this.#fail("no ')' without a '('");
    return pattern;
  }

  #fail(expected: string, at = this.#at): never {
    throw new RegexError(at, `expected ${expected}`);
  }

  #sign(at = this.#at): string {
    const code = this.#pattern.codePointAt(at);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  #next(): string {
    const sign = this.#sign();
    this.#at += sign.length || 1;
    return sign;
  }

  #either(): PatternPiece[][] {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) this.#fail(`at most ${MOST_DEPTH} nested groups`);
    const ways = [this.#sequence()];
    while (this.#sign() === "|") {
      this.#at += 1;
      ways.push(this.#sequence());
    }
    this.#depth -= 1;
    return ways;
  }

  #sequence(): PatternPiece[] {
    const pieces: PatternPiece[] = [];
    while (!["", "|", ")"].includes(this.#sign())) {
      const piece = this.#piece();
      const [least, most] = this.#repeats();
      pieces.push(least === 1 && most === 1 ? piece : { piece, least, most });
    }
    return pieces;
  }

  #piece(): PatternPiece {
    const at = this.#at;
    const sign = this.#next();
    if (sign === "(") {
      if (this.#pattern.startsWith("?:", this.#at)) this.#at += 2;
      else if (this.#sign() === "?") this.#fail("a plain group, ( ) or (?: )");
      const ways = this.#either();
      if (this.#next() !== ")") this.#fail("a ')' for this '('", at);
      return { ways };
    }
    if ("*+?{".includes(sign)) this.#fail(`something before '${sign}'`, at);
    if (sign === "^") return { border: "start" };
    if (sign === "$") return { border: "end" };
    if (sign === ".") return { ranges: [[0, LAST]] };
    return { ranges: sign === "[" ? this.#class(at) : this.#one(sign) };
  }

  #repeats(): [least: number, most: number] {
    const at = this.#at;
    const sign = this.#sign();
    if (!sign || !"*+?{".includes(sign)) return [1, 1];
    this.#at += 1;
    let [least, most] = [sign === "+" ? 1 : 0, sign === "?" ? 1 : -1];
    if (sign === "{") {
      least = this.#count();
      most = least;
      let isGood = least >= 0;
      if (this.#sign() === ",") {
        this.#at += 1;
        const isOpen = this.#sign() === "}";
        most = isOpen ? -1 : this.#count();
        isGood &&= isOpen || most >= least;
      }
      if (!isGood || this.#next() !== "}") this.#fail("a repetition like {2} or {2,5}", at);
    }
    if (this.#sign() === "?") this.#at += 1;
    if (this.#sign() && "*+?{".includes(this.#sign())) this.#fail("one repetition, not two");
    return [least, most];
  }

  #count(): number {
    const digits = /^[0-9]*/.exec(this.#pattern.slice(this.#at))![0];
    this.#at += digits.length;
    return digits && digits.length <= 4 ? Number(digits) : -1;
  }

  #one(first: string): CharacterRanges {
    let sign = first;
    if (sign === "\\") {
      const at = this.#at - 1;
      sign = this.#next();
      if (Object.hasOwn(CLASSES, sign)) return CLASSES[sign]!;
      const lower = sign.toLowerCase();
      if (Object.hasOwn(CLASSES, lower)) return others(CLASSES[lower]!);
      if (!sign || (/[A-Za-z0-9]/.test(sign) && !Object.hasOwn(CONTROLS, sign))) {
        this.#fail("an escape like \\d, \\w, \\s or \\.", at);
      }
      if (Object.hasOwn(CONTROLS, sign)) sign = CONTROLS[sign]!;
    }
    const lower = sign.toLowerCase();
    const code = ([...lower].length === 1 ? lower : sign).codePointAt(0)!;
    return [[code, code]];
  }

  #class(opened: number): CharacterRanges {
    const ranges: (readonly [number, number])[] = [];
    const isOpposite = this.#sign() === "^";
    if (isOpposite) this.#at += 1;
    const first = this.#at;
    while (this.#sign() !== "]" || this.#at === first) {
      const at = this.#at;
      const sign = this.#next();
      if (!sign) this.#fail("a ']' for this '['", opened);
      const low = this.#one(sign);
      if (this.#sign() !== "-" || ["", "]"].includes(this.#sign(this.#at + 1))) {
        append(ranges, low);
        continue;
      }
      this.#at += 1;
      const high = this.#one(this.#next());
      if (low.length > 1 || high.length > 1 || low[0]![0] > high[0]![0]) {
        this.#fail("a range like a-z", at);
      }
      ranges.push([low[0]![0], high[0]![0]]);
    }
    this.#at += 1;
    return isOpposite ? others(ranges) : ranges;
  }
}

function others(ranges: CharacterRanges): CharacterRanges {
  const merged: [number, number][] = [];
  let low = 0;
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (low < first) merged.push([low, first - 1]);
    low = Math.max(low, last + 1);
  }
  return low <= LAST ? [...merged, [low, LAST]] : merged;
}

/** A set of states, whether it is a match, and its transitions by character. */
interface StateSet {
  states: readonly number[];
  match: boolean;
  /** True if no further character changes the result. */
  isLast: boolean;
  atEnd: boolean;
  next: Map<string, StateSet>;
}

const MATCHED = 0;

export class Regex {
  readonly #ranges: CharacterRanges[] = [[]];
  readonly #border: string[] = [""];
  readonly #next: (readonly number[])[] = [[]];
  readonly #first: number;
  readonly #kept = new Map<string, StateSet>();
  readonly #open: StateSet;
  #work = 0;

  /** Throws a RegexError if the expression is wrong or too large. */
  constructor(pattern: string) {
    this.#first = this.#either(new Reader(pattern).read(), MATCHED);
    this.#open = this.#known(this.#closed([this.#first], "start"));
  }

  search(text: string): boolean {
    let known = this.#open;
    if (known.match) return true;
    for (const sign of text) {
      known = known.next.get(sign) ?? this.#read(known, sign);
      if (known.isLast) return known.match;
    }
    return known.atEnd;
  }

  #known(states: number[]): StateSet {
    const key = states.join();
    let known = this.#kept.get(key);
    if (!known) {
      if (this.#kept.size >= MOST_KEPT) {
        for (const set of this.#kept.values()) set.next.clear();
        this.#kept.clear();
      }
      const atEnd = this.#closed(states, "end").includes(MATCHED);
      const isMatch = states.includes(MATCHED);
      known = {
        states,
        match: isMatch,
        isLast: isMatch || !states.length,
        atEnd,
        next: new Map(),
      };
      this.#kept.set(key, known);
    }
    return known;
  }

  #read(known: StateSet, sign: string): StateSet {
    const code = sign.codePointAt(0)!;
    const ahead = [this.#first];
    for (const state of known.states) {
      if (this.#ranges[state]!.some(([low, high]) => low <= code && code <= high)) {
        append(ahead, this.#next[state]!);
      }
    }
    const there = this.#known(this.#closed(ahead, ""));
    known.next.set(sign, there);
    return there;
  }

  /** The states that wait for a character or the end, reached without reading. */
  #closed(states: readonly number[], border: string): number[] {
    const seen = new Set<number>();
    const waiting = [...states];
    while (waiting.length) {
      const state = waiting.pop()!;
      if (seen.has(state)) continue;
      seen.add(state);
      const goesOn = this.#border[state] === "" || this.#border[state] === border;
      if (this.#ranges[state]!.length === 0 && goesOn) append(waiting, this.#next[state]!);
    }
    this.#work += seen.size;
    if (this.#work > MOST_WORK) {
      throw new RegexError(0, "expected a simpler regular expression: this one takes too long");
    }
    return [...seen]
      .filter(
        (state) =>
          this.#ranges[state]!.length || state === MATCHED || this.#border[state] === "end",
      )
      .sort((a, b) => a - b);
  }

  #add(next: readonly number[], ranges: CharacterRanges = [], border = ""): number {
    if (this.#next.length >= MOST_STATES) {
      throw new RegexError(0, "expected a smaller regular expression");
    }
    this.#ranges.push(ranges);
    this.#border.push(border);
    return this.#next.push(next) - 1;
  }

  #either(ways: readonly (readonly PatternPiece[])[], after: number): number {
    return this.#add(
      ways.map((way) => way.reduceRight((next, piece) => this.#piece(piece, next), after)),
    );
  }

  #piece(piece: PatternPiece, end: number): number {
    // An empty character class matches nothing.
    if ("ranges" in piece) return this.#add([end], piece.ranges.length ? piece.ranges : [[-1, -1]]);
    if ("border" in piece) return this.#add([end], [], piece.border);
    if ("ways" in piece) return this.#either(piece.ways, end);
    let after = end;
    if (piece.most < 0) {
      after = this.#add([]);
      this.#next[after] = [this.#piece(piece.piece, after), end];
    }
    for (let more = piece.least; more < piece.most; more++) {
      after = this.#add([this.#piece(piece.piece, after), end]);
    }
    for (let times = 0; times < piece.least; times++) after = this.#piece(piece.piece, after);
    return after;
  }
}

/** Regular expression of a pattern with `*` and `?` for complete texts. */
export function globRegex(glob: string): string {
  const signs: Record<string, string> = { "*": ".*", "?": "." };
  const plain = Array.from(
    glob,
    (sign) => signs[sign] ?? sign.replace(/[^a-z0-9\u0080-\uffff]/i, "\\$&"),
  );
  return `^${plain.join("")}$`;
}
