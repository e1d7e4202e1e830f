import type { Command, Commands } from "./commands.ts";

/** The first commands found, the best first, and how many there are. */
export interface Matches {
  commands: Command[];
  total: number;
}

/** How well a text matches: its beginning, the beginning of a word in it, any part of it. */
const RANKS = 3;

/** Finds the commands that hold every word of a query; those of the sources that come first go first among equals. */
export function matching(sources: readonly Commands[], query: string, most: number): Matches {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked: [source: Commands, index: number][][] = Array.from({ length: RANKS }, () => []);
  for (const source of sources) {
    for (const [index, text] of source.texts.entries()) {
      if (words.every((word) => text.includes(word))) {
        ranked[rank(text, words)]!.push([source, index]);
      }
    }
  }
  const found = ranked.flat();
  return {
    commands: found.slice(0, most).map(([source, index]) => source.at(index)),
    total: found.length,
  };
}

function rank(text: string, [first = ""]: readonly string[]): number {
  if (text.startsWith(first)) return 0;
  const before = text[text.indexOf(first) - 1]!;
  return /[\s#]/.test(before) ? 1 : 2;
}
