/** Evaluation of query trees over the nodes of a graph. */

import { NodeKind } from "../../shared/client/answers.ts";
import type { StringColumn } from "../../shared/client/columns.ts";
import { shapeText } from "../../shared/format.ts";
import { globRegex, Regex } from "../../shared/regex.ts";
import { type Facts, STRIDE } from "./query_fields.ts";
import type { Mode, Query } from "./query_parser.ts";

type Mask = Uint8Array;
type Steps<T = Mask> = Generator<void, T>;
type TextTest = (text: string) => boolean;

const SIZES = /^[0-9(), ×x]+$/;
const ID = /^(?:#|#?[0-9]+)$/;
const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const OF_ENTRIES = ["bytes", "storage", "rank"];

/** Data that only some queries need: groups, and attributes, layouts and sizes. */
export type Extra = "groups" | "facts";

export function extras(query: Query): Set<Extra> {
  const [kind, ...rest] = query;
  if (kind === "not" || kind === "and" || kind === "or")
    return union((rest as Query[]).map(extras));
  if (kind === "path") return union((rest.slice(1) as Query[]).map(extras));
  const field = kind === "word" ? "" : String(rest[0]);
  if (field === "group") return new Set(["groups"]);
  return new Set(/^(?:layout$|attr\.)/.test(field) ? ["facts"] : []);
}

function union(parts: readonly Set<Extra>[]): Set<Extra> {
  return new Set(parts.flatMap((part) => [...part]));
}

export class Evaluation {
  readonly unknown = new Map<string, number>();
  readonly #facts: Facts;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Ids of the matching nodes, ascending; throws a RegexError if an expression takes too long. */
  *nodes(query: Query): Steps<Int32Array> {
    const mask = yield* this.#mask(query);
    const ids = new Int32Array(mask.reduce((sum, flag) => sum + flag, 0));
    let end = 0;
    for (let node = 0; node < mask.length; node++) if (mask[node]) ids[end++] = node;
    return ids;
  }

  *#mask(query: Query): Steps {
    yield;
    switch (query[0]) {
      case "word":
        return yield* this.#word(query[1], query[2]);
      case "id":
        return this.#none().fill(1, query[1], query[1] + 1);
      case "text":
        return yield* this.#text(query[1], fitsBy(query[2], query[3]), query[4]);
      case "compare":
        return yield* this.#compare(query[1], query[2], query[3]);
      case "shape":
        return yield* this.#shape(query[1], query[2]);
      case "not":
        return (yield* this.#mask(query[1])).map((flag) => 1 - flag);
      case "path": {
        const steps: Mask[] = [];
        for (const step of query.slice(2) as Query[]) steps.push(yield* this.#mask(step));
        return yield* this.#path(steps, query[1]);
      }
      default: {
        const [by, first, ...others] = query as ["and" | "or", Query, ...Query[]];
        const result = yield* this.#mask(first);
        for (const other of others) {
          const part = yield* this.#mask(other);
          if (by === "or") add(result, part);
          else for (let node = 0; node < result.length; node++) result[node]! &= part[node]!;
        }
        return result;
      }
    }
  }

  #none(): Mask {
    return new Uint8Array(this.#facts.graph.kinds.length);
  }

  *#rows(column: StringColumn, fits: TextTest): Steps {
    const { codes, unique } = column;
    const lowered = this.#facts.lowered(column);
    const good = new Uint8Array(unique.length);
    for (let row = 0; row < good.length; row++) {
      if (row % STRIDE === 0) yield;
      lowered[row] ??= unique[row]!.toLowerCase();
      good[row] = fits(lowered[row]!) ? 1 : 0;
    }
    yield;
    return taken(codes, good);
  }

  #owners(rows: Mask): Mask {
    const { entryOffsets } = this.#facts.graph;
    const result = this.#none();
    for (let node = 0; node < result.length; node++) {
      const end = entryOffsets[node + 1]!;
      for (let row = entryOffsets[node]!; row < end; row++) result[node]! |= rows[row]!;
    }
    return result;
  }

  *#word(mode: Mode, text: string): Steps {
    const { names, funcNames, labels, opKinds, dtypes } = this.#facts.graph;
    const fits = fitsBy(mode, text);
    const result = this.#none();
    for (const column of [names, funcNames, labels, opKinds]) {
      add(result, yield* this.#rows(column, fits));
    }
    add(result, this.#owners(yield* this.#rows(dtypes, fits)));
    if (mode === "glob") add(result, yield* this.#operators(fits));
    if (mode !== "has") return result;
    if (SIZES.test(text)) {
      add(result, yield* this.#shapes((shape) => writings(shape).includes(text)));
    }
    if (ID.test(text)) {
      for (let node = 0; node < result.length; node++) {
        if (`#${node}`.includes(text)) result[node] = 1;
      }
    }
    return result;
  }

  *#operators(fits: TextTest): Steps {
    const { labels, kinds } = this.#facts.graph;
    const matches = yield* this.#rows(labels, (text) =>
      text.includes(" + ") ? text.split(" + ").some(fits) : fits(text),
    );
    return matches.map((match, node) => (kinds[node]! >= NodeKind.OPERATOR ? match : 0));
  }

  *#text(field: string, fits: TextTest, differs: boolean): Steps {
    const { graph } = this.#facts;
    const unless = (matches: Mask, known: Mask) =>
      matches.map((match, node) => known[node]! & (differs ? 1 - match : match));
    if (field === "op") {
      const runs = graph.kinds.map((kind) => (kind >= NodeKind.OPERATOR ? 1 : 0));
      return unless(yield* this.#operators(fits), runs);
    }
    if (field === "kind") {
      const matches = yield* this.#rows(graph.opKinds, fits);
      add(matches, this.#facts.kinds(fits));
      return differs ? matches.map((match) => 1 - match) : matches;
    }
    if (field === "group") {
      const { groupNames, groupParent, nodeGroup } = graph;
      const rows = yield* this.#rows(groupNames, fits);
      for (let row = 0; row < rows.length; row++) rows[row]! |= rows[groupParent[row]!] ?? 0;
      const known = this.#none().map((_, node) => (nodeGroup[node]! < 0 ? 0 : 1));
      return unless(
        known.map((_, node) => rows[nodeGroup[node]!] ?? 0),
        known,
      );
    }
    if (field.startsWith("attr.")) return this.#attr(field, fits, differs);
    const column = this.#facts.column(field);
    const rows = yield* this.#rows(column, fits);
    const hasText = Uint8Array.from(column.unique, (text) => (text ? 1 : 0));
    const isKnown = taken(column.codes, hasText);
    if (field === "name" || field === "func") return unless(rows, isKnown);
    yield;
    const known = this.#owners(isKnown);
    this.#note(field, known);
    return unless(this.#owners(both(rows, isKnown)), known);
  }

  #note(field: string, known: Mask): void {
    const unknown = known.reduce((sum, flag) => sum + 1 - flag, 0);
    if (unknown) this.unknown.set(field, unknown);
  }

  /** Nodes whose attribute matches; with `differs`, nodes that have the attribute and do not match. */
  #attr(field: string, fits: TextTest, differs = false, isNumber = false): Mask {
    const { attrOffsets, attrNames, attrValues } = this.#facts.more!;
    const key = attrNames.unique.indexOf(field.slice(5));
    const values = attrValues.unique.map((value) => value.toLowerCase());
    const good = values.map((value) =>
      !isNumber || NUMBER.test(value) ? Number(fits(value)) : -1,
    );
    const [matches, known] = [this.#none(), this.#none()];
    for (let node = 0; key >= 0 && node < matches.length; node++) {
      for (let row = attrOffsets[node]!; row < attrOffsets[node + 1]!; row++) {
        const value = good[attrValues.codes[row]!]!;
        if (attrNames.codes[row] !== key || value < 0) continue;
        known[node] = 1;
        matches[node] = differs ? 1 - value : value;
      }
    }
    this.#note(field, known);
    return matches;
  }

  *#compare(field: string, by: string, value: number): Steps {
    const fits = compared(by, value);
    if (field.startsWith("attr.")) {
      return this.#attr(field, (text) => fits(Number(text)), false, true);
    }
    const numbers = this.#facts.numbers(field);
    yield;
    const nodes = (isGood: (number: number) => boolean): Mask => {
      const good = new Uint8Array(numbers.length);
      for (let row = 0; row < good.length; row++) if (isGood(numbers[row]!)) good[row] = 1;
      return OF_ENTRIES.includes(field) ? this.#owners(good) : good;
    };
    const known = nodes((number) => !Number.isNaN(number));
    this.#note(field, known);
    if (by !== "!=") return nodes(fits);
    const same = nodes((number) => number === value);
    return known.map((flag, node) => flag & (1 - same[node]!));
  }

  *#shape(sizes: readonly string[], differs: boolean): Steps {
    const { shapeKnown } = this.#facts.graph;
    const known = this.#owners(shapeKnown);
    this.#note("shape", known);
    const matches = yield* this.#shapes((shape) => fitsSizes(shape, sizes));
    return differs ? known.map((flag, node) => flag & (1 - matches[node]!)) : matches;
  }

  /** The nodes with an output of a known, matching shape. */
  *#shapes(fits: (shape: string[]) => boolean): Steps {
    const { shapeKnown } = this.#facts.graph;
    const { codes, texts } = yield* this.#facts.shapes();
    const good = Uint8Array.from(texts, (text) => (fits(text ? text.split(",") : []) ? 1 : 0));
    yield;
    return this.#owners(both(taken(codes, good), shapeKnown));
  }

  *#path(steps: readonly Mask[], arrows: readonly string[]): Steps {
    const reached = [steps[0]!];
    for (const [row, arrow] of arrows.entries()) {
      yield;
      reached.push(both(steps[row + 1]!, yield* this.#beyond(reached[row]!, arrow, false)));
    }
    let last = reached.at(-1)!;
    const result = last.slice();
    for (let row = arrows.length - 1; row >= 0; row--) {
      yield;
      last = both(reached[row]!, yield* this.#beyond(last, arrows[row]!, true));
      add(result, last);
    }
    return result;
  }

  /** Nodes one edge away, or any number of edges. */
  *#beyond(nodes: Mask, arrow: string, back: boolean): Steps {
    const { graph, links } = this.#facts;
    const { edgeSource, edgeTarget } = graph;
    const result = this.#none();
    if (arrow === "->") {
      for (let edge = 0; edge < edgeSource.length; edge++) {
        const [source, target] = [edgeSource[edge]!, edgeTarget[edge]!];
        if (source < 0) continue;
        if (back) result[source]! |= nodes[target]!;
        else result[target]! |= nodes[source]!;
      }
      return result;
    }
    const waiting = new Int32Array(nodes.length);
    let end = 0;
    const reach = (node: number) => {
      if (node < 0 || result[node]) return;
      result[node] = 1;
      waiting[end++] = node;
    };
    const step = (node: number) => {
      const [first, last] = links.range(node);
      if (back) for (let edge = first; edge < last; edge++) reach(edgeSource[edge]!);
      else for (const edge of links.outOf(node)) reach(edgeTarget[edge]!);
    };
    for (let node = 0; node < nodes.length; node++) {
      if (node % STRIDE === 0) yield;
      if (nodes[node]) step(node);
    }
    for (let row = 0; row < end; row++) {
      if (row % STRIDE === 0) yield;
      step(waiting[row]!);
    }
    return result;
  }
}

