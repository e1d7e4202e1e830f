/** Queries and regular expressions for `tvmdbg_widgets/analysis/query`; requests and answers are JSON. */
import type { Vocabulary } from "../graph/query/fields.ts";
import { parse, QueryError } from "../graph/query/parser.ts";
import { globRegex, Regex, RegexError } from "../shared/regex.ts";

interface Reading {
  text: string;
  /** Null for that of graphs. */
  vocabulary: Vocabulary | null;
}

interface Search {
  pattern: string;
  isGlob: boolean;
  /** In lower case. */
  texts: readonly string[];
}

/** Gives the tree of a query; or what is wrong with it, and at which character. */
export function readQuery(request: string): string {
  const { text, vocabulary } = JSON.parse(request) as Reading;
  try {
    return JSON.stringify({ tree: parse(text, vocabulary ?? undefined) }, written);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return JSON.stringify({ error: error.message, at: characters(text, error.at) });
  }
}

/** Gives a 1 for each text that has a match, else a 0; or what is wrong with the expression, and where. */
export function searchTexts(request: string): string {
  const { pattern, isGlob, texts } = JSON.parse(request) as Search;
  try {
    const regex = new Regex(isGlob ? globRegex(pattern) : pattern);
    return JSON.stringify({
      found: texts.map((text) => (regex.search(text) ? "1" : "0")).join(""),
    });
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return JSON.stringify({ error: error.message, at: characters(pattern, error.at) });
  }
}

/** How many characters, as Python counts them, come before a place. */
function characters(text: string, at: number): number {
  return [...text.slice(0, at)].length;
}

/** JSON has no infinite numbers. */
function written(_key: string, value: unknown): unknown {
  return value === Infinity || value === -Infinity ? String(value) : value;
}
