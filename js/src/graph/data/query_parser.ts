/** Parser of queries; tvmdbg_widgets/analysis/query.py has the grammar. */

import { agree, counted, integer } from "../../shared/format.ts";
import { globRegex, Regex, RegexError } from "../../shared/regex.ts";
import { closeFields, GRAPH, type Vocabulary } from "./query_fields.ts";

export type Mode = "has" | "is" | "glob" | "regex";

/** Texts are in lower case, numbers in nanoseconds, bytes, or shares of 1. */
export type Query =
  | ["word", Mode, string]
  | ["id", number]
  | ["text", field: string, Mode, string, differs: boolean]
  | ["compare", field: string, by: string, number]
  | ["shape", sizes: string[], differs: boolean]
  | ["not", Query]
  | ["and" | "or", ...Query[]]
  | ["path", arrows: string[], ...Query[]];

export class QueryError extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

const MOST_LENGTH = 10_000;
const MOST_TERMS = 100;
const MOST_DEPTH = 50;
const MOST_SIZES = 64;

const S = "[\\t-\\r \\u00a0\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]";
const END = `(?=${S}|[()|]|->|$)`;
const sticky = (source: string) => new RegExp(source, "y");
const SPACE = sticky(`${S}*`);
const BARE = sticky(`(?:(?!${S}|[()|]|->)[^])*`);
const KEYWORD = sticky(`([Aa][Nn][Dd]|[Oo][Rr]|[Nn][Oo][Tt])${END}`);
const ID = sticky(`#([0-9]{1,9})${END}`);
const FIELD = sticky(
  "([Aa][Tt][Tt][Rr]\\.[A-Za-z0-9_.-]*[A-Za-z0-9_]|[A-Za-z_][A-Za-z0-9_]*)" +
    `(:(?!:)|${S}*(?:<=|>=|==|!=|[<>=]))`,
);
const WHOLE = sticky(`[+-]?[0-9]+${END}`);
const DIGITS = sticky(`[0-9]+${END}`);
const REGEX = sticky(`/((?:(?!${S})[^])*?)/${END}`);
const NUMBER = sticky("[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?");
const UNIT = sticky(`(${S}?)([A-Za-zµμ%]+)${END}`);
const NAMESPACE = /(?:[a-z0-9_]+\.)+(?=[*?]*[a-z0-9_])/;
const BRACKETS = sticky("\\(([^()]*)\\)|\\[([^\\[\\]]*)\\]");
const PLAIN_SHAPE = sticky(`\\(${S}*(?:[0-9]+${S}*,${S}*)*(?:[0-9]+${S}*)?\\)`);
const SIZE = new RegExp(`^${S}*([0-9*?]+|\\.\\.\\.)${S}*$`);
const BLANK = new RegExp(`^${S}*$`);

export function parse(text: string, vocabulary = GRAPH): Query | null {
  return new Parser(text, vocabulary).parse();
}

class Parser {
  readonly #text: string;
  readonly #vocabulary: Vocabulary;
  #at = 0;
  #depth = 0;
  #terms = 0;

  constructor(text: string, vocabulary: Vocabulary) {
    this.#text = text;
    this.#vocabulary = vocabulary;
  }

  parse(): Query | null {
    const { length } = this.#text;
    if (length > MOST_LENGTH) {
      const first = [...this.#text.slice(0, 2 * MOST_LENGTH + 2)].slice(0, MOST_LENGTH + 1);
      if (first.length > MOST_LENGTH) {
        const end = first.slice(0, MOST_LENGTH).join("").length;
        this.#fail(end, `expected at most ${MOST_LENGTH} characters`);
      }
    }
    this.#take(SPACE);
    if (this.#at === length) return null;
    const query = this.#either();
    if (this.#at < length) this.#fail(this.#at, "expected no ')' without a '('");
    return query;
  }

  /** Positions count code points, as in Python. */
  #fail(at: number, expected: string, more = ""): never {
    throw new QueryError(at, `${expected} at ${[...this.#text.slice(0, at)].length}${more}`);
  }

  #missing(expected: string): never {
    const code = this.#text.codePointAt(this.#at);
    const got = code === undefined ? "" : `, found '${String.fromCodePoint(code)}'`;
    this.#fail(this.#at, `expected ${expected}`, got);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    const match = this.#match(pattern);
    if (match) this.#at += match[0].length;
    return match;
  }

  #bare(): string {
    return this.#take(BARE)![0];
  }