function add(mask: Mask, more: Mask): void {
  for (let row = 0; row < mask.length; row++) mask[row]! |= more[row]!;
}

function taken(codes: Int32Array, good: Mask): Mask {
  const flags = new Uint8Array(codes.length);
  for (let row = 0; row < codes.length; row++) flags[row] = good[codes[row]!] ?? 0;
  return flags;
}

function both(a: Mask, b: Mask): Mask {
  return a.map((flag, row) => flag & b[row]!);
}

function fitsBy(mode: Mode, text: string): TextTest {
  if (mode === "has") return (value) => value.includes(text);
  if (mode === "is") return (value) => value === text;
  const regex = new Regex(mode === "regex" ? text : globRegex(text));
  return (value) => regex.search(value);
}

function compared(by: string, value: number): (number: number) => boolean {
  switch (by) {
    case "<":
      return (number) => number < value;
    case "<=":
      return (number) => number <= value;
    case ">":
      return (number) => number > value;
    case ">=":
      return (number) => number >= value;
    case "=":
      return (number) => number === value;
    default:
      return (number) => number !== value;
  }
}

function writings(shape: readonly string[]): string {
  const plain = shape as unknown as number[];
  return [shapeText(plain), ...[",", "×", "x"].map((by) => shape.join(by))].join("\n");
}

/** True if a shape fits sizes with `*`, `?` and `...`. */
function fitsSizes(shape: readonly string[], sizes: readonly string[]): boolean {
  return fitsAll(shape, sizes, "...", (dim, size) =>
    /[*?]/.test(size)
      ? fitsAll([...dim], [...size], "*", (digit, sign) => sign === "?" || sign === digit)
      : dim === size,
  );
}

function fitsAll(
  items: readonly string[],
  pattern: readonly string[],
  rest: string,
  fits: (item: string, sign: string) => boolean,
): boolean {
  let states = [true];
  for (const size of pattern) states.push(states.at(-1)! && size === rest);
  for (const item of items) {
    const before = states;
    states = [false];
    for (const [at, entry] of pattern.entries()) {
      states.push(
        entry === rest ? before[at + 1]! || states[at]! : before[at]! && fits(item, entry),
      );
    }
  }
  return states.at(-1)!;
}