  #next(): string {
    const match = this.#match(KEYWORD);
    return match ? match[1]!.toLowerCase() : this.#text.charAt(this.#at);
  }

  /** Takes the next word or sign if it is one of these. */
  #keyword(...words: string[]): boolean {
    this.#take(SPACE);
    const word = this.#next();
    if (!word || !words.includes(word)) return false;
    this.#at += word.length;
    return true;
  }

  #either(): Query {
    const parts = [this.#all()];
    while (this.#keyword("or", "|")) parts.push(this.#all());
    return parts.length === 1 ? parts[0]! : ["or", ...parts];
  }

  #all(): Query {
    const parts = [this.#negated()];
    while (this.#keyword("and") || !["", ")", "|", "or"].includes(this.#next()))
      parts.push(this.#negated());
    return parts.length === 1 ? parts[0]! : ["and", ...parts];
  }

  #negated(): Query {
    this.#take(SPACE);
    if (!this.#keyword("not") && !this.#minus()) return this.#path();
    this.#deeper();
    const part = this.#negated();
    this.#depth -= 1;
    return ["not", part];
  }

  #minus(): boolean {
    if (this.#text.charAt(this.#at) !== "-" || this.#text.charAt(this.#at + 1) === ">")
      return false;
    this.#at += 1;
    return true;
  }

  #deeper(): void {
    this.#depth += 1;
    if (this.#depth > MOST_DEPTH) {
      this.#fail(this.#at, `expected at most ${MOST_DEPTH} levels of parentheses`);
    }
  }

  #path(): Query {
    const steps = [this.#step()];
    const arrows: string[] = [];
    for (;;) {
      this.#take(SPACE);
      if (!this.#text.startsWith("->", this.#at)) break;
      if (!this.#vocabulary.paths) this.#fail(this.#at, "expected no '->'");
      const arrow = this.#text.startsWith("->>", this.#at) ? "->>" : "->";
      this.#at += arrow.length;
      arrows.push(arrow);
      steps.push(this.#step());
    }
    return arrows.length ? ["path", arrows, ...steps] : steps[0]!;
  }

  #step(): Query {
    this.#take(SPACE);
    this.#terms += 1;
    if (this.#terms > MOST_TERMS) this.#fail(this.#at, `expected at most ${MOST_TERMS} terms`);
    const sign = this.#text.charAt(this.#at);
    if (sign === "(") {
      const hasShapes = this.#vocabulary.fields.includes("shape");
      const plain = hasShapes ? this.#match(PLAIN_SHAPE)?.[0] : undefined;
      if (plain?.includes(",") || plain === "()") return this.#shape("");
      return this.#group();
    }
    const isTerm = sign && !")|".includes(sign) && !this.#text.startsWith("->", this.#at);
    if (!isTerm || this.#match(KEYWORD)) this.#missing("a word or a field");
    const id = this.#take(ID);
    if (id) return ["id", Number(id[1])];
    return this.#field() ?? ["word", ...this.#pattern("a word")];
  }

  #group(): Query {
    const opened = this.#at;
    this.#at += 1;
    this.#deeper();
    const query = this.#either();
    if (this.#text.charAt(this.#at) !== ")") this.#fail(opened, "expected a ')' for the '('");
    this.#at += 1;
    this.#depth -= 1;
    return query;
  }

  #field(): Query | null {
    const at = this.#at;
    const match = this.#take(FIELD);
    if (!match) return null;
    const [, word, space] = match as unknown as [string, string, string];
    const sign = space.replace(SPACE_BEFORE, "");
    const isAttr = word[4] === "." && this.#vocabulary.fields.includes("attr.");
    const name = isAttr ? `attr.${word.slice(5)}` : word.toLowerCase();
    if (!isAttr && !this.#vocabulary.fields.includes(name)) {
      // Names such as "add:0" occur in graphs, tensors and outputs.
      const isSlip = /^[a-z]{4,}$/.test(name) && closeFields(name, this.#vocabulary.fields, 1)[0];
      if (sign === ":" && this.#vocabulary.paths && this.#match(DIGITS) && !isSlip) {
        this.#at = at;
        return null;
      }
      this.#unknown(word, at);
    }
    const by = sign === "==" ? "=" : sign;
    if (sign !== ":") this.#take(SPACE);
    if (name === "shape") return this.#shape(by);
    if (this.#isNumber(name, by, at + word.length)) return this.#number(name, by);
    let [mode, text] = this.#pattern(`a pattern after '${word}${sign}'`, by !== ":");
    if (name === "op" && mode !== "regex") text = text.replace(NAMESPACE, "");
    return ["text", name, mode, text, by === "!="];
  }

  #isNumber(name: string, by: string, at: number): boolean {
    const isText = this.#vocabulary.texts.includes(name);
    const isNumber = this.#vocabulary.numbers.includes(name);
    if ("<>".includes(by[0]!)) {
      if (isText && !isNumber) this.#fail(at, `expected ':', '=' or '!=' after ${name}`);
      return true;
    }
    return isNumber && (!isText || this.#match(WHOLE) !== null);
  }

  #unknown(name: string, at: number): never {
    const { fields } = this.#vocabulary;
    const example = (field: string) => (field === "attr." ? "attr.NAME" : field);
    const close = closeFields(name.toLowerCase(), fields).map(example);
    const hint = close.length
      ? `did you mean ${close.join(" or ")}?`
      : `put a text in quotes; fields are ${fields.map(example).join(", ")}`;
    this.#fail(at, `unknown field '${name}'`, `; ${hint}`);
  }

  /** A word, a text in quotes, a pattern with `*`, or a regular expression. */
  #pattern(expected: string, isExact = false): [Mode, string] {
    const at = this.#at;
    const sign = this.#text.charAt(at);
    const plain = isExact ? "is" : "has";
    if (sign === '"' || sign === "'") {
      const end = this.#text.indexOf(sign, at + 1);
      if (end < 0) this.#fail(at, `expected a closing ${sign} for the ${sign}`);
      this.#at = end + 1;
      return [plain, this.#text.slice(at + 1, end).toLowerCase()];
    }
    const regex = this.#take(REGEX)?.[1];
    if (regex) {
      this.#compiled(regex, at + 1);
      return ["regex", regex];
    }
    this.#at = at;
    const text = this.#bare().toLowerCase();
    if (!text) this.#missing(expected);
    if (!/[*?]/.test(text)) return [plain, text];
    this.#compiled(globRegex(text), at, "expected a shorter pattern with * or ?");
    return ["glob", text];
  }

  #compiled(pattern: string, at: number, wrong = ""): void {
    try {
      new Regex(pattern);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      this.#fail(wrong ? at : at + error.at, wrong || error.message);
    }
  }

  #number(name: string, by: string): Query {
    const match = this.#take(NUMBER);
    if (!match) this.#missing("a number");
    let value = Number(match[0]);
    const units = this.#vocabulary.units[name];
    const at = this.#at;
    let suffix = units ? this.#take(UNIT) : null;
    if (units && suffix) {
      const unit = units.anyCase ? suffix[2]!.toLowerCase() : suffix[2]!;
      if (Object.hasOwn(units.factors, unit)) value *= units.factors[unit]!;
      else if (suffix[1]) {
        this.#at = at;
        suffix = null;
      } else this.#fail(at, `expected ${units.hint}`, `, found '${suffix[2]}'`);
    }
    if (units?.needed && !suffix && value) this.#missing(`a unit (${units.hint})`);
    if (this.#match(BARE)![0]) this.#missing("a space after the number");
    return ["compare", name, by === ":" ? "=" : by, value];
  }

  #shape(by: string): Query {
    if (by && "<>".includes(by[0]!)) this.#fail(this.#at, "expected ':', '=' or '!=' after shape");
    let start = this.#at;
    const match = this.#take(BRACKETS);
    let inner = match?.[0].slice(1, -1);
    if (match) start += 1;
    else {
      inner = this.#bare();
      if (!inner) this.#missing("a shape like *,64,*,*");
    }
    return ["shape", this.#sizes(inner!, start), by === "!="];
  }

  #sizes(inner: string, from: number): string[] {
    const pieces = inner.split(/[,x×]/);
    if (BLANK.test(pieces.at(-1)!)) pieces.pop();
    let start = from;
    const parts = pieces.map((piece) => {
      const size = SIZE.exec(piece)?.[1];
      if (!size) {
        const shown = [...piece].slice(0, 20).join("");
        this.#fail(start, "expected a size, * or ...", `, found '${shown}'`);
      }
      start += piece.length + 1;
      return /^[0-9]+$/.test(size) ? size.replace(/^0+(?=.)/, "") : size;
    });
    if (parts.length > MOST_SIZES) this.#fail(start, `expected at most ${MOST_SIZES} sizes`);
    return parts;
  }
}

const SPACE_BEFORE = new RegExp(`^${S}*`);

export function unknownNotes(unknown: ReadonlyMap<string, number>, nodes: number): string[] {
  return Array.from(unknown, ([field, without]) =>
    without === nodes
      ? `no node has ${named(field)}`
      : `${integer(without)} of ${counted(nodes, "node")} ${agree(without, "has")} no ${field}`,
  );
}

function named(field: string): string {
  return field === "bytes" || field === "storage" || field.includes(".") ? field : `a ${field}`;
}
